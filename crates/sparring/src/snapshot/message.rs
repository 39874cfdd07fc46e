//! One message of a conversation: a frame, who said it, and what it answers.

use std::collections::HashMap;
use std::fmt;

use serde_json::Value;
use sparring_wire::json::tree;
use sparring_wire::{Entry, Frame, FrameKind, Id, Json, Side, Violation};

/// Something that one side said to the other.
///
/// ```
/// # use sparring::{blocking::Wait as _, Client, MockServer, Side};
/// # use serde_json::json;
/// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
/// # let client = Client::in_memory(mock).wait()?;
/// client.call_tool("now", json!({})).wait()?.assert_success();
/// let said = client.snapshot().of("tools/call");
/// assert_eq!((said[0].from, said[1].from), (Side::Client, Side::Server));
/// assert!(said[0].violations.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Message {
    /// Who said it.
    pub from: Side,
    /// What was said, to the byte.
    pub frame: Frame,
    /// What is wrong with it.
    pub violations: Vec<Violation>,
    /// The method of the request that it answers.
    answers: Option<String>,
}

impl Message {
    /// The messages of a record, batches taken apart.
    pub(super) fn read(entries: Vec<Entry>) -> Vec<Message> {
        let mut asked: HashMap<(bool, Id), String> = HashMap::new();
        let mut messages = Vec::new();
        for Entry { from, frame, violations, .. } in entries {
            let whole = [frame.clone()];
            let parts: Vec<Frame> = match frame.kind() {
                FrameKind::Batch => frame.batch().collect(),
                _ => whole.into(),
            };
            let mut violations = Some(violations);
            for frame in parts {
                let by_client = from == Side::Client;
                if let (Some(id), Some(method)) = (frame.id(), frame.method()) {
                    asked.insert((by_client, id.clone()), method.to_owned());
                }
                let answered = frame.id().filter(|_| frame.method().is_none());
                let answers = answered.and_then(|id| asked.get(&(!by_client, id.clone())).cloned());
                let violations = violations.take().unwrap_or_default();
                messages.push(Message { from, frame, violations, answers });
            }
        }
        messages
    }

    /// Its method; of an answer, that of the request.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let said = client.snapshot().of("tools/call");
    /// assert!(said[0].is_request() && said[1].is_answer());
    /// assert_eq!(said[0].method(), Some("tools/call"));
    /// assert_eq!(said[1].method(), Some("tools/call"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn method(&self) -> Option<&str> {
        self.frame.method().or(self.answers.as_deref())
    }

    /// Whether it is a request.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let said = client.snapshot().of("tools/call");
    /// assert!(said[0].is_request() && !said[1].is_request());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_request(&self) -> bool {
        self.frame.kind() == FrameKind::Request
    }

    /// Whether it is a notification.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}, {progress: 2}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?.assert_success();
    /// let said = client.snapshot().of("notifications/progress");
    /// assert!(said[0].is_notification());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_notification(&self) -> bool {
        self.frame.kind() == FrameKind::Notification
    }

    /// Whether it is an answer: a result, or an error.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let said = client.snapshot().of("tools/call");
    /// assert!(said[1].is_answer() && !said[0].is_answer());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_answer(&self) -> bool {
        self.frame.is_response_like()
    }

    /// Whether it is an error.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("never", json!({})).wait()?.assert_error_code(-32602);
    /// let said = client.snapshot().of("tools/call");
    /// assert!(said[1].is_error());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_error(&self) -> bool {
        self.frame.error().is_some()
    }

    /// What it carries: its params, its result or its error.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, Json, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let said = client.snapshot().of("tools/call");
    /// let params = said[0].body().ok_or("a call has params")?;
    /// assert_eq!(params.get("name").and_then(Json::as_str).as_deref(), Some("now"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn body(&self) -> Option<Json<'_>> {
        self.frame.params().or_else(|| self.frame.result()).or_else(|| self.frame.error())
    }

    /// What it is, in a few words: `→ tools/call`, `← answer to tools/call`.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let said = client.snapshot().of("tools/call");
    /// assert_eq!(said[0].label(), "→ tools/call");
    /// assert_eq!(said[1].label(), "← answer to tools/call");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn label(&self) -> String {
        let arrow = arrow(self.from);
        match (self.frame.method(), self.is_answer()) {
            (Some(method), _) => format!("{arrow} {method}"),
            (None, true) => {
                let kind = if self.is_error() { "error of" } else { "answer to" };
                format!("{arrow} {kind} {}", self.answers.as_deref().unwrap_or("nothing asked"))
            }
            (None, false) => format!("{arrow} something that is no message"),
        }
    }

    /// What is wrong with it, below what it is.
    pub(super) fn accused(&self) -> String {
        let who = if self.from == Side::Client { "the client" } else { "the server" };
        let wrong: String = self.violations.iter().map(|it| format!("\n    {it}")).collect();
        format!("  {who}, by {}{wrong}", self.label())
    }
}

/// The way a message went, as the client sees it.
pub(super) fn arrow(from: Side) -> &'static str {
    if from == Side::Client { "→" } else { "←" }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())?;
        if let Some(id) = self.frame.id() {
            write!(f, " #{id}")?;
        }
        match self.body() {
            Some(body) if self.from == Side::Client => write!(f, " {}", plain(body)),
            Some(body) => write!(f, " {body}"),
            None if self.method().is_none() => write!(f, " {:?}", self.frame.text()),
            None => Ok(()),
        }?;
        self.violations.iter().try_for_each(|violation| write!(f, "\n    {violation}"))
    }
}

/// What a client's message carries, without what is added to every request since
/// 2026-07-28: revision, name, version and capabilities of the client.
fn plain(body: Json<'_>) -> String {
    let Ok(mut value) = tree(body.bytes()) else { return body.to_string() };
    let Some(body) = value.as_object_mut() else { return value.to_string() };
    if let Some(meta) = body.get_mut("_meta").and_then(Value::as_object_mut) {
        meta.retain(|name, _| !name.starts_with("io.modelcontextprotocol/"));
        if meta.is_empty() {
            body.shift_remove("_meta");
        }
    }
    value.to_string()
}
