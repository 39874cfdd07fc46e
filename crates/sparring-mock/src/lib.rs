//! A scripted server of the Model Context Protocol that can replace any other server in a test.
//! A YAML script describes its tools, replies and faults.
//!
//! ```
//! # use sparring_mock::MockServer;
//! # use sparring_peer::Client;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mock = MockServer::from_yaml(
//!     "tools: [{name: greet, input: {name: string}, text: \"hello ${args.name}\"}]",
//!     ".",
//! )?;
//! let client = Client::connect(mock.connect()).await?;
//! let response = client.call_tool("greet", serde_json::json!({"name": "Ada"})).await?;
//! assert_eq!(response.content(), "hello Ada");
//! # Ok(())
//! # }
//! ```
//!
//! The same in Rust:
//!
//! ```
//! # use sparring_mock::{MockServer, Reply, ToolMock};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mock = MockServer::builder()
//!     .tool(
//!         ToolMock::new("greet")
//!             .input(serde_json::json!({"name": "string"}))
//!             .reply(Reply::text("hello ${args.name}")),
//!     )
//!     .build()?;
//! # Ok(())
//! # }
//! ```
//!
//! HTTP needs the feature `http`, the token issuer `oauth`, and the LLM endpoint `llm` (default:
//! all). A script that uses a disabled feature is rejected.

mod bounded_map;
pub mod builder;
#[cfg(feature = "http")]
mod control;
mod from_script;
mod grammar;
#[cfg(feature = "http")]
pub mod http_mock;
#[cfg(feature = "http")]
mod http_serving;
mod interactions;
#[cfg(feature = "oauth")]
pub mod issuer;
pub mod journal;
#[cfg(feature = "llm")]
pub mod llm;
mod load;
#[cfg(feature = "oauth")]
mod mock_issuer;
#[cfg(all(feature = "http", not(feature = "oauth")))]
#[path = "mock_issuer_disabled.rs"]
mod mock_issuer;
mod model;
mod program;
mod scheduler;
mod serve;
mod server;
#[cfg(feature = "http")]
mod upstream;
mod value_size;

#[cfg(feature = "oauth")]
pub use builder::IssuerBuilder;
#[cfg(any(feature = "llm", feature = "oauth"))]
pub use builder::StartError;
#[cfg(feature = "llm")]
pub use builder::{LlmBuilder, LlmTurn};
pub use builder::{MockBuilder, PromptMock, Reply, ResourceMock, TemplateMock, ToolMock};
pub use from_script::{LoadError, LoadedMock};
#[cfg(feature = "llm")]
pub use grammar::{
    LLM_KEYS, LLM_REQUEST_KEYS, LLM_TEST_TURNS, LLM_TURNS, llm_reference, llm_schema,
};
pub use grammar::{reference, schema};
#[cfg(feature = "http")]
pub use http_mock::{HttpFault, HttpMock, HttpReply, HttpRequest, HttpRoute};
#[cfg(feature = "http")]
pub use http_serving::Urls;
pub use interactions::directives;
#[cfg(feature = "oauth")]
pub use issuer::{Issuer, Token, TokenFault};
#[cfg(feature = "llm")]
pub use llm::{Api, LlmAnswer, LlmMismatch, LlmMock, LlmRequest, LlmScript, UnusedTurn};
#[cfg(feature = "http")]
pub use load::ControlKeys;
#[cfg(feature = "llm")]
pub use load::LlmScope;
pub use load::Settings;
pub use model::ProcessFault;
pub use serve::{ChangeError, MockHandler};
pub use server::MockServer;
