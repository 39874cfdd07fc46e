//! Scripted servers, and what else a test must fake: an HTTP upstream, a token
//! issuer, an LLM endpoint.
//!
//! ```
//! use serde_json::json;
//! use sparring::mock::{MockServer, Reply, ToolMock};
//! # use sparring::Client;
//! # use sparring::blocking::Wait as _;
//!
//! let greet = ToolMock::new("greet").reply(Reply::text("hello ${args.name}"));
//! let mock = MockServer::builder().tool(greet).build()?;
//! let client = Client::in_memory(&mock).wait()?;
//! client.call_tool("greet", json!({"name": "Ada"})).wait()?.assert_text("hello Ada");
//! mock.expect_called("greet").with(json!({"name": "Ada"})).times(1).verify();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(any(feature = "llm", feature = "oauth"))]
pub use sparring_mock::StartError;
pub use sparring_mock::journal::{Expectation, Miss, Received};
#[cfg(feature = "llm")]
pub use sparring_mock::{Api, LlmBuilder, LlmMiss, LlmMock, LlmRequest, LlmScript, LlmTurn};
pub use sparring_mock::{
    ChangeError, LoadError, Mock, MockBuilder, MockServer, ProcessFault, PromptMock, Reading,
    Reply, ResourceMock, Settings, TemplateMock, ToolMock,
};
#[cfg(feature = "http")]
pub use sparring_mock::{HttpFault, HttpMock, HttpReply, HttpRequest, HttpRoute, Urls};
#[cfg(feature = "oauth")]
pub use sparring_mock::{Issuer, IssuerBuilder, Token, Wrong};
