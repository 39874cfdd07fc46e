//! Calls of tools with types instead of JSON, for modules that `spar codegen`
//! writes, and for whoever writes one by hand.
//!
//! A tool without an output schema gives a [`Call`], which is awaited to whatever
//! the server answers. One that has such a schema gives a [`TypedCall`], which is
//! awaited to a value of that type; an answer that is none is an error that names
//! the tool, and the member that does not fit.

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use sparring_wire::RawJson;

use crate::client::{self, InFlight, Progress};
use crate::{Client, Error, Response};

pub use crate::client::Call;
pub use serde;
pub use serde_json::Value;

/// How much is told of what a tool says instead of its result.
const LONGEST: usize = 300;

/// The arguments of a tool that takes none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nothing;

impl Serialize for Nothing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(std::iter::empty::<(&str, &str)>())
    }
}

/// Calls a tool; awaiting it makes the call.
///
/// # Panics
/// When the arguments are no JSON, as a map is whose keys are no texts.
#[track_caller]
pub fn call(client: &Client, tool: &str, arguments: impl Serialize) -> Call {
    let arguments = serde_json::to_value(arguments).expect("arguments are JSON");
    client.call_tool(tool, RawJson::from(arguments))
}

/// Calls a tool whose structured content has a type; awaiting it makes the call.
///
/// # Panics
/// When the arguments are no JSON, as a map is whose keys are no texts.
#[track_caller]
pub fn call_for<T: DeserializeOwned>(
    client: &Client,
    tool: &str,
    arguments: impl Serialize,
) -> TypedCall<T> {
    TypedCall { call: call(client, tool, arguments), tool: tool.into(), output: PhantomData }
}

/// Texts of any kind as a list of them.
pub fn texts(texts: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    texts.into_iter().map(Into::into).collect()
}

/// Members of any kind as a map of them.
pub fn map<V>(
    members: impl IntoIterator<Item = (impl Into<String>, impl Into<V>)>,
) -> BTreeMap<String, V> {
    members.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// A call whose result has a type; awaiting it makes the call.
#[must_use = "a call is made when it is awaited"]
pub struct TypedCall<T> {
    call: Call,
    tool: Box<str>,
    output: PhantomData<fn() -> T>,
}

impl<T> TypedCall<T> {
    /// Waits this long instead of the client's own timeout.
    pub fn timeout(self, timeout: Duration) -> Self {
        TypedCall { call: self.call.timeout(timeout), ..self }
    }

    /// Asks the server for progress, and hears of it.
    pub fn on_progress(self, tell: impl FnMut(Progress) + Send + 'static) -> Self {
        TypedCall { call: self.call.on_progress(tell), ..self }
    }

    /// The same call without a type: awaited to whatever the server answers, as
    /// tests need it that expect a refusal.
    pub fn untyped(self) -> Call {
        self.call
    }
}

impl<T: DeserializeOwned> IntoFuture for TypedCall<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Typed<T>;

    fn into_future(self) -> Typed<T> {
        Typed { call: self.call.start(), tool: self.tool, output: PhantomData }
    }
}

/// A typed call in flight. Dropped before its answer, it is cancelled.
#[must_use = "a call that is dropped is cancelled"]
pub struct Typed<T> {
    call: InFlight,
    tool: Box<str>,
    output: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Future for Typed<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = std::task::ready!(Pin::new(&mut self.call).poll(cx))?;
        let read = read(&response, &self.tool);
        Poll::Ready(read.map_err(|error| self.call.failed(error)))
    }
}

/// The structured content of an answer.
fn read<T: DeserializeOwned>(response: &Response, tool: &str) -> Result<T, client::Error> {
    let method = format!("{} {tool}", response.method());
    let unusable = |reason: String| client::Error::Unusable { method: method.clone(), reason };
    if let Some(error) = response.error() {
        return Err(client::Error::Refused { method, error: Box::new(error) });
    }
    if response.is_error() {
        let said: String = response.content().chars().take(LONGEST).collect();
        return Err(unusable(format!("the tool says that it failed: {said}")));
    }
    let Some(structured) = response.structured() else {
        let reason = "there is no structuredContent, which its output schema describes";
        return Err(unusable(reason.to_owned()));
    };
    let text = structured.text();
    let mut json = serde_json::Deserializer::from_str(&text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = match error.path().to_string() {
            path if path == "." => String::new(),
            path if path.starts_with('[') => path,
            path => format!(".{path}"),
        };
        let why = error.inner().to_string();
        // The place in the text says nothing once the member is named.
        let why = why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why);
        unusable(format!("structuredContent{path}: {why}"))
    })
}
