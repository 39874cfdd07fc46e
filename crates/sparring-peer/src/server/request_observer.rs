//! Observes the requests that a server receives, with their responses. It has no clock: an
//! observer that measures time brings its own.

use std::fmt;
use std::sync::OnceLock;

use sparring_wire::Frame;

/// Called when a request arrives.
type OnRequest = dyn Fn(&Frame) -> OnResponse + Send + Sync;

/// Called with the response to a request. A request without a response drops it.
pub(super) type OnResponse = Box<dyn FnOnce(&Frame) + Send>;

/// The observer of a server's requests, if one is set.
#[derive(Default)]
pub(crate) struct RequestObserver(OnceLock<Box<OnRequest>>);

impl RequestObserver {
    /// Sets the observer, unless one is set already.
    pub(super) fn set<R>(&self, observer: impl Fn(&Frame) -> R + Send + Sync + 'static)
    where
        R: FnOnce(&Frame) + Send + 'static,
    {
        let observer: Box<OnRequest> = Box::new(move |request| Box::new(observer(request)));
        let _ = self.0.set(observer);
    }

    /// Reports a request.
    pub(super) fn received(&self, request: &Frame) -> Option<OnResponse> {
        self.0.get().map(|observer| observer(request))
    }
}

impl fmt::Debug for RequestObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestObserver")
    }
}
