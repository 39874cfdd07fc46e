//! What templates can ask for while a request is served.

use std::sync::atomic::Ordering;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use sparring_peer::server::Context;
use sparring_script::{Path, Scope, Undefined};

use super::Scene;
use super::perform::Asked;

/// One request, as its templates see it.
pub(super) struct Facts<'a> {
    pub(super) asked: &'a Asked<'a>,
    pub(super) cx: &'a Context,
    /// How often the entry was asked for, this time included.
    pub(super) number: u64,
    pub(super) answers: &'a Value,
}

impl Facts<'_> {
    /// The HTTP headers, by names in lower case.
    pub(super) fn headers(cx: &Context) -> Value {
        let headers = cx.headers().into_iter().flat_map(|headers| headers.iter());
        let pairs = headers.map(|(name, value)| (name.to_lowercase(), Value::from(value)));
        Value::Object(pairs.collect())
    }

    pub(super) fn scene(&self) -> &Scene {
        self.asked.scene
    }

    pub(super) fn client(&self) -> Value {
        let info = self.cx.client_info();
        info.map_or(json!({}), |info| json!({"name": info.name, "version": info.version}))
    }

    fn clock() -> Value {
        let now = Timestamp::now();
        json!({"iso": now.to_string(), "unix": now.as_second(), "ms": now.as_millisecond()})
    }

    /// The calls of one tool: how many, and the arguments of the last.
    fn calls(&self, path: &Path) -> Option<Value> {
        let name = path.key(1)?;
        let tools = self.scene().tools();
        let tool = tools.iter().find(|tool| tool.entry.id == name)?;
        let mut calls = Map::new();
        calls.insert("count".to_owned(), tool.entry.calls.load(Ordering::Relaxed).into());
        calls.extend(self.scene().memory.last(name).map(|last| ("last".to_owned(), last)));
        Some(Value::Object(calls))
    }
}

impl Scope for Facts<'_> {
    fn get(&self, path: &Path) -> Result<Value, Undefined> {
        let below = |value: &Value| path.find(value, 1).cloned();
        let nothing = || path.lost(1, &json!({}));
        match path.root() {
            "args" => below(self.asked.args()),
            "answers" => below(self.answers),
            "vars" => below(&self.scene().model.vars),
            "headers" => below(&Self::headers(self.cx)),
            "client" => below(&self.client()),
            "clock" => below(&Self::clock()),
            "call" => Ok(self.number.into()),
            "revision" => Ok(self.cx.revision().name().into()),
            "uri" => Ok(self.asked.uri().into()),
            "counter" => {
                let name = path.key(1).ok_or_else(nothing)?;
                Ok(self.scene().memory.count(name).into())
            }
            "random" => {
                let kind = path.key(1).ok_or_else(nothing)?;
                self.scene().memory.random(kind).ok_or_else(nothing)
            }
            "calls" => {
                let calls = self.calls(path).ok_or_else(nothing)?;
                path.find(&calls, 2).cloned()
            }
            _ => Err(path.lost(0, &json!({}))),
        }
    }
}
