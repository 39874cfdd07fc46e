//! Checks that a request was cancelled, and that no response followed.

use sparring_wire::{Id, Json};

use super::message::Message;
use crate::{Content, Snapshot};

impl Snapshot {
    /// Checks that a request of this method was cancelled: its sender sent
    /// `notifications/cancelled` with its id, and no response followed. Since
    /// 2026-07-28 ending the stream cancels a request over HTTP, which is not a
    /// message. [`Content::empty`] matches a cancellation without a reason.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("tools: [{name: wait, delay: 60s, text: done}]", ".")?;
    /// # let client = Client::in_memory(mock).await?;
    /// let call = client.call_tool("wait", serde_json::json!({})).start();
    /// call.cancel(Some("no time"));
    /// assert!(call.await.is_err());
    /// client.ping().await?;
    /// client.snapshot().assert_cancelled("tools/call", "no time");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When there is no such request, none was cancelled, the reason does not match, or
    /// a response followed.
    #[track_caller]
    pub fn assert_cancelled(&self, method: &str, reason: impl Into<Content>) -> &Self {
        let reason = reason.into();
        let Some((index, cancellation)) = self.find_cancellation(method) else {
            let was_sent = self.iter().any(|it| it.is_request() && it.method() == Some(method));
            let problem = if was_sent { "was not cancelled" } else { "was not requested" };
            self.fail(format_args!("{method} {problem}"));
        };
        let params = cancellation.frame.params();
        let found = params.and_then(|params| params.get("reason")).and_then(Json::as_str);
        if let Err(mismatch) = reason.matches(&found.unwrap_or_default()) {
            self.fail(format_args!("the reason for cancelling {method} differs\n{mismatch}"));
        }
        let late = |it: &&Message| {
            it.is_response()
                && it.from != cancellation.from
                && it.frame.id() == cancelled_id(cancellation).as_ref()
        };
        if let Some(response) = self[index + 1..].iter().find(late) {
            self.fail(format_args!("{method} got a response after it was cancelled\n  {response}"));
        }
        self
    }

    /// Finds the last cancellation of such a request, with its index.
    fn find_cancellation(&self, method: &str) -> Option<(usize, &Message)> {
        let mut cancellations = self.iter().enumerate().filter(|(index, cancellation)| {
            let id = cancelled_id(cancellation);
            let is_cancelled = |it: &Message| {
                it.is_request()
                    && it.from == cancellation.from
                    && it.method() == Some(method)
                    && it.frame.id() == id.as_ref()
            };
            id.is_some() && self[..*index].iter().any(is_cancelled)
        });
        cancellations.next_back()
    }
}

/// Returns the id of the request that a message cancels.
fn cancelled_id(message: &Message) -> Option<Id> {
    let params = message.frame.params();
    let params = params.filter(|_| message.method() == Some("notifications/cancelled"));
    params.and_then(|params| params.get("requestId")).and_then(Id::from_json)
}
