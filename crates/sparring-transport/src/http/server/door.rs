//! The door of a server: whom it lets in, to do what, and what the others are
//! told.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::{HeaderValue, WWW_AUTHENTICATE};
use sparring_wire::Frame;

use super::Shared;
use super::auth::{Denied, Pass};
use super::metadata::ProtectedResource;
use super::reply::Refusal;
use super::routes::Route;

impl Shared {
    /// Whether somebody may come in, to do what.
    pub(super) fn authorize(&self, route: Route, headers: &HeaderMap) -> Result<Pass, Refusal> {
        let auth = &self.options.auth;
        // Whoever lets in everybody need not know where that is.
        let resource = match auth.is_open() {
            true => String::new(),
            false => self.metadata().address(headers, self.path_of(route)),
        };
        let checked = auth.check(headers, &resource);
        checked.map_err(|denied| self.refuse(&denied, route, headers))
    }

    /// Whether somebody who came in may also send this.
    pub(super) fn check_pass(
        &self,
        route: Route,
        headers: &HeaderMap,
        pass: &Pass,
        frame: &Frame,
    ) -> Result<(), Refusal> {
        let checked = self.options.auth.check_frame(pass, frame);
        checked.map_err(|denied| self.refuse(&denied, route, headers).to(frame.id()))
    }

    fn refuse(&self, denied: &Denied, route: Route, headers: &HeaderMap) -> Refusal {
        let metadata = self.options.metadata.as_ref();
        let metadata = metadata.map(|it| it.url(headers, self.path_of(route)));
        let mut refusal = Refusal::new(denied.status(), denied.message());
        for challenge in self.options.auth.challenges(denied, metadata.as_deref()) {
            if let Ok(value) = HeaderValue::from_str(&challenge) {
                refusal = refusal.header(WWW_AUTHENTICATE, value);
            }
        }
        refusal
    }

    /// Where what a client asks at is said to be.
    fn path_of(&self, route: Route) -> &str {
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
