//! The protocol over HTTP: Streamable HTTP in both eras, and the HTTP+SSE of
//! 2024-11-05; the client's half and the server's.
//!
//! Which frames are sent and what they mean is the peers' business.

pub mod client;
#[cfg(feature = "oauth")]
pub mod jwt;
pub mod server;
pub mod sse;

pub use client::{
    Credentials, HttpError, HttpLink, HttpTarget, HttpTransport, JsonAnswer, JsonClient, JsonError,
    Proxies, Tls, TlsClient, TlsError, ask_once,
};
#[cfg(feature = "oauth")]
pub use client::{Grant, OAuth, Proof, Visitor};
pub use server::{
    Auth, Beside, HttpOptions, HttpServer, ProtectedResource, Serving, TokenCheck, Visit,
};
