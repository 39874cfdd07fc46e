//! An answer in a test: the peer's, which can be checked.

mod checks;
mod progress;

use std::ops::Deref;
use std::panic::Location;

use serde::de::DeserializeOwned;
use serde_json::Value;
use sparring_wire::Json;
use sparring_wire::json::tree;

pub use progress::Reports;

use crate::scene::Scene;

/// An answer as it came, with checks that show the scene when they fail. It
/// dereferences to the peer's [`Response`](sparring_peer::Response), so all that
/// was said can be looked at.
///
/// Every check gives the response back, so that several can be written in a row.
///
/// ```
/// # use sparring::{Client, MockServer};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mock = MockServer::from_yaml("tools: [{name: now, structured: {hour: 12}}]", ".")?;
/// let client = Client::in_memory(mock).await?;
/// let response = client.call_tool("now", serde_json::json!({})).await?;
/// response.assert_success().assert_structured(serde_json::json!({"hour": 12}));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "an answer that nobody checks may be an error"]
pub struct Response {
    peer: sparring_peer::Response,
    /// What was asked, in words: `tools/call greet`.
    asked: String,
    scene: Scene,
}

impl Response {
    pub(crate) fn new(peer: sparring_peer::Response, asked: String, scene: Scene) -> Self {
        Response { peer, asked, scene }
    }

    /// The text of the answer, joined with nothing: of a tool its text items, of
    /// a resource its contents, of a prompt its messages; of a JSON-RPC error
    /// its message.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
    /// let client = Client::in_memory(mock).await?;
    /// assert_eq!(client.read_resource("memo:1").await?.text(), "milk");
    /// # Ok(())
    /// # }
    /// ```
    pub fn text(&self) -> String {
        let Some(result) = self.result() else {
            return self.error_message().unwrap_or_default();
        };
        let texts = |list: &str, path: &[&str]| -> Option<String> {
            let items = result.get(list)?.items();
            Some(items.filter_map(|item| item.at(path)?.as_str()).collect())
        };
        texts("content", &["text"])
            .or_else(|| texts("contents", &["text"]))
            .or_else(|| texts("messages", &["content", "text"]))
            .unwrap_or_default()
    }

    /// The result as a type of the caller's.
    ///
    /// ```
    /// # use sparring::{Client, MockServer, types::ReadResourceResult};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
    /// # let client = Client::in_memory(mock).await?;
    /// let read: ReadResourceResult = client.read_resource("memo:1").await?.to()?;
    /// assert_eq!(read.contents[0].text.as_deref(), Some("milk"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the answer is an error, or the result does not fit the type.
    #[track_caller]
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, crate::Error> {
        let at = Location::caller();
        self.peer.to().map_err(|error| crate::Error::client(error, at, &self.scene))
    }

    /// The result, or the structured content and so on, as a tree.
    fn tree(json: Option<Json<'_>>) -> Option<Value> {
        json.and_then(|json| tree(json.bytes()).ok())
    }

    /// What came, in one line: how it ended and how its text begins.
    fn came(&self) -> String {
        match (self.error(), self.is_error()) {
            (Some(error), _) => format!("the error {error}"),
            (None, true) => {
                format!("a failure of the tool: {}", crate::diff::excerpt(&self.text()))
            }
            (None, false) => match self.text() {
                text if text.is_empty() => {
                    let result = Self::tree(self.result()).unwrap_or_default();
                    format!("the result {}", crate::diff::short(&result))
                }
                text => format!("a result: {}", crate::diff::excerpt(&text)),
            },
        }
    }

    #[track_caller]
    fn fail(&self, what: impl std::fmt::Display) -> ! {
        self.scene.fail(format_args!("{}: {what}", self.asked))
    }
}

impl Deref for Response {
    type Target = sparring_peer::Response;

    fn deref(&self) -> &sparring_peer::Response {
        &self.peer
    }
}
