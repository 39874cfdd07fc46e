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

pub mod builder;
mod control;
mod grammar;
pub mod http_mock;
mod interactions;
pub mod issuer;
pub mod journal;
pub mod llm;
mod load;
mod model;
mod program;
mod reading;
mod serve;
mod server;
mod stage;
mod upstream;

pub use builder::{
    IssuerBuilder, LlmBuilder, LlmTurn, MockBuilder, PromptMock, Reply, ResourceMock, StartError,
    TemplateMock, ToolMock,
};
pub use grammar::{LLM_KEYS, SEEN_KEYS, TURNS, llm_reference, llm_schema, reference, schema};
pub use http_mock::{HttpFault, HttpMock, HttpReply, HttpRequest, HttpRoute};
pub use interactions::directives;
pub use issuer::{Issuer, Token, Wrong};
pub use llm::{Api, LlmMiss, LlmMock, LlmRequest, LlmScript};
pub use load::{LlmKnown, Settings};
pub use model::ProcessFault;
pub use reading::{LoadError, Reading};
pub use serve::{ChangeError, Mock};
pub use server::{MockServer, Urls};
