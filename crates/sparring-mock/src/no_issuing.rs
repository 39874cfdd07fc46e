//! The place of `issuing` in a build without OAuth: nobody stands beside a mock.

use std::net::SocketAddr;

use http::{Response, StatusCode};
use sparring_transport::http::Visit;

use crate::control::{Told, said};

/// Nobody.
#[derive(Debug, Clone)]
pub(crate) struct Issuing;

impl Issuing {
    pub(crate) fn reset(&self) {}

    pub(crate) fn lives_at(&self, _: SocketAddr) {}

    pub(crate) fn serves(&self, _: &str) -> bool {
        false
    }

    pub(crate) fn visited(&self, _: Visit<'_>) -> Response<bytes::Bytes> {
        unreachable!("nobody is visited who serves no path")
    }

    /// What is answered below `/_spar/oauth`.
    pub(crate) fn told(&self, _: &str, _: &Visit<'_>) -> Told {
        said(
            StatusCode::NOT_FOUND,
            "an issuer needs the feature `oauth`, which this build does not have",
        )
    }
}
