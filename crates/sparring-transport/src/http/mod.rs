//! HTTP transports, client and server: Streamable HTTP in both eras, and HTTP+SSE of
//! 2024-11-05.
//!
//! The peers choose the frames to send and interpret the received ones.

pub mod client;
#[cfg(feature = "oauth")]
pub mod jwt;
pub mod server;
pub mod sse;

#[cfg(feature = "oauth")]
pub use client::{BrowserOpener, ClientAuth, Grant, OAuth};
pub use client::{
    Credentials, HttpError, HttpLink, HttpTarget, HttpTransport, JsonClient, JsonError,
    JsonResponse, Proxies, RawClient, RawCredentials, RawRequest, Tls, TlsClient, TlsError,
    send_once,
};
pub use server::{
    AcceptErrors, Auth, ExtraRequest, ExtraRoutes, HttpOptions, HttpServer, HttpServerHandle,
    ProtectedResource, TokenVerifier, check_host_and_origin, listen_tcp,
};
