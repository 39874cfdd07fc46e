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
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # use std::time::Duration;
    /// # let mock = MockServer::from_yaml("tools: [{name: stuck, fault: {silent: true}}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let stuck = client.call_tool("stuck", json!({})).timeout(Duration::from_millis(50));
    /// let error = stuck.wait().expect_err("it never answers");
    /// assert!(error.to_string().starts_with("no answer to tools/call within 50ms"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn timeout(self, timeout: Duration) -> Self {
        Call { request: self.request.timeout(timeout), ..self }
    }

    /// Asks the server for progress, and hears of it. In bytes of the caller's
    /// own nothing is added: they must have the request's id as `progressToken`.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}, {progress: 2}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let (tell, told) = std::sync::mpsc::channel();
    /// let copy = client.call_tool("copy", json!({})).on_progress(move |it| {
    ///     tell.send(it.progress).unwrap();
    /// });
    /// copy.wait()?.assert_success();
    /// assert_eq!(told.try_iter().collect::<Vec<_>>(), [1.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_progress(self, tell: impl FnMut(Progress) + Send + 'static) -> Self {
        Call { request: self.request.on_progress(tell), ..self }
    }

    /// Makes the request without waiting for its answer.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: slow, delay: 50ms, text: done}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let slow = client.call_tool("slow", json!({})).start();
    /// client.list_tools().wait()?.assert_has("slow");
    /// slow.wait()?.assert_text("done");
    /// client.snapshot().assert_order([Step::sent("tools/call"), Step::sent("tools/list")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer};
/// # use serde_json::json;
/// # use sparring::client::InFlight;
/// # let mock = MockServer::from_yaml(
/// #     "tools: [{name: slow, delay: 50ms, text: done}]",
/// #     ".",
/// # )?;
/// # let client = Client::in_memory(mock).wait()?;
/// let first: InFlight = client.call_tool("slow", json!({})).start();
/// let second: InFlight = client.call_tool("slow", json!({})).start();
/// first.wait()?.assert_text("done");
/// second.wait()?.assert_text("done");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: wait, delay: 60s, text: done}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let call = client.call_tool("wait", json!({})).start();
    /// call.cancel(Some("no time"));
    /// assert!(call.wait().is_err());
    /// client.ping().wait()?;
    /// client.snapshot().assert_cancelled("tools/call", "no time");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel(&self, reason: Option<&str>) {
        self.request.cancel(reason);
    }

    /// The same line and scene, for an answer that cannot be used.
    #[cfg(feature = "typed")]
    pub(crate) fn failed(&self, error: sparring_peer::client::Error) -> Error {
        Error::client(error, self.at, &self.scene)
    }

    /// Lets the request take its course; nobody wants its answer.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: work, text: ok, during: [{delay: 50ms}, {notify: acme/done}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("work", json!({})).start().forget();
    /// client.wait_for_notifications(1).of("notifications/acme/done").wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
