//! Calls tools, first on the shared connection, and on new ones after a crash or a hang.

use std::time::Duration;

use serde_json::Value;
use sparring_peer::Cause;
use sparring_peer::client::Error;
use sparring_wire::{Entry, Rule, Side, code};
use tokio::time::Instant;

use crate::connection::{Connection, Reply, is_early_end};
use crate::context::{Context, Stopped};
use crate::verdict::Finding;

/// The number of characters of an answer's text that a report shows.
const MAX_TEXT: usize = 120;

/// A call of a tool, with its outcome.
pub(super) struct Call {
    pub(super) answer: Answer,
    pub(super) reply: Reply,
    pub(super) took: Duration,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// A result without `isError`.
    Success,
    /// A result with `isError`, or an error that is not an internal one.
    Refusal,
    /// An internal error.
    InternalError,
    /// The server ended, or cut the connection.
    Crash,
    /// The server had ended before the call.
    Gone,
    /// No answer in time.
    Hang,
    /// Anything else: other rules judge it.
    Other,
}

/// Makes the calls of one probe.
pub(super) struct Caller<'a> {
    context: &'a Context,
    connection: Used,
    deadline: Instant,
}

/// The connection for the next call.
enum Used {
    /// The shared one: this probe is the last, and a process less is started.
    Main,
    Own(Box<Connection>),
    None,
}

impl<'a> Caller<'a> {
    /// Creates a caller that begins no call that could end after the deadline.
    pub(super) fn new(context: &'a Context, deadline: Instant) -> Self {
        Caller { context, connection: Used::Main, deadline }
    }

    /// Leaves the shared connection alone if the server no longer answers on it, because of an
    /// earlier probe.
    pub(super) async fn check_connection(&mut self) {
        let ping = self.context.main().try_ping(self.context.options.rule_timeout).await;
        if !ping.is_answered() {
            self.connection = Used::None;
        }
    }

    /// Returns true if a call with this timeout would end before the deadline.
    pub(super) fn has_time_for(&self, timeout: Duration) -> bool {
        Instant::now() + timeout <= self.deadline
    }

    /// Waits until the deadline.
    pub(super) async fn before_deadline<F: Future>(&self, future: F) -> Option<F::Output> {
        tokio::time::timeout_at(self.deadline, future).await.ok()
    }

    /// Calls a tool.
    pub(super) async fn call(
        &mut self,
        tool: &str,
        arguments: &Value,
        timeout: Duration,
    ) -> Result<Call, Stopped> {
        if !self.connection().is_some_and(|it| it.client().is_connected()) {
            self.connect().await?;
        }
        let call = self.call_once(tool, arguments, timeout).await?;
        if call.answer != Answer::Gone {
            return Ok(call);
        }
        // A server that others use too can have been ended by them.
        if let Err(stopped) = self.connect().await {
            let message = "expected the server to run on after a call; it can no longer be reached";
            self.context.fail(Rule::ArgumentsCrash, Finding::new(message));
            return Err(stopped);
        }
        self.call_once(tool, arguments, timeout).await
    }

    async fn connect(&mut self) -> Result<(), Stopped> {
        let late = || Stopped("the server did not start again in time".to_owned());
        let connecting = self.before_deadline(self.context.connect()).await;
        self.connection = Used::Own(Box::new(connecting.ok_or_else(late)??));
        Ok(())
    }

    async fn call_once(
        &mut self,
        tool: &str,
        arguments: &Value,
        timeout: Duration,
    ) -> Result<Call, Stopped> {
        let missing = || Stopped("there is no connection".to_owned());
        let connection = self.connection().ok_or_else(missing)?;
        let began = Instant::now();
        let (reply, has_progress) = connection.try_call_tool(tool, arguments, timeout).await;
        let answer = Answer::of(&reply, has_progress);
        let took = began.elapsed();
        // A server that hangs may be blocked. Dropping the connection ends its process.
        if matches!(answer, Answer::Crash | Answer::Gone | Answer::Hang) {
            self.connection = Used::None;
        }
        Ok(Call { answer, reply, took })
    }

