//! Calls tools with types instead of JSON. Modules that `spar codegen` generates use
//! it, and so can handwritten code.
//!
//! A tool without an output schema returns a [`Call`], whose output is the response.
//! A tool with one returns a [`TypedCall`], whose output is a value of that type. A
//! response that does not fit the type is an error that names the tool and the member.
//!
//! ```
//! # use sparring::blocking::Wait as _;
//! # use sparring::{Client, MockServer};
//! use sparring::typed::call_for;
//!
//! #[derive(serde::Deserialize)]
//! struct Weather {
//!     t: f64,
//! }
//!
//! # let mock = MockServer::from_yaml(
//! #     "tools: [{name: weather, output: {t: number}, structured: {t: 15}}]",
//! #     ".",
//! # )?;
//! # let client = Client::in_memory(mock).wait()?;
//! let weather: Weather = call_for(&client, "weather", serde_json::json!({})).wait()?;
//! assert_eq!(weather.t, 15.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use sparring_wire::RawJson;

use crate::client::{self, Call, PendingRequest, Progress};
use crate::{Client, Error, Response};

pub use serde;
pub use serde_json::Value;

/// The limit of a tool's message in an error.
const MAX_MESSAGE_CHARS: usize = 300;

/// The arguments of a tool without arguments.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer};
/// use sparring::typed::{NoArguments, call};
///
/// # let mock = MockServer::from_yaml("tools: [{name: topics, text: rust}]", ".")?;
/// # let client = Client::in_memory(&mock).wait()?;
/// call(&client, "topics", NoArguments).wait()?.assert_text("rust");
/// mock.expect_called("topics").with(serde_json::json!({})).times(1).verify();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoArguments;

impl Serialize for NoArguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(std::iter::empty::<(&str, &str)>())
    }
}

/// Calls a tool; awaiting it sends the request.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer};
/// #[derive(serde::Serialize)]
/// struct Greet {
///     name: String,
/// }
///
/// # let script = "tools: [{name: greet, input: {name: string}, text: \"hello ${args.name}\"}]";
/// # let client = Client::in_memory(MockServer::from_yaml(script, ".")?).wait()?;
/// let greet = sparring::typed::call(&client, "greet", Greet { name: "Ada".to_owned() });
/// greet.wait()?.assert_text("hello Ada");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// When the arguments cannot be JSON, for example a map whose keys are not strings.
#[track_caller]
pub fn call(client: &Client, tool: &str, arguments: impl Serialize) -> Call {
    let arguments = serde_json::to_value(arguments).expect("arguments are JSON");
    client.call_tool(tool, RawJson::from(arguments))
}

/// Calls a tool whose structured content has a type; awaiting it sends the request.
///
/// ```
/// # use serde_json::json;
/// # use sparring::typed::call_for;
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer};
/// # let script = "tools: [{name: weather, input: {city: string}, output: {t: number}, \
/// #     structured: {t: 15}}]";
/// # let client = Client::in_memory(MockServer::from_yaml(script, ".")?).wait()?;
/// # #[derive(Debug, serde::Deserialize)]
/// # struct Weather {
/// #     t: f64,
/// # }
/// let weather = call_for::<Weather>(&client, "weather", json!({"city": "Oslo"})).wait()?;
/// assert_eq!(weather.t, 15.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// When the arguments cannot be JSON, for example a map whose keys are not strings.
#[track_caller]
pub fn call_for<T: DeserializeOwned>(
    client: &Client,
    tool: &str,
    arguments: impl Serialize,
) -> TypedCall<T> {
    TypedCall { call: call(client, tool, arguments), tool: tool.into(), output: PhantomData }
}

/// Converts texts into a list of strings.
///
/// ```
/// assert_eq!(sparring::typed::to_strings(["rust", "mcp"]), ["rust".to_owned(), "mcp".to_owned()]);
/// ```
pub fn to_strings(texts: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    texts.into_iter().map(Into::into).collect()
}

/// Converts name and value pairs into a map.
///
/// ```
/// let units = sparring::typed::to_map::<String>([("t", "degrees"), ("wind", "knots")]);
/// assert_eq!(units["wind"], "knots");
/// ```
pub fn to_map<V>(
    members: impl IntoIterator<Item = (impl Into<String>, impl Into<V>)>,
) -> BTreeMap<String, V> {
    members.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// A call whose result has a type; awaiting it sends the request.
///
/// ```
/// # use serde_json::json;
/// # use sparring::typed::call_for;
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer};
/// # let script = "tools: [{name: weather, input: {city: string}, output: {t: number}, \
/// #     structured: {t: 15}}]";
/// # let client = Client::in_memory(MockServer::from_yaml(script, ".")?).wait()?;
/// # #[derive(Debug, serde::Deserialize)]
/// # struct Weather {
/// #     t: f64,
/// # }
/// use sparring::typed::TypedCall;
///
/// fn weather(client: &Client, city: &str) -> TypedCall<Weather> {
///     call_for(client, "weather", json!({"city": city}))
/// }
/// assert_eq!(weather(&client, "Oslo").wait()?.t, 15.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a call is sent when it is awaited"]
pub struct TypedCall<T> {
    call: Call,
    tool: Box<str>,
    output: PhantomData<fn() -> T>,
}

