//! Whom to trust over TLS. It is only made ready when it is needed: reading the
//! system's certificates takes time.

use std::sync::OnceLock;

use sparring_transport::http::{Tls, TlsClient};

/// Whom to trust.
#[derive(Debug)]
pub(crate) struct Trust {
    tls: Tls,
    ready: OnceLock<Result<TlsClient, String>>,
}

impl Trust {
    pub(crate) fn new(tls: Tls) -> Self {
        Trust { tls, ready: OnceLock::new() }
    }

    /// TLS, or why there is none.
    pub(super) fn client(&self) -> Result<&TlsClient, String> {
        let ready =
            self.ready.get_or_init(|| TlsClient::new(&self.tls).map_err(|error| error.to_string()));
        ready.as_ref().map_err(Clone::clone)
    }
}
