//! Replaces `mock_issuer` in a build without OAuth: a mock has no issuer.

use std::net::SocketAddr;

use http::{Response, StatusCode};
use sparring_transport::http::ExtraRequest;

use crate::control::{ControlResponse, error_response};

/// No issuer.
#[derive(Debug, Clone)]
pub(crate) struct MockIssuer;

impl MockIssuer {
    pub(crate) fn reset(&self) {}

    pub(crate) fn set_address(&self, _: SocketAddr) {}

    pub(crate) fn serves(&self, _: &str) -> bool {
        false
    }

    pub(crate) fn answer(&self, _: ExtraRequest<'_>) -> Response<bytes::Bytes> {
        unreachable!("it serves no paths")
    }

    /// Answers requests below `/_spar/oauth`.
    pub(crate) fn control(&self, _: &str, _: &ExtraRequest<'_>) -> ControlResponse {
        error_response(
            StatusCode::NOT_FOUND,
            "an issuer needs the feature `oauth`, which this build does not have",
        )
    }
}
