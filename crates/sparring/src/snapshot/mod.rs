//! All that was said between client and server so far, from both sides and in
//! order: to be looked at, checked, or kept and compared.

mod cancelled;
mod message;
mod order;
mod tasks;

use std::fmt;
use std::ops::Deref;

use sparring_wire::Side;

pub use message::Message;
pub use order::Step;

use crate::Client;
use crate::scene::Scene;

/// What was said until now. It dereferences to the messages.
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
///     Step::answer("tools/call"),
/// ]);
/// # Ok(())
/// # }
/// ```
///
/// As a text it has a line for each message, without times and without what the
/// client adds to each request by itself, so that it can be kept in a file:
///
/// ```
/// # use sparring::{Client, MockServer};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
/// # let client = Client::in_memory(mock).await?;
/// client.call_tool("now", serde_json::json!({})).await?.assert_success();
/// let said = client.snapshot().of("tools/call").sent();
/// assert_eq!(said.to_string(), "→ tools/call #2 {\"name\":\"now\",\"arguments\":{}}\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a snapshot says nothing until it is looked at"]
pub struct Snapshot {
    messages: Vec<Message>,
    /// How many entries were not kept.
    dropped: u64,
    scene: Scene,
}

impl Client {
    /// All that was said so far. Of very much the oldest is left out, which the
    /// text of the snapshot says.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let said = client.snapshot();
    /// assert_eq!(said.last().map(|last| last.label()).as_deref(), Some("← answer to tools/call"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        let transcript = self.transcript();
        let dropped = transcript.dropped();
        let messages = Message::read(transcript.entries());
        Snapshot { messages, dropped, scene: self.scene().clone() }
    }
}

impl Snapshot {
    /// What the client said.
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
    /// let said = client.snapshot().without_lifecycle();
    /// said.sent().assert_exactly([Step::sent("tools/call")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sent(&self) -> Snapshot {
        self.only(|message| message.from == Side::Client)
    }

    /// What the server said.
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
    /// let said = client.snapshot().without_lifecycle();
    /// said.received().assert_exactly([
    ///     Step::received("notifications/progress"),
    ///     Step::answer("tools/call"),
    /// ]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn received(&self) -> Snapshot {
        self.only(|message| message.from == Side::Server)
    }

    /// What has this method, and the answers to it.
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
    /// client.snapshot().of("tools/call").assert_exactly([
    ///     Step::sent("tools/call"),
    ///     Step::answer("tools/call"),
    /// ]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(&self, method: &str) -> Snapshot {
        self.only(|message| message.method() == Some(method))
    }

    /// Requests, of both sides.
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
    /// let said = client.snapshot().without_lifecycle();
    /// said.requests().assert_exactly([Step::sent("tools/call")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn requests(&self) -> Snapshot {
        self.only(Message::is_request)
    }

    /// Notifications, of both sides.
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
    /// let said = client.snapshot().without_lifecycle();
    /// said.notifications().assert_exactly([Step::received("notifications/progress")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn notifications(&self) -> Snapshot {
        self.only(Message::is_notification)
    }

    /// Answers, of both sides.
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
    /// let said = client.snapshot().without_lifecycle();
    /// said.answers().assert_exactly([Step::answer("tools/call")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answers(&self) -> Snapshot {
        self.only(Message::is_answer)
    }

    /// All but how the two came to terms at the start.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// client.snapshot().without_lifecycle().assert_exactly([
    ///     Step::sent("tools/call"),
    ///     Step::answer("tools/call"),
    /// ]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn without_lifecycle(&self) -> Snapshot {
        const LIFECYCLE: [&str; 3] = ["initialize", "notifications/initialized", "server/discover"];
        self.only(|message| !message.method().is_some_and(|method| LIFECYCLE.contains(&method)))
    }

    /// The messages that fit, in their order.
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
    pub fn only(&self, fits: impl Fn(&Message) -> bool) -> Snapshot {
        let messages = self.messages.iter().filter(|message| fits(message)).cloned().collect();
        Snapshot { messages, dropped: self.dropped, scene: self.scene.clone() }
    }

    /// Checks how many messages there are.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// client.snapshot().of("tools/call").requests().assert_count(1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When there are more or fewer; the message lists them.
    #[track_caller]
    pub fn assert_count(&self, count: usize) -> &Self {
        if self.len() != count {
            self.fail(format_args!("expected {count} messages, found {}", self.len()));
        }
        self
    }

    /// Checks that nobody broke a rule of the protocol.
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
    /// When somebody did; the message says who, which, and by what.
    #[track_caller]
    pub fn assert_no_violations(&self) -> &Self {
        let wrong = self.iter().filter(|message| !message.violations.is_empty());
        let told: Vec<String> = wrong.map(Message::accused).collect();
        if !told.is_empty() {
            self.scene.fail(format_args!("the protocol was violated\n{}", told.join("\n")));
        }
        self
    }

    /// Ends the test: what is wrong, the messages, and the scene.
    #[track_caller]
    fn fail(&self, what: impl fmt::Display) -> ! {
        let labels: String =
            self.iter().map(|message| format!("\n  {}", message.label())).collect();
        let labels = if labels.is_empty() { " none".to_owned() } else { labels };
        self.scene.fail(format_args!("{what}\nmessages:{labels}"))
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

/// A line for each message: who said it, what it is, its id and what it carries.
impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dropped > 0 {
            writeln!(f, "… {} before", self.dropped)?;
        }
        self.iter().try_for_each(|message| writeln!(f, "{message}"))
    }
}
