//! A scripted server of the Model Context Protocol: the stand-in for any other,
//! written in a page of YAML. It does exactly what its script says.
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
//! Whatever has to do with HTTP is there only with the feature `http`, the issuer of tokens
//! only with `oauth`, and the LLM endpoint only with `llm`; all are on where nothing is
//! said. A script that needs one which is off is refused.

pub mod builder;
#[cfg(feature = "http")]
mod control;
mod grammar;
#[cfg(feature = "http")]
pub mod http_mock;
mod interactions;
#[cfg(feature = "oauth")]
pub mod issuer;
#[cfg(feature = "oauth")]
mod issuing;
#[cfg(all(feature = "http", not(feature = "oauth")))]
#[path = "no_issuing.rs"]
mod issuing;
pub mod journal;
#[cfg(feature = "llm")]
pub mod llm;
mod load;
mod model;
#[cfg(feature = "http")]
mod over_http;
mod program;
mod reading;
mod serve;
mod server;
mod stage;
#[cfg(feature = "http")]
mod upstream;

#[cfg(feature = "oauth")]
pub use builder::IssuerBuilder;
#[cfg(any(feature = "llm", feature = "oauth"))]
pub use builder::StartError;
#[cfg(feature = "llm")]
pub use builder::{LlmBuilder, LlmTurn};
pub use builder::{MockBuilder, PromptMock, Reply, ResourceMock, TemplateMock, ToolMock};
#[cfg(feature = "llm")]
pub use grammar::{LLM_KEYS, SEEN_KEYS, TURNS, llm_reference, llm_schema};
pub use grammar::{reference, schema};
#[cfg(feature = "http")]
pub use http_mock::{HttpFault, HttpMock, HttpReply, HttpRequest, HttpRoute};
pub use interactions::directives;
#[cfg(feature = "oauth")]
pub use issuer::{Issuer, Token, Wrong};
#[cfg(feature = "llm")]
pub use llm::{Api, LlmMiss, LlmMock, LlmRequest, LlmScript};
#[cfg(feature = "llm")]
pub use load::LlmKnown;
pub use load::Settings;
pub use model::ProcessFault;
#[cfg(feature = "http")]
pub use over_http::Urls;
pub use reading::{LoadError, Reading};
pub use serve::{ChangeError, Mock};
pub use server::MockServer;
