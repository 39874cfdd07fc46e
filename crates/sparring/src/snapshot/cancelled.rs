//! Requests that were given up: the other side was told, and said nothing more.

use sparring_wire::{Id, Json};

use super::{Message, Snapshot};
use crate::Content;

impl Snapshot {
    /// Checks that a request of this method was cancelled: whoever made it sent
    /// `notifications/cancelled` with its id, and no answer came after that. Since
    /// 2026-07-28 a request over HTTP is cancelled by ending its stream, which is
    /// no message. Of one that was cancelled without a reason
    /// [`Content::empty`] is the reason.
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
    /// When no such request was made, none was cancelled, the reason does not fit,
    /// or it was answered nevertheless.
    #[track_caller]
    pub fn assert_cancelled(&self, method: &str, reason: impl Into<Content>) -> &Self {
        let reason = reason.into();
        let Some((index, said)) = self.cancelled(method) else {
            let made = self.iter().any(|it| it.is_request() && it.method() == Some(method));
            let what = if made { "was not cancelled" } else { "was not asked for" };
            self.fail(format_args!("{method} {what}"));
        };
        let params = said.frame.params();
        let told = params.and_then(|params| params.get("reason")).and_then(Json::as_str);
        if let Err(mismatch) = reason.matches(&told.unwrap_or_default()) {
            self.fail(format_args!("{method} was cancelled for another reason\n{mismatch}"));
        }
        let late = |it: &&Message| {
            it.is_answer() && it.from != said.from && it.frame.id() == given_up(said).as_ref()
        };
        if let Some(answer) = self[index + 1..].iter().find(late) {
            self.fail(format_args!("{method} was cancelled, and answered after that\n  {answer}"));
        }
        self
    }

    /// The last cancellation of such a request, and where it stands.
    fn cancelled(&self, method: &str) -> Option<(usize, &Message)> {
        let mut said = self.iter().enumerate().filter(|(index, said)| {
            let id = given_up(said);
            let is_it = |it: &Message| {
                it.is_request()
                    && it.from == said.from
                    && it.method() == Some(method)
                    && it.frame.id() == id.as_ref()
            };
            id.is_some() && self[..*index].iter().any(is_it)
        });
        said.next_back()
    }
}

/// The id of the request that a message cancels.
fn given_up(message: &Message) -> Option<Id> {
    let params = message.frame.params();
    let params = params.filter(|_| message.method() == Some("notifications/cancelled"));
    params.and_then(|params| params.get("requestId")).and_then(Id::read)
}
