//! One message: its frame, its sender, and the request it responds to.

use std::collections::HashMap;
use std::fmt;

use serde_json::Value;
use sparring_wire::json::parse_value;
use sparring_wire::{Entry, Frame, FrameKind, Id, Json, Side, Violation};

/// One message between client and server.
///
/// ```
/// # use sparring::{blocking::Wait as _, Client, MockServer, Side};
/// # use serde_json::json;
/// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
/// # let client = Client::in_memory(mock).wait()?;
/// client.call_tool("now", json!({})).wait()?.assert_success();
/// let messages = client.snapshot().method("tools/call");
/// assert_eq!((messages[0].from, messages[1].from), (Side::Client, Side::Server));
/// assert!(messages[0].violations.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Message {
    /// The side that sent it.
    pub from: Side,
    /// The frame with its bytes.
    pub frame: Frame,
    /// The rules that it violates.
    pub violations: Vec<Violation>,
    /// The method of the request that it responds to.
    request_method: Option<String>,
}

impl Message {
    /// Converts the entries of a transcript, with batches split into messages.
    pub(super) fn from_entries(entries: Vec<Entry>) -> Vec<Message> {
        let mut requests: HashMap<(bool, Id), String> = HashMap::new();
        let mut messages = Vec::new();
        for Entry { from, frame, violations, .. } in entries {
            let whole = [frame.clone()];
            let parts: Vec<Frame> = match frame.kind() {
                FrameKind::Batch => frame.batch_items().collect(),
                _ => whole.into(),
            };
            let mut violations = Some(violations);
            for frame in parts {
                let by_client = from == Side::Client;
                if let (Some(id), Some(method)) = (frame.id(), frame.method()) {
                    requests.insert((by_client, id.clone()), method.to_owned());
                }
                let response_id = frame.id().filter(|_| frame.method().is_none());
                let request_method =
                    response_id.and_then(|id| requests.get(&(!by_client, id.clone())).cloned());
                let violations = violations.take().unwrap_or_default();
                messages.push(Message { from, frame, violations, request_method });
            }
        }
        messages
    }

    /// Returns the method; for a response, the method of its request.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let messages = client.snapshot().method("tools/call");
    /// assert!(messages[0].is_request() && messages[1].is_response());
    /// assert_eq!(messages[0].method(), Some("tools/call"));
    /// assert_eq!(messages[1].method(), Some("tools/call"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn method(&self) -> Option<&str> {
        self.frame.method().or(self.request_method.as_deref())
    }

    /// Returns true if it is a request.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let messages = client.snapshot().method("tools/call");
    /// assert!(messages[0].is_request() && !messages[1].is_request());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_request(&self) -> bool {
        self.frame.kind() == FrameKind::Request
    }

    /// Returns true if it is a notification.
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
    /// let messages = client.snapshot().method("notifications/progress");
    /// assert!(messages[0].is_notification());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_notification(&self) -> bool {
        self.frame.kind() == FrameKind::Notification
    }

    /// Returns true if it is a response: a result or an error.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let messages = client.snapshot().method("tools/call");
    /// assert!(messages[1].is_response() && !messages[0].is_response());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_response(&self) -> bool {
        self.frame.is_response_like()
    }

    /// Returns true if it is an error response.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("never", json!({})).wait()?.assert_error_code(-32602);
    /// let messages = client.snapshot().method("tools/call");
    /// assert!(messages[1].is_error());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_error(&self) -> bool {
        self.frame.error().is_some()
    }

    /// Returns the params, the result or the error.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, Json, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let messages = client.snapshot().method("tools/call");
    /// let params = messages[0].body().ok_or("a call has params")?;
    /// assert_eq!(params.get("name").and_then(Json::as_str).as_deref(), Some("now"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn body(&self) -> Option<Json<'_>> {
        self.frame.params().or_else(|| self.frame.result()).or_else(|| self.frame.error())
    }

    /// Returns a short label: `→ tools/call`, `← answer to tools/call`.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let messages = client.snapshot().method("tools/call");
    /// assert_eq!(messages[0].label(), "→ tools/call");
    /// assert_eq!(messages[1].label(), "← answer to tools/call");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn label(&self) -> String {
        let arrow = arrow(self.from);
        match (self.frame.method(), self.is_response()) {
            (Some(method), _) => format!("{arrow} {method}"),
            (None, true) => {
                let kind = if self.is_error() { "error of" } else { "answer to" };
                format!("{arrow} {kind} {}", self.request_method.as_deref().unwrap_or("no request"))
            }
            (None, false) => format!("{arrow} invalid message"),
        }
    }

    /// Renders the sender, the label and the violations.
    pub(super) fn render_violations(&self) -> String {
        let side = if self.from == Side::Client { "client" } else { "server" };
        let lines: String = self.violations.iter().map(|it| format!("\n    {it}")).collect();
        format!("  {side}: {}{lines}", self.label())
    }
}

/// Returns the direction of a message, as the client sees it.
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
            Some(body) if self.from == Side::Client => write!(f, " {}", render_client_body(body)),
            Some(body) => write!(f, " {body}"),
            None if self.method().is_none() => write!(f, " {:?}", self.frame.text()),
            None => Ok(()),
        }?;
        self.violations.iter().try_for_each(|violation| write!(f, "\n    {violation}"))
    }
}

/// Renders the body of a client's message without the metadata that the client adds to
/// every request since 2026-07-28: its revision, name, version and capabilities.
fn render_client_body(body: Json<'_>) -> String {
    let Ok(mut value) = parse_value(body.bytes()) else { return body.to_string() };
    let Some(body) = value.as_object_mut() else { return value.to_string() };
    if let Some(meta) = body.get_mut("_meta").and_then(Value::as_object_mut) {
        meta.retain(|name, _| !name.starts_with("io.modelcontextprotocol/"));
        if meta.is_empty() {
            body.shift_remove("_meta");
        }
    }
    value.to_string()
}
