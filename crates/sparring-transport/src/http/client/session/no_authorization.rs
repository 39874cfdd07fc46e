//! Replaces `authorization` in builds without the feature `oauth`: requests are authorized by
//! their headers only.

use http::Method;
use sparring_peer::Cause;

use super::super::endpoint::Endpoint;
use super::super::exchange_recorder::ExchangeRecorder;
use super::super::http_client::ContentFn;
use super::super::locality::PeerLocality;
use super::super::response::HttpResponse;
use super::super::{HttpError, HttpTarget};
use super::{AuthPolicy, ClientSession};
use crate::secrets::Secrets;

/// Needs no state.
pub(super) struct Authorization;

impl Authorization {
    pub(super) fn new(
        _: &HttpTarget,
        _: &Endpoint,
        _: &Secrets,
        _: PeerLocality,
    ) -> Result<Self, HttpError> {
        Ok(Authorization)
    }

    pub(super) fn for_new_session(&self) -> Self {
        Authorization
    }
}

impl ClientSession {
    /// Sends a request.
    pub(in super::super) async fn send_http(
        &self,
        method: &Method,
        _: AuthPolicy,
        content: ContentFn<'_>,
        exchange: &mut ExchangeRecorder,
    ) -> Result<Box<HttpResponse>, Cause> {
        self.client.send(method, content, exchange).await
    }

    /// No request waits for a token.
    pub(in super::super) fn is_waiting_for_token(&self) -> bool {
        false
    }
}
