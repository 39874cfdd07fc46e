//! The sparring partner of the Model Context Protocol, for Rust tests: a client
//! that hits precisely and sees every byte, and a server that does exactly
//! what it is told, both in this process.
//!
//! A [`Client`] is connected to a server in this process or anywhere else, gives
//! answers and lists that can be checked, and shows in every failure what was
//! said. [`MockServer`] stands in for a server, [`Handler`] makes one; [`everywhere()`]
//! has a test run over every transport and revision. What those stand on is in
//! modules: [`link`] and [`transport`], [`server`], [`mock`] and [`script`], [`types`]
//! for typed views of what is said, and [`wire`] for frames, revisions and the rule
//! checker.
//!
//! ```
//! use sparring::server::{Answer, Context};
//! use sparring::types::{CallToolResult, ServerCapabilities};
//! use sparring::{Client, Handler, Json};
//!
//! struct Greeter;
//!
//! impl Handler for Greeter {
//!     fn capabilities(&self) -> ServerCapabilities {
//!         ServerCapabilities::none().tools()
//!     }
//!
//!     async fn call_tool(&self, _: &str, arguments: Json<'_>, _: &Context) -> Answer {
//!         let name = arguments.get("name").and_then(Json::as_str).unwrap_or_default();
//!         Ok(CallToolResult::text(format!("hello {name}")).into())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), sparring::Error> {
//! let client = Client::in_memory(Greeter).await?;
//! let response = client.call_tool("greet", serde_json::json!({"name": "Ada"})).await?;
//! assert_eq!(response.content(), "hello Ada");
//! assert!(client.transcript().violations().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! Whoever needs less builds less; all but `rmcp` are on where nothing is said.
//!
//! | feature | what it adds |
//! |---|---|
//! | (none) | client and server over memory, stdio, sockets and pipes; frames, revisions, the rule checker |
//! | `mock` | the scripted server with its YAML, JSON Schemas of tools, matchers |
//! | `http` | client and server over HTTP, with TLS; with `mock` also mocks over HTTP and `Upstream` |
//! | `oauth` | authorization by OAuth; with `mock` also an issuer of tokens. It implies `http` |
//! | `llm` | with `mock`, scripted LLM endpoints. It implies `http` |
//! | `containers` | servers in containers that run, and containers that a run of tests shares |
//! | `typed` | the calls of modules that `spar codegen` writes |
//! | `rmcp` | services of the official SDK in memory and over every transport |
//!
//! A mock's script that needs a feature which is off is refused, at the key that needs it.

mod background;
pub mod blocking;
pub mod client;
pub mod connect;
pub mod content;
mod diff;
mod error;
pub mod everywhere;
pub mod fixture;
pub mod link;
pub mod listed;
#[cfg(feature = "mock")]
pub mod mock;
pub mod peer;
pub mod response;
mod scene;
#[cfg(feature = "mock")]
pub mod script;
pub mod server;
pub mod snapshot;
pub mod transport;
#[cfg(feature = "typed")]
pub mod typed;
pub mod wire;

pub use client::{Client, ClientBuilder, ClientOptions, Protocol};
pub use content::Content;
pub use error::{Error, Reason};
pub use everywhere::{Everywhere, Transport, everywhere};
pub use fixture::{Project, Shared};
pub use listed::{Found, Listed, Prompts, ResourceTemplates, Resources, Tools};
pub use response::Response;
pub use snapshot::{Snapshot, Step};
#[cfg(all(feature = "mock", feature = "http"))]
pub use sparring_mock::{HttpFault, HttpMock as Upstream, HttpReply, HttpRequest, HttpRoute};
#[cfg(all(feature = "mock", feature = "oauth"))]
pub use sparring_mock::{Issuer, Token};
#[cfg(feature = "mock")]
pub use sparring_mock::{MockServer, PromptMock, Reply, ResourceMock, TemplateMock, ToolMock};
pub use sparring_peer::{
    Cause, Envelope, Era, Handler, Incoming, Lines, Link, LinkKind, MemoryLink, MemoryTransport,
    Outgoing, Server, Stream, memory,
};
#[cfg(feature = "mock")]
pub use sparring_script::Matcher;
#[cfg(feature = "containers")]
pub use sparring_transport::ContainerTarget;
#[cfg(feature = "http")]
pub use sparring_transport::http::{Credentials, HttpLink, HttpOptions, HttpServer, HttpTarget};
#[cfg(feature = "oauth")]
pub use sparring_transport::http::{Grant, OAuth, Proof, Visitor};
pub use sparring_transport::{ChildLink, ChildTarget, Target};
pub use sparring_wire::{
    Checker, ErrorObject, Exchange, Frame, Headers, Id, Json, RawJson, Referee, Revision, Rule,
    Side, Transcript, Violation, types,
};

/// The code in the page on the mock, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/mock.md")]
struct MockPage;

/// The code in the page on testing in Rust, run as a test. That in the README is
/// run outside of the workspace, by `cargo xtask scratch`.
#[cfg(all(doctest, feature = "rmcp"))]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;