    fn connection(&self) -> Option<&Connection> {
        match &self.connection {
            Used::Main => Some(self.context.main()),
            Used::Own(connection) => Some(connection),
            Used::None => None,
        }
    }

    /// Calls a tool, and returns the call if the server ends during it or right after it.
    pub(super) async fn crashes(
        &mut self,
        tool: &str,
        arguments: &Value,
        timeout: Duration,
    ) -> Result<Option<Call>, Stopped> {
        let call = self.call(tool, arguments, timeout).await?;
        if call.answer == Answer::Crash {
            return Ok(Some(call));
        }
        Ok((!self.is_alive().await).then_some(call))
    }

    /// Returns false if the server has ended since the last call.
    pub(super) async fn is_alive(&mut self) -> bool {
        let Some(connection) = self.connection() else { return true };
        let ping = connection.try_ping(self.context.options.rule_timeout).await;
        let is_alive = !matches!(Answer::of(&ping, false), Answer::Crash | Answer::Gone);
        if !is_alive {
            self.connection = Used::None;
        }
        is_alive
    }

    /// Ends the last connection in order, unless it is the shared one.
    pub(super) async fn close(self) {
        if let Used::Own(connection) = self.connection {
            connection.close().await;
        }
    }
}

impl Answer {
    fn of(reply: &Reply, has_progress: bool) -> Answer {
        match reply.outcome() {
            _ if reply.is_success() => Answer::Success,
            _ if reply.is_tool_error() => Answer::Refusal,
            _ if reply.error_code() == Some(code::INTERNAL_ERROR) => Answer::InternalError,
            _ if reply.error_code().is_some() => Answer::Refusal,
            // A tool that reports progress is only slow.
            Err(Error::Timeout { .. } | Error::Stalled { .. }) if !has_progress => Answer::Hang,
            Err(Error::Closed { cause, .. }) => match cause {
                Cause::EndOfInput | Cause::ProcessEnded { .. } => Answer::Crash,
                Cause::Unreachable(_) => Answer::Gone,
                Cause::Broken(reason) if is_cut(reason) => Answer::Crash,
                Cause::Http { status: 400..=499, .. } => Answer::Refusal,
                Cause::Http { status: 500..=599, .. } => Answer::InternalError,
                _ => Answer::Other,
            },
            _ => Answer::Other,
        }
    }
}

/// Returns true if the server cut the connection. The other reasons are about the content of
/// a response.
fn is_cut(reason: &str) -> bool {
    const OTHER: [&str; 5] =
        ["longer than", "limit", "with HTTP", "did not accept", "could not be resumed"];
    !is_early_end(reason) && !OTHER.iter().any(|it| reason.contains(it))
}

impl Call {
    /// Describes the answer, with the beginning of its text.
    pub(super) fn describe(&self) -> String {
        let described = self.reply.describe();
        match self.text() {
            text if text.is_empty() => described,
            text if text.chars().count() <= MAX_TEXT => format!("{described}: {text}"),
            text => {
                let start: String = text.chars().take(MAX_TEXT).collect();
                format!("{described}: {start}…")
            }
        }
    }

    /// Returns the request and its response, without other messages.
    pub(super) fn frames(&self) -> Vec<Entry> {
        own_frames(&self.reply)
    }

    /// Returns the text of the result or the message of the error.
    pub(super) fn text(&self) -> String {
        if let Some(error) = self.reply.error() {
            return error.message.to_string();
        }
        let result = self.reply.result().unwrap_or_default();
        let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let texts: Vec<&str> = blocks.iter().filter_map(|it| it["text"].as_str()).collect();
        texts.join("\n").trim().to_owned()
    }
}

/// Returns the request of a call and its response, without other messages.
pub(super) fn own_frames(reply: &Reply) -> Vec<Entry> {
    let frames = reply.frames().iter();
    let request = frames.clone().find(|it| it.frame.method() == Some("tools/call"));
    let id = request.and_then(|it| it.frame.id());
    let own = frames.filter(|it| {
        let answers = it.from == Side::Server && it.frame.is_response_like();
        it.frame.method() == Some("tools/call") || answers && it.frame.id() == id
    });
    own.cloned().collect()
}
