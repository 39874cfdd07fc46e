//! Requests in a build without OAuth, in the place of `admission`: nothing is done to be
//! let in, but for what their headers say.

use http::Method;
use sparring_peer::Cause;

use super::super::call::Content;
use super::super::effort::Effort;
use super::super::endpoint::Endpoint;
use super::super::note::Note;
use super::super::opened::Opened;
use super::super::{HttpError, HttpTarget};
use super::Wire;
use crate::secrets::Secrets;

/// Nothing that would have to be kept.
pub(super) struct Admission;

impl Admission {
    pub(super) fn of(_: &HttpTarget, _: &Endpoint, _: &Secrets) -> Result<Self, HttpError> {
        Ok(Admission)
    }

    pub(super) fn again(&self) -> Self {
        Admission
    }
}

impl Wire {
    /// Makes a request.
    pub(super) async fn call(
        &self,
        method: &Method,
        _: Effort,
        content: Content<'_>,
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        self.caller.call(method, content, note).await
    }

    /// No request waits for a token.
    pub(in super::super) fn is_held(&self) -> bool {
        false
    }
}
