//! Authorizes requests and builds the refusals.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::{HeaderValue, WWW_AUTHENTICATE};
use sparring_wire::Frame;

use super::Shared;
use super::auth::{Access, AuthDenied};
use super::metadata::ProtectedResource;
use super::reply::Refusal;
use super::routes::Route;

impl Shared {
    /// Authorizes a request.
    pub(super) fn authorize(&self, route: Route, headers: &HeaderMap) -> Result<Access, Refusal> {
        let auth = &self.options.auth;
        // The resource URL is only needed for authorization.
        let resource = match auth.is_open() {
            true => String::new(),
            false => self.metadata().resource_url(headers, self.resource_path(route)),
        };
        let checked = auth.check(headers, &resource);
        checked.map_err(|error| self.auth_refusal(&error, route, headers))
    }

    /// Checks that an authorized request may send this frame.
    pub(super) fn check_access(
        &self,
        route: Route,
        headers: &HeaderMap,
        access: &Access,
        frame: &Frame,
    ) -> Result<(), Refusal> {
        let checked = self.options.auth.check_frame(access, frame);
        checked.map_err(|error| self.auth_refusal(&error, route, headers).with_id(frame.id()))
    }

    fn auth_refusal(&self, error: &AuthDenied, route: Route, headers: &HeaderMap) -> Refusal {
        let metadata = self.options.metadata.as_ref();
        let metadata = metadata.map(|it| it.metadata_url(headers, self.resource_path(route)));
        let mut refusal = Refusal::new(error.status(), error.message());
        for challenge in self.options.auth.challenges(error, metadata.as_deref()) {
            if let Ok(value) = HeaderValue::from_str(&challenge) {
                refusal = refusal.with_header(WWW_AUTHENTICATE, value);
            }
        }
        refusal
    }

    /// Returns the path of the protected resource for a route.
    fn resource_path(&self, route: Route) -> &str {
        match route {
            Route::Sse | Route::Messages => self.sse_path().unwrap_or(&self.options.path),
            Route::Mcp | Route::Metadata => &self.options.path,
        }
    }

    fn metadata(&self) -> Cow<'_, ProtectedResource> {
        match &self.options.metadata {
            Some(metadata) => Cow::Borrowed(metadata),
            None => Cow::Owned(ProtectedResource::default()),
        }
    }
}
