//! HTTP transports, client and server: Streamable HTTP in both eras, and HTTP+SSE of
//! 2024-11-05.
//!
//! The peers decide which frames are sent and what they mean.

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
