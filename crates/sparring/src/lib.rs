//! The sparring partner of the Model Context Protocol, for Rust tests: a client
//! that hits precisely and sees every byte, and a server that does exactly
//! what it is told, both in this process.
//!
//! This crate only gathers what the others have, by name:
//! [`Client`], [`Server`] and [`MockServer`], the links they talk through in this process and
//! ([`transport`]) to others, the typed views of what they say, and [`wire`] for
//! frames, revisions and the rule checker.
//!
//! ```
//! use sparring::server::{Answer, Context};
//! use sparring::types::{CallToolResult, ServerCapabilities};
//! use sparring::{Client, Handler, Json, LinkKind, Server, memory};
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
//! # async fn main() -> Result<(), sparring::client::Error> {
//! let (here, there) = memory(LinkKind::Shared);
//! let _server = Server::new(Greeter).spawn(there);
//! let client = Client::connect(here).await?;
//! let response = client.call_tool("greet", serde_json::json!({"name": "Ada"})).await?;
//! assert_eq!(response.content(), "hello Ada");
//! assert!(client.transcript().violations().is_empty());
//! # Ok(())
//! # }
//! ```

pub use sparring_mock::{self as mock, MockServer};
pub use sparring_peer::{
    Cause, Client, ClientBuilder, ClientOptions, Envelope, Era, Handler, Incoming, Lines, Link,
    LinkKind, MemoryLink, MemoryTransport, Outgoing, Protocol, Response, Server, Stream, client,
    link, memory, server,
};
pub use sparring_script::{self as script, Matcher};
pub use sparring_transport::http::{
    Credentials, Grant, HttpLink, HttpOptions, HttpServer, HttpTarget, OAuth, Proof, Visitor,
};
pub use sparring_transport::{self as transport, ChildLink, ChildTarget, ContainerTarget, Target};
pub use sparring_wire::{
    self as wire, Checker, ErrorObject, Exchange, Frame, Headers, Id, Json, RawJson, Referee,
    Revision, Rule, Side, Transcript, Violation, types,
};

/// The code in the page on the mock, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/mock.md")]
struct MockPage;

/// The code in the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
