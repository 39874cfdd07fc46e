//! Scripted servers, and the other services that a test mocks: HTTP upstreams, a
//! token issuer, LLM endpoints. More of it is at the crate root.
//!
//! ```
//! use serde_json::json;
//! use sparring::{MockServer, Reply, ToolMock};
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
pub use sparring_mock::journal::{Expectation, ReceivedRequest, UnmetExpectation};
#[cfg(feature = "llm")]
pub use sparring_mock::{
    Api, LlmAnswer, LlmBuilder, LlmMismatch, LlmMock, LlmRequest, LlmScript, LlmTurn, UnusedTurn,
};
pub use sparring_mock::{
    ChangeError, LoadError, LoadedMock, MockBuilder, MockHandler, ProcessFault, Settings,
};
#[cfg(feature = "http")]
pub use sparring_mock::{ControlKeys, Urls};
#[cfg(feature = "oauth")]
pub use sparring_mock::{Issuer, IssuerBuilder, Token, TokenFault};
