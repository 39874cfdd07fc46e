//! One connection to the server under check, with everything that passed over it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use sparring_peer::client::Error;
use sparring_peer::{Cause, Client, ClientBuilder, Response};
use sparring_transport::OpenedTarget;
use sparring_wire::json::parse_value;
use sparring_wire::types::ServerCapabilities;
use sparring_wire::{Entry, ErrorObject, RawJson, Revision, Rule, Side};

use crate::http::is_unrelated_status;
use crate::observer::CheckObserver;
use crate::outcomes::Outcomes;
use crate::recording::Recording;
use crate::verdict::{Finding, ShownFrame};

/// One connection. The process of a server ends with its connection.
pub(crate) struct Connection {
    client: Client,
    recording: Recording,
    outcomes: Arc<Outcomes>,
    request_timeout: Duration,
    /// Held until the end, so that a container stays open.
    #[allow(dead_code, reason = "dropped with the connection")]
    container: Option<sparring_transport::Container>,
}

/// The response to one request, or the reason why there is none, with the frames of the
/// exchange.
pub(crate) struct Reply {
    outcome: Result<Response, Error>,
    frames: Vec<Entry>,
}

impl Connection {
    /// Starts a client on an opened target.
    pub(crate) fn start(
        opened: OpenedTarget,
        builder: ClientBuilder,
        outcomes: &Arc<Outcomes>,
        observer: &Arc<dyn CheckObserver>,
        request_timeout: Duration,
    ) -> (Connection, Recording) {
        let recording = Recording::default();
        let client =
            builder.transcript(recording.transcript(Arc::clone(observer))).start(opened.link);
        let connection = Connection {
            client,
            recording: recording.clone(),
            outcomes: Arc::clone(outcomes),
            request_timeout,
            container: opened.container,
        };
        (connection, recording)
    }

