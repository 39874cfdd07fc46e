//! Tests clients and servers of the Model Context Protocol from Rust, in the same
//! process or over any transport.
//!
//! A [`Client`] connects to a server, returns responses and lists with checks, and
//! prints the recorded traffic with every failure. [`MockServer`] is a scripted
//! server, [`Handler`] implements one, [`everywhere()`] runs a test over every
//! transport and revision, and [`check()`] checks a server against all rules of the
//! specification. The modules have the details: [`link`], [`transport`],
//! [`server`], [`mock`], [`script`], [`types`] with the protocol's types, and [`wire`]
//! with JSON access and the rules of each revision.
//!
//! ```
//! use sparring::server::{Context, HandlerResult};
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
//!     async fn call_tool(&self, _: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
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
//! All features but `rmcp` are enabled by default.
//!
//! | feature | adds |
//! |---|---|
//! | (none) | client and server over memory, stdio, sockets and pipes; frames, revisions, the rule checker |
//! | `mock` | the scripted server with its YAML, JSON Schemas of tools, matchers |
//! | `http` | client and server over HTTP, with TLS; with `mock` also mocks over HTTP and `HttpMock` |
//! | `oauth` | OAuth authorization; with `mock` also a token issuer. Implies `http` |
//! | `llm` | with `mock`, scripted LLM endpoints. Implies `http` |
//! | `containers` | servers in running containers, and containers that a test run shares |
//! | `check` | [`check()`], which checks a server against all rules of the specification. Implies `http` and `containers` |
//! | `typed` | typed tool calls, for modules that `spar codegen` generates |
//! | `rmcp` | services of the official Rust SDK, in memory and over every transport |
//!
//! A script that needs a disabled feature is rejected with the position of the key.

pub mod blocking;
#[cfg(feature = "check")]
pub mod check;
pub mod client;
pub mod connect;
pub mod content;
mod diff;
mod error;
pub mod everywhere;
mod failure_context;
pub mod fixture;
pub mod link;
pub mod lists;
#[cfg(feature = "mock")]
pub mod mock;
mod output_schemas;
pub mod peer;
pub mod response;
#[cfg(feature = "mock")]
pub mod script;
pub mod server;
pub mod snapshot;
pub mod transport;
#[cfg(feature = "typed")]
pub mod typed;
pub mod wire;

// A type that is exported here is not exported by its module as well.
#[cfg(feature = "check")]
pub use check::runner::check;
pub use client::builder::ClientBuilder;
pub use client::connection::Client;
pub use content::expected_text::Content;
pub use error::{Error, Reason};
pub use everywhere::runner::{Everywhere, everywhere};
pub use everywhere::transport::Transport;
pub use fixture::project::Project;
pub use fixture::shared::Shared;
pub use lists::found_item::FoundItem;
pub use lists::item_list::{ItemList, Prompts, ResourceTemplates, Resources, Tools};
pub use response::checked_response::Response;
pub use snapshot::order::Step;
pub use snapshot::traffic::Snapshot;
#[cfg(all(feature = "mock", feature = "http"))]
pub use sparring_mock::{HttpFault, HttpMock, HttpReply, HttpRequest, HttpRoute};
#[cfg(feature = "mock")]
pub use sparring_mock::{MockServer, PromptMock, Reply, ResourceMock, TemplateMock, ToolMock};
pub use sparring_peer::client::{ClientOptions, Protocol};
pub use sparring_peer::{
    Cause, Envelope, Era, Handler, Incoming, LineLink, Link, LinkInfo, LinkKind, MemoryLink,
    MemoryTransport, Outgoing, ReservedBytes, Server, Stream, memory,
};
#[cfg(feature = "mock")]
pub use sparring_script::Matcher;
#[cfg(feature = "containers")]
pub use sparring_transport::ContainerTarget;
#[cfg(feature = "oauth")]
pub use sparring_transport::http::{BrowserOpener, ClientAuth, Grant, OAuth};
#[cfg(feature = "http")]
pub use sparring_transport::http::{Credentials, HttpLink, HttpOptions, HttpServer, HttpTarget};
pub use sparring_transport::{ChildLink, ChildTarget, Target};
pub use sparring_wire::{
    Checker, ConnectionChecker, ErrorObject, Exchange, Frame, Headers, Id, Json, RawJson, Revision,
    Rule, Side, Transcript, Violation, types,
};

/// Runs the code of `docs/mock.md` as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/mock.md")]
struct MockPage;

/// Runs the code of `docs/library.md` as a test. `cargo xtask scratch` runs its first tests
/// outside the workspace.
#[cfg(all(doctest, feature = "rmcp"))]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;
