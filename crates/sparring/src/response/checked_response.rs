//! A response in a test.

use std::ops::Deref;
use std::panic::Location;

use serde::de::DeserializeOwned;
use serde_json::Value;
use sparring_wire::json::parse_value;
use sparring_wire::{Json, Violation};

use crate::failure_context::FailureContext;

/// A response with checks, whose failures print the failure context. It dereferences
/// to the underlying [`peer::Response`](crate::peer::Response), which gives access to
/// everything the server sent.
///
/// Every check returns the response, so checks can be chained.
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
#[must_use = "an unchecked response may be an error"]
pub struct Response {
    peer: sparring_peer::Response,
    /// Method and name of the request: `tools/call greet`.
    pub(super) label: String,
    pub(super) context: FailureContext,
    /// The differences to the output schema of the tool.
    pub(super) violations: Vec<Violation>,
}

impl Response {
    pub(crate) fn new(
        peer: sparring_peer::Response,
        label: String,
        context: FailureContext,
        violations: Vec<Violation>,
    ) -> Self {
        Response { peer, label, context, violations }
    }

    /// Returns the text of the response, concatenated: the text items of a tool result,
    /// the contents of a resource, the messages of a prompt, or the message of a
    /// JSON-RPC error.
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
            Some(items.filter_map(|item| item.get_path(path)?.as_str()).collect())
        };
        texts("content", &["text"])
            .or_else(|| texts("contents", &["text"]))
            .or_else(|| texts("messages", &["content", "text"]))
            .unwrap_or_default()
    }

    /// Deserializes the result.
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
    /// When the response is an error, or the result does not fit the type.
    #[track_caller]
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, crate::Error> {
        let at = Location::caller();
        self.peer.to().map_err(|error| crate::Error::client(error, at, &self.context))
    }

    pub(super) fn to_value(json: Option<Json<'_>>) -> Option<Value> {
        json.and_then(|json| parse_value(json.bytes()).ok())
    }

    /// Describes the response: error, tool error or result, and the start of its text.
    pub(super) fn describe(&self) -> String {
        match (self.error(), self.is_error()) {
            (Some(error), _) => format!("error {error}"),
            (None, true) => {
                format!("tool error: {}", crate::diff::render_excerpt(&self.text()))
            }
            (None, false) => match self.text() {
                text if text.is_empty() => {
                    let result = Self::to_value(self.result()).unwrap_or_default();
                    format!("result {}", crate::diff::render_short(&result))
                }
                text => format!("result with text {}", crate::diff::render_excerpt(&text)),
            },
        }
    }

    #[track_caller]
    pub(super) fn fail(&self, message: impl std::fmt::Display) -> ! {
        self.context.fail(format_args!("{}: {message}", self.label))
    }
}

impl Deref for Response {
    type Target = sparring_peer::Response;

    fn deref(&self) -> &sparring_peer::Response {
        &self.peer
    }
}