    /// Sets the longest wait for one response.
    pub(crate) fn with_request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// Returns the client of the connection.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Returns everything that was sent and received.
    pub(crate) fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Returns the capabilities that the server declares on this connection.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        self.client.capabilities()
    }

    /// Sends a request and waits for the response. A request that gets no response breaks
    /// [`Rule::NoAnswer`] unless the server reports progress, and a server that ends meanwhile
    /// breaks [`Rule::Crash`]. A call of a tool can take long: only the probe of arguments judges
    /// one without a response.
    pub(crate) async fn request(&self, method: &str, params: Option<Value>) -> Reply {
        if method != "tools/call" {
            return self.request_strictly(method, params).await;
        }
        let reply = self.request_leniently(method, params).await;
        self.report_failure(&reply);
        reply
    }

    /// Sends a request that is never slow.
    async fn request_strictly(&self, method: &str, params: Option<Value>) -> Reply {
        let params = params.map(RawJson::from);
        let start = self.recording.len();
        let request = self.client.request(method.to_owned(), params).timeout(self.request_timeout);
        self.reply(start, request.await)
    }

    /// Sends a request like [`Connection::request`]. A missing answer breaks no rule by itself.
    pub(crate) async fn request_leniently(&self, method: &str, params: Option<Value>) -> Reply {
        let start = self.recording.len();
        let request = self.client.request(method.to_owned(), params.map(RawJson::from));
        let outcome = request.timeout(self.request_timeout).await;
        let frames = self.recording.entries_from(start);
        Reply { outcome, frames }
    }

    /// Calls a tool with a name or arguments that are wrong, which is never slow.
    pub(crate) async fn call_tool(&self, name: &str, arguments: &Value) -> Reply {
        let params = serde_json::json!({"name": name, "arguments": arguments});
        self.request_strictly("tools/call", Some(params)).await
    }

    /// Sends a request like [`Connection::request`], but leaves it to the caller to judge a
    /// missing response.
    pub(crate) async fn try_request(&self, method: &str, timeout: Duration) -> Reply {
        let start = self.recording.len();
        let outcome = self.client.request(method.to_owned(), None).timeout(timeout).await;
        let frames = self.recording.entries_from(start);
        Reply { outcome, frames }
    }

    /// Calls a tool, and leaves it to the caller to judge a missing response. Returns also
    /// whether the server reported progress.
    pub(crate) async fn try_call_tool(
        &self,
        name: &str,
        arguments: &Value,
        timeout: Duration,
    ) -> (Reply, bool) {
        let method = "tools/call";
        let params = RawJson::from(serde_json::json!({"name": name, "arguments": arguments}));
        let start = self.recording.len();
        let has_progress = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&has_progress);
        let request = self.client.request(method, Some(params)).timeout(timeout);
        let outcome = request.on_progress(move |_| seen.store(true, Ordering::Relaxed)).await;
        let frames = self.recording.entries_from(start);
        let reply = Reply { outcome, frames };
        (reply, has_progress.load(Ordering::Relaxed))
    }

    /// Calls a tool with good arguments. The call can take long, so only a server that ends
    /// meanwhile breaks a rule.
    pub(crate) async fn call_listed_tool(&self, name: &str, arguments: &Value) -> Reply {
        let params = serde_json::json!({"name": name, "arguments": arguments});
        let reply = self.request_leniently("tools/call", Some(params)).await;
        self.report_failure(&reply);
        if reply.timed_out() {
            self.outcomes.add_slow_tool(name);
        }
        reply
    }

    /// Sends bytes that are a request with an id, and waits for the response.
    pub(crate) async fn request_bytes(&self, bytes: impl Into<Vec<u8>>) -> Reply {
        let start = self.recording.len();
        let request = self.client.request_bytes(bytes).timeout(self.request_timeout);
        self.reply(start, request.await)
    }

    /// Sends any bytes as one message, without waiting.
    pub(crate) fn send_bytes(&self, bytes: impl Into<Vec<u8>>) {
        self.client.send_bytes(bytes);
    }

    /// Waits for a frame of the server from this index of the recording on.
    pub(crate) async fn wait_for_frame(
        &self,
        start: usize,
        fits: impl Fn(&Entry) -> bool,
    ) -> Option<Entry> {
        let fits = |entry: &Entry| entry.from == Side::Server && fits(entry);
        self.recording.wait_for(start, self.request_timeout, fits).await
    }

    /// Checks that the server responds: with `ping`, or with `server/discover` in revisions
    /// without pings.
    pub(crate) async fn ping(&self) -> Reply {
        self.request(self.ping_method(), None).await
    }

    /// Checks like [`Connection::ping`] that the server responds, but leaves it to the caller
    /// to judge a missing response.
    pub(crate) async fn try_ping(&self, timeout: Duration) -> Reply {
        self.try_request(self.ping_method(), timeout).await
    }

    fn ping_method(&self) -> &'static str {
        let modern = self.client.revision().is_some_and(Revision::is_modern);
        if modern { "server/discover" } else { "ping" }
    }

    /// Returns true if the server answers a `ping`, like [`Connection::ping`]. A missing answer
    /// breaks no rule by itself.
    pub(crate) async fn is_alive(&self) -> Result<(), Error> {
        let modern = self.client.revision().is_some_and(Revision::is_modern);
        let method = if modern { "server/discover" } else { "ping" };
        match self.client.request(method, None).timeout(self.request_timeout).await {
            Ok(_) | Err(Error::ErrorResponse { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns true if the server answers `server/discover` with a result. A server that speaks
    /// both eras can stop doing that. A missing answer breaks no rule by itself.
    pub(crate) async fn is_modern(&self) -> bool {
        self.try_request("server/discover", self.request_timeout).await.is_success()
    }

    /// Returns the longest wait for one response.
    pub(crate) fn request_timeout(&self) -> Duration {
        self.request_timeout
    }

    /// Closes the connection, and waits until it has ended.
    pub(crate) async fn close(&self) -> Cause {
        self.client.close().await
    }

    fn reply(&self, start: usize, outcome: Result<Response, Error>) -> Reply {
        let frames = self.recording.entries_from(start);
        let reply = Reply { outcome, frames };
        self.report_failure(&reply);
        if let Err(error @ (Error::Timeout { .. } | Error::Stalled { .. })) = &reply.outcome
            && !reply.frames.iter().any(is_progress)
            && !called_tool(&reply.frames).is_some_and(|tool| self.outcomes.is_slow_tool(&tool))
        {
            self.outcomes.add_unanswered(&error.to_string());
            let finding = Finding::new(error.to_string()).with_frames(&reply.frames);
            self.outcomes.fail(Rule::NoAnswer, finding);
        }
        reply
    }

    /// Reports a server that ended, and one that failed to send a response.
    fn report_failure(&self, reply: &Reply) {
        let Err(error @ Error::Closed { cause, .. }) = &reply.outcome else { return };
        let is_server_error = reply.http_status().is_some_and(|it| it >= 500);
        let rule = match cause {
            _ if is_crash(cause) => Rule::Crash,
            Cause::Broken(_) => Rule::NoAnswer,
            _ if is_server_error && reply.is_http_without_response() => Rule::NoAnswer,
            _ => return,
        };
        self.outcomes.fail(rule, Finding::new(error.to_string()).with_frames(&reply.frames));
    }
}

/// Returns true for a message of a server that still works on a request.
fn is_progress(entry: &Entry) -> bool {
    entry.from == Side::Server && entry.frame.method() == Some("notifications/progress")
}

/// Returns the name of the tool that the client has called last.
fn called_tool(frames: &[Entry]) -> Option<String> {
    let mut sent = frames.iter().rev().filter(|entry| entry.from == Side::Client);
    let call = sent.find(|entry| entry.frame.method() == Some("tools/call"))?;
    Some(call.frame.params()?.get("name")?.as_str()?.into_owned())
}

/// Returns true if the server ended the connection although it should be open.
pub(crate) fn is_crash(cause: &Cause) -> bool {
    match cause {
        Cause::EndOfInput | Cause::ProcessEnded { .. } => true,
        Cause::Broken(reason) => !is_early_end(reason),
        _ => false,
    }
}

/// Returns true if the server ended an event stream in order, but without the response.
pub(crate) fn is_early_end(reason: &str) -> bool {
    reason.starts_with("the event stream ended")
}

impl Reply {
    /// Returns the response, or the reason why there is none.
    pub(crate) fn outcome(&self) -> Result<&Response, &Error> {
        self.outcome.as_ref()
    }

    /// Returns the result, if the response has one.
    pub(crate) fn result(&self) -> Option<Value> {
        let result = self.outcome.as_ref().ok()?.result()?;
        parse_value(result.bytes()).ok()
    }

    /// Returns true if the server answered the request with an HTTP response that is about the
    /// request, but has no JSON-RPC response.
    pub(crate) fn is_http_without_response(&self) -> bool {
        let is_error = |it: &Entry| it.from == Side::Server && it.frame.is_response_like();
        match self.http_status() {
            Some(403) | None => false,
            Some(status) => !is_unrelated_status(status) && !self.frames.iter().any(is_error),
        }
    }

    /// Returns true if the response ended the session.
    pub(crate) fn is_session_lost(&self) -> bool {
        matches!(self.outcome, Err(Error::Closed { cause: Cause::SessionLost(_), .. }))
    }

    /// Returns the status of an HTTP response that is no usable response to the request. A
    /// response that ends the session has the status 404.
    fn http_status(&self) -> Option<u16> {
        match &self.outcome {
            Err(Error::Closed { cause: Cause::Http { status, .. }, .. }) => Some(*status),
            Err(Error::Closed { cause: Cause::SessionLost(_), .. }) => Some(404),
            _ => None,
        }
    }

    /// Returns the JSON-RPC error, if the response has one.
    pub(crate) fn error(&self) -> Option<ErrorObject> {
        match &self.outcome {
            Ok(response) => response.error(),
            Err(Error::ErrorResponse { error, .. }) => Some((**error).clone()),
            Err(_) => None,
        }
    }

    /// Returns the code of the JSON-RPC error, if the response has one.
    pub(crate) fn error_code(&self) -> Option<i64> {
        self.error().map(|error| error.code)
    }

    /// Returns true if the response is a result without `isError`.
    pub(crate) fn is_success(&self) -> bool {
        self.outcome.as_ref().is_ok_and(Response::success)
    }

    /// Returns true if the response is a result with `isError`.
    pub(crate) fn is_tool_error(&self) -> bool {
        self.outcome.as_ref().is_ok_and(Response::is_error)
    }

    /// Returns true if the response is a result or an error.
    pub(crate) fn is_answered(&self) -> bool {
        self.result().is_some() || self.error().is_some()
    }

    /// Returns true if there was no response in time.
    pub(crate) fn timed_out(&self) -> bool {
        matches!(self.outcome, Err(Error::Timeout { .. } | Error::Stalled { .. }))
    }

    /// Returns the request and everything that was sent and received until its response.
    pub(crate) fn frames(&self) -> &[Entry] {
        &self.frames
    }

    /// Creates a finding with the request, the response, and a message that ends with the
    /// response in short.
    pub(crate) fn finding(&self, expected: impl std::fmt::Display) -> Finding {
        let message = format!("{expected}; {}", self.describe());
        Finding::new(message).with_frames(self.frames.iter().map(ShownFrame::from))
    }

    /// Describes the response in a few words.
    pub(crate) fn describe(&self) -> String {
        match &self.outcome {
            Ok(response) => match response.error() {
                Some(error) => {
                    format!("the server answered with the error {}", error.code)
                }
                None if response.is_error() => "the server answered with a tool error".to_owned(),
                None => "the server answered with a result".to_owned(),
            },
            Err(Error::ErrorResponse { error, .. }) => {
                format!("the server answered with the error {}", error.code)
            }
            Err(error) => error.to_string(),
        }
    }
}
