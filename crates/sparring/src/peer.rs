//! The underlying client, without checks and without the caller's line. Use it
//! where a test inspects a failure instead of failing.
//!
//! ```
//! # use sparring::MockServer;
//! use sparring::peer::Client;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
//! let client = Client::connect(mock.connect()).await?;
//! let response = client.call_tool("nope", serde_json::json!({})).await?;
//! assert_eq!(response.error_code(), Some(-32602));
//! # Ok(())
//! # }
//! ```

pub use sparring_peer::client::{
    LogMessage, PendingRequest, RequestBuilder, ServerRequestHandler, Subscription, TypedList,
};
pub use sparring_peer::{Client, ClientBuilder, Response};