impl<T> TypedCall<T> {
    /// Sets a timeout for this request [default: the client's timeout].
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use serde_json::json;
    /// # use sparring::typed::call_for;
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let script = "tools: [{name: weather, input: {city: string}, output: {t: number}, \
    /// #     delay: 10s, structured: {t: 15}}]";
    /// # let client = Client::in_memory(MockServer::from_yaml(script, ".")?).wait()?;
    /// # #[derive(Debug, serde::Deserialize)]
    /// # struct Weather {
    /// #     t: f64,
    /// # }
    /// let call = call_for::<Weather>(&client, "weather", json!({"city": "Oslo"}));
    /// let error = call.timeout(Duration::from_millis(20)).wait().unwrap_err();
    /// assert!(error.to_string().starts_with("no answer to tools/call within 20ms"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn timeout(self, timeout: Duration) -> Self {
        TypedCall { call: self.call.timeout(timeout), ..self }
    }

    /// Requests progress from the server, and calls `on_progress` for each report.
    ///
    /// ```
    /// # use serde_json::json;
    /// # use sparring::typed::call_for;
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let script = "tools: [{name: weather, input: {city: string}, output: {t: number}, \
    /// #     during: [{progress: 0.5}], structured: {t: 15}}]";
    /// # let client = Client::in_memory(MockServer::from_yaml(script, ".")?).wait()?;
    /// # #[derive(Debug, serde::Deserialize)]
    /// # struct Weather {
    /// #     t: f64,
    /// # }
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// call_for::<Weather>(&client, "weather", json!({"city": "Oslo"}))
    ///     .on_progress(move |it| sender.send(it.progress).unwrap())
    ///     .wait()?;
    /// assert_eq!(receiver.recv()?, 0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_progress(self, on_progress: impl FnMut(Progress) + Send + 'static) -> Self {
        TypedCall { call: self.call.on_progress(on_progress), ..self }
    }

    /// Returns the same call without a type. Its output is the response, for tests that
    /// expect an error.
    ///
    /// ```
    /// # use serde_json::json;
    /// # use sparring::typed::call_for;
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let script = "tools: [{name: weather, input: {city: string}, output: {t: number}, \
    /// #     structured: {t: 15}}]";
    /// # let client = Client::in_memory(MockServer::from_yaml(script, ".")?).wait()?;
    /// # #[derive(Debug, serde::Deserialize)]
    /// # struct Weather {
    /// #     t: f64,
    /// # }
    /// let call = call_for::<Weather>(&client, "weather", json!({"city": 7}));
    /// assert!(call.untyped().wait()?.is_error());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn untyped(self) -> Call {
        self.call
    }
}

impl<T: DeserializeOwned> IntoFuture for TypedCall<T> {
    type Output = Result<T, Error>;
    type IntoFuture = TypedInFlight<T>;

    fn into_future(self) -> TypedInFlight<T> {
        TypedInFlight { call: self.call.start(), tool: self.tool, output: PhantomData }
    }
}

/// A typed call that was sent. Dropping it before the response cancels it.
///
/// ```
/// # use serde_json::json;
/// # use sparring::typed::call_for;
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer};
/// # let script = "tools: [{name: weather, input: {city: string}, output: {t: number}, \
/// #     structured: {t: 15}}]";
/// # let client = Client::in_memory(MockServer::from_yaml(script, ".")?).wait()?;
/// # #[derive(Debug, serde::Deserialize)]
/// # struct Weather {
/// #     t: f64,
/// # }
/// use sparring::typed::TypedInFlight;
///
/// let weather = sparring::blocking::wait(async {
///     let call = call_for(&client, "weather", json!({"city": "Oslo"}));
///     let sent: TypedInFlight<Weather> = call.into_future();
///     sent.await
/// });
/// assert_eq!(weather?.t, 15.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping the call cancels it"]
pub struct TypedInFlight<T> {
    call: PendingRequest,
    tool: Box<str>,
    output: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Future for TypedInFlight<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = std::task::ready!(Pin::new(&mut self.call).poll(cx))?;
        let parsed = parse_structured(&response, &self.tool);
        Poll::Ready(parsed.map_err(|error| self.call.to_error(error)))
    }
}

/// Parses the structured content of a response.
fn parse_structured<T: DeserializeOwned>(
    response: &Response,
    tool: &str,
) -> Result<T, client::Error> {
    let method = format!("{} {tool}", response.method());
    let unusable = |reason: String| client::Error::InvalidResult { method: method.clone(), reason };
    if let Some(error) = response.error() {
        return Err(client::Error::ErrorResponse { method, error: Box::new(error) });
    }
    if response.is_error() {
        let message: String = response.content().chars().take(MAX_MESSAGE_CHARS).collect();
        return Err(unusable(format!("tool returned isError: {message:?}")));
    }
    let Some(structured) = response.structured() else {
        let reason = "the tool has an output schema, but the result has no structuredContent";
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
        // The path names the member, so the line and column are left out.
        let why = why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why);
        unusable(format!("structuredContent{path}: {why}"))
    })
}
