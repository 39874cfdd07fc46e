//! Scripted servers, and what else a test must fake: an HTTP upstream, a token
//! issuer, an LLM endpoint.

pub use sparring_mock::journal::{Expectation, Miss, Received};
#[cfg(feature = "http")]
pub use sparring_mock::{
    Api, HttpFault, HttpMock, HttpReply, HttpRequest, HttpRoute, LlmBuilder, LlmMiss, LlmMock,
    LlmRequest, LlmScript, LlmTurn, StartError, Urls,
};
pub use sparring_mock::{
    ChangeError, LoadError, Mock, MockBuilder, MockServer, ProcessFault, PromptMock, Reading,
    Reply, ResourceMock, Settings, TemplateMock, ToolMock,
};
#[cfg(feature = "oauth")]
pub use sparring_mock::{Issuer, IssuerBuilder, Token, Wrong};
