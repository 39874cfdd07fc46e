//! One request of a test: the peer's, with the line that made it.

use std::future::IntoFuture;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use sparring_peer::client::{Progress, RequestBuilder};

use crate::scene::Scene;
use crate::{Error, Response};

/// A request to be; awaiting it makes it.
///
/// One that is forgotten is warned of, and where warnings are errors it does not
/// compile:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// # fn check(client: &sparring::Client) {
/// client.call_tool("greet", serde_json::json!({}));
/// # }
/// ```
///
/// So is an answer that nobody checks:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// # async fn check(client: &sparring::Client) -> Result<(), sparring::Error> {
/// client.call_tool("greet", serde_json::json!({})).await?;
/// # Ok(())
/// # }
/// ```
///
/// With its check it does:
///
/// ```
/// #![deny(unused_must_use)]
/// # async fn check(client: &sparring::Client) -> Result<(), sparring::Error> {
/// client.call_tool("greet", serde_json::json!({})).await?.assert_success();
/// # Ok(())
/// # }
/// ```
#[must_use = "a request is made when it is awaited or started"]
pub struct Call {
    request: RequestBuilder,
    asked: String,
    at: &'static Location<'static>,
    scene: Scene,
}

impl Call {
    /// `asked` is what failures call it: its method, and what it is about.
    #[track_caller]
    pub(crate) fn new(request: RequestBuilder, asked: impl Into<String>, scene: &Scene) -> Self {
        Call { request, asked: asked.into(), at: Location::caller(), scene: scene.clone() }
    }

    /// Waits this long instead of the client's own timeout.
    pub fn timeout(self, timeout: Duration) -> Self {
        Call { request: self.request.timeout(timeout), ..self }
    }

    /// Asks the server for progress, and hears of it. In bytes of the caller's
    /// own nothing is added: they must have the request's id as `progressToken`.
    pub fn on_progress(self, tell: impl FnMut(Progress) + Send + 'static) -> Self {
        Call { request: self.request.on_progress(tell), ..self }
    }

    /// Makes the request without waiting for its answer.
    pub fn start(self) -> InFlight {
        let Call { request, asked, at, scene } = self;
        InFlight { request: request.start(), asked, at, scene }
    }
}

impl IntoFuture for Call {
    type Output = Result<Response, Error>;
    type IntoFuture = InFlight;

    fn into_future(self) -> InFlight {
        self.start()
    }
}

/// A request in flight. Dropped before its answer, it is cancelled.
#[must_use = "a request that is dropped is cancelled"]
pub struct InFlight {
    request: sparring_peer::client::InFlight,
    asked: String,
    at: &'static Location<'static>,
    scene: Scene,
}

impl InFlight {
    /// Gives the request up and tells the server why. Awaiting it then gives an
    /// error, unless the answer was there before.
    pub fn cancel(&self, reason: Option<&str>) {
        self.request.cancel(reason);
    }

    /// The same line and scene, for an answer that cannot be used.
    #[cfg(feature = "typed")]
    pub(crate) fn failed(&self, error: sparring_peer::client::Error) -> Error {
        Error::client(error, self.at, &self.scene)
    }

    /// Lets the request take its course; nobody wants its answer.
    pub fn forget(self) {
        self.request.forget();
    }
}

impl Future for InFlight {
    type Output = Result<Response, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(Pin::new(&mut self.request).poll(cx));
        Poll::Ready(match answer {
            Ok(response) => {
                Ok(Response::new(response, std::mem::take(&mut self.asked), self.scene.clone()))
            }
            Err(error) => Err(Error::client(error, self.at, &self.scene)),
        })
    }
}
