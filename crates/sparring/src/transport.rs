//! Links to other processes, and to other machines.

pub use sparring_transport::{
    ChildError, ChildLink, ChildTarget, Container, ContainerError, ContainerTarget, OpenError,
    Opened, Stderr, Target, stdio,
};
#[cfg(unix)]
pub use sparring_transport::{Listener, NamedPipes, UnixTarget, connect_unix, listen_unix};

/// Over HTTP, both halves.
#[cfg(feature = "http")]
pub mod http {
    pub use sparring_transport::http::client::BadUrl;
    pub use sparring_transport::http::server::{Beside, Body, Listener};
    pub use sparring_transport::http::{
        Auth, Credentials, HttpError, HttpLink, HttpOptions, HttpServer, HttpTarget, HttpTransport,
        ProtectedResource, Proxies, Serving, Tls, TlsError, TokenCheck, Visit,
    };
    #[cfg(feature = "oauth")]
    pub use sparring_transport::http::{Grant, OAuth, Proof, Visitor};
}
