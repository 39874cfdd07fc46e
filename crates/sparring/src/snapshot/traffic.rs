//! The messages of both sides so far, in order.

use std::fmt;
use std::ops::Deref;

use sparring_wire::{Side, Violation};

use super::message::Message;
use crate::Client;
use crate::failure_context::FailureContext;

/// All messages so far. It dereferences to a slice of them.
///
/// ```
/// # use sparring::{Client, MockServer, Snapshot, Step};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mock = MockServer::from_yaml(
/// #     "tools: [{name: copy, text: done, during: [{progress: 1}]}]",
/// #     ".",
/// # )?;
/// # let client = Client::in_memory(mock).await?;
/// client.call_tool("copy", serde_json::json!({})).on_progress(|_| ()).await?.assert_success();
/// client.snapshot().assert_no_violations().assert_order([
///     Step::sent("tools/call"),
///     Step::received("notifications/progress"),
///     Step::response("tools/call"),
/// ]);
/// # Ok(())
/// # }
/// ```
///
/// Its text has a line for each message, without times and without the metadata that
/// the client adds to each request, so it can be stored and compared:
///
/// ```
/// # use sparring::{Client, MockServer};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
/// # let client = Client::in_memory(mock).await?;
/// client.call_tool("now", serde_json::json!({})).await?.assert_success();
/// let sent = client.snapshot().method("tools/call").sent();
/// assert_eq!(sent.to_string(), "→ tools/call #2 {\"name\":\"now\",\"arguments\":{}}\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "check the snapshot"]
pub struct Snapshot {
    messages: Vec<Message>,
    /// The number of older entries that the transcript has dropped.
    dropped: u64,
    /// The violations that no message shows, in a snapshot of all messages.
    violations: Vec<Violation>,
    pub(super) context: FailureContext,
}

impl Client {
    /// Returns all messages so far. A very long transcript has dropped its oldest messages;
    /// the text of the snapshot has their number.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let messages = client.snapshot();
    /// assert_eq!(messages.last().map(|last| last.label()).as_deref(), Some("← answer to tools/call"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        let transcript = self.transcript();
        let dropped = transcript.dropped();
        let messages = Message::from_entries(transcript.entries());
        let violations = transcript.connection_violations();
        Snapshot { messages, dropped, violations, context: self.failure_context().clone() }
    }
}

impl Snapshot {
    /// Returns the client's messages.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?.assert_success();
    /// let messages = client.snapshot().without_lifecycle();
    /// messages.sent().assert_exactly([Step::sent("tools/call")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sent(&self) -> Snapshot {
        self.only(|message| message.from == Side::Client)
    }

    /// Returns the server's messages.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?.assert_success();
    /// let messages = client.snapshot().without_lifecycle();
    /// messages.received().assert_exactly([
    ///     Step::received("notifications/progress"),
    ///     Step::response("tools/call"),
    /// ]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn received(&self) -> Snapshot {
        self.only(|message| message.from == Side::Server)
    }

    /// Returns the messages of this method, and the responses to it.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?.assert_success();
    /// client.snapshot().method("tools/call").assert_exactly([
    ///     Step::sent("tools/call"),
    ///     Step::response("tools/call"),
    /// ]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn method(&self, method: &str) -> Snapshot {
        self.only(|message| message.method() == Some(method))
    }

    /// Returns the requests of both sides.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?.assert_success();
    /// let messages = client.snapshot().without_lifecycle();
    /// messages.requests().assert_exactly([Step::sent("tools/call")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn requests(&self) -> Snapshot {
        self.only(Message::is_request)
    }

    /// Returns the notifications of both sides.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?.assert_success();
    /// let messages = client.snapshot().without_lifecycle();
    /// messages.notifications().assert_exactly([Step::received("notifications/progress")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn notifications(&self) -> Snapshot {
        self.only(Message::is_notification)
    }

    /// Returns the responses of both sides.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?.assert_success();
    /// let messages = client.snapshot().without_lifecycle();
    /// messages.responses().assert_exactly([Step::response("tools/call")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn responses(&self) -> Snapshot {
        self.only(Message::is_response)
    }

    /// Returns all messages but those of the handshake.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// client.snapshot().without_lifecycle().assert_exactly([
    ///     Step::sent("tools/call"),
    ///     Step::response("tools/call"),
    /// ]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn without_lifecycle(&self) -> Snapshot {
        const LIFECYCLE: [&str; 3] = ["initialize", "notifications/initialized", "server/discover"];
        self.only(|message| !message.method().is_some_and(|method| LIFECYCLE.contains(&method)))
    }

    /// Returns the messages that match, in their order.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("never", json!({})).wait()?.assert_error_code(-32602);
    /// let failed = client.snapshot().only(|message| message.is_error());
    /// failed.assert_exactly([Step::error("tools/call")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn only(&self, matches: impl Fn(&Message) -> bool) -> Snapshot {
        let messages = self.messages.iter().filter(|message| matches(message)).cloned().collect();
        let (dropped, context) = (self.dropped, self.context.clone());
        Snapshot { messages, dropped, violations: Vec::new(), context }
    }

    /// Checks the number of messages.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// client.snapshot().method("tools/call").requests().assert_count(1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When the number differs. The panic lists the messages.
    #[track_caller]
    pub fn assert_count(&self, count: usize) -> &Self {
        if self.len() != count {
            self.fail(format_args!("expected {count} messages, found {}", self.len()));
        }
        self
    }

    /// Checks that neither side violated the protocol.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// client.snapshot().assert_no_violations();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When there is a violation. The panic names the side, the message and the rule.
    #[track_caller]
    pub fn assert_no_violations(&self) -> &Self {
        let violating = self.iter().filter(|message| !message.violations.is_empty());
        let others = self.violations.iter().map(|it| format!("  {it}"));
        let lines: Vec<String> = violating.map(Message::render_violations).chain(others).collect();
        if !lines.is_empty() {
            self.context.fail(format_args!("protocol violations\n{}", lines.join("\n")));
        }
        self
    }

    /// Fails the test with this failure, the messages and the failure context.
    #[track_caller]
    pub(super) fn fail(&self, failure: impl fmt::Display) -> ! {
        let labels: String =
            self.iter().map(|message| format!("\n  {}", message.label())).collect();
        let labels = if labels.is_empty() { " none".to_owned() } else { labels };
        self.context.fail(format_args!("{failure}\nmessages:{labels}"))
    }
}

impl Deref for Snapshot {
    type Target = [Message];

    fn deref(&self) -> &[Message] {
        &self.messages
    }
}

impl<'a> IntoIterator for &'a Snapshot {
    type Item = &'a Message;
    type IntoIter = std::slice::Iter<'a, Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.messages.iter()
    }
}

/// Writes a line for each message: direction, method, id and body.
impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dropped > 0 {
            writeln!(f, "… {} earlier messages", self.dropped)?;
        }
        self.iter().try_for_each(|message| writeln!(f, "{message}"))
    }
}
