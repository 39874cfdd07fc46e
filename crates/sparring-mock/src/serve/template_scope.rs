//! The values that templates of a reply can use.

use std::sync::atomic::Ordering;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use sparring_peer::server::Context;
use sparring_script::{Path, Scope, UndefinedPath};
use sparring_wire::secret_names::is_secret_header;

use super::ScriptState;
use super::answer::EntryRequest;
use crate::model::Reply;

/// The template scope of one request.
pub(super) struct RequestScope<'a> {
    pub(super) request: &'a EntryRequest<'a>,
    pub(super) cx: &'a Context,
    /// The number of requests for the entry, including this one.
    pub(super) number: u64,
    pub(super) answers: &'a Value,
    pub(super) reply: &'a Reply,
}

impl RequestScope<'_> {
    /// Returns the HTTP headers that a reply can see, with names in lower case.
    pub(super) fn headers(cx: &Context, reply: &Reply) -> Value {
        let headers = cx.headers().into_iter().flat_map(|headers| headers.iter());
        let headers =
            headers.filter(|(name, _)| !(reply.hides_secret_headers && is_secret_header(name)));
        let pairs = headers.map(|(name, value)| (name.to_lowercase(), Value::from(value)));
        Value::Object(pairs.collect())
    }

    pub(super) fn script(&self) -> &ScriptState {
        self.request.script
    }

    pub(super) fn client(&self) -> Value {
        let info = self.cx.client_info();
        info.map_or(json!({}), |info| json!({"name": info.name, "version": info.version}))
    }

    fn clock() -> Value {
        let now = Timestamp::now();
        json!({"iso": now.to_string(), "unix": now.as_second(), "ms": now.as_millisecond()})
    }

    /// Returns the number of calls of one tool, and the arguments of the last.
    fn calls(&self, path: &Path) -> Option<Value> {
        let name = path.key_at(1)?;
        let tools = self.script().tools();
        let tool = tools.iter().find(|tool| tool.entry.id == name)?;
        let mut calls = Map::new();
        calls.insert("count".to_owned(), tool.entry.calls.load(Ordering::Relaxed).into());
        calls.extend(
            self.script().template_state.last_arguments(name).map(|last| ("last".to_owned(), last)),
        );
        Some(Value::Object(calls))
    }
}

impl Scope for RequestScope<'_> {
    fn get(&self, path: &Path) -> Result<Value, UndefinedPath> {
        let find_in = |value: &Value| path.find(value, 1).cloned();
        let undefined = || path.undefined_at(1, &json!({}));
        match path.root() {
            "args" => find_in(self.request.args()),
            "answers" => find_in(self.answers),
            "vars" => find_in(&self.script().model.vars),
            "headers" => find_in(&Self::headers(self.cx, self.reply)),
            "client" => find_in(&self.client()),
            "clock" => find_in(&Self::clock()),
            "call" => Ok(self.number.into()),
            "revision" => Ok(self.cx.revision().name().into()),
            "uri" => Ok(self.request.uri().into()),
            "counter" => {
                let name = path.key_at(1).ok_or_else(undefined)?;
                Ok(self.script().template_state.next_count(name).into())
            }
            "random" => {
                let kind = path.key_at(1).ok_or_else(undefined)?;
                self.script().template_state.next_random(kind).ok_or_else(undefined)
            }
            "calls" => {
                let calls = self.calls(path).ok_or_else(undefined)?;
                path.find(&calls, 2).cloned()
            }
            _ => Err(path.undefined_at(0, &json!({}))),
        }
    }
}
