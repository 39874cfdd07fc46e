//! One request of a test, with the line that made it.

use std::future::IntoFuture;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use sparring_peer::client::{Progress, RequestBuilder};
use sparring_wire::{Revision, Violation};

use crate::failure_context::FailureContext;
use crate::{Error, Response};

/// A request that has not been sent yet; awaiting it sends it.
///
/// The compiler warns about a call that is not awaited, so it does not compile where
/// warnings are errors:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// # fn check(client: &sparring::Client) {
/// client.call_tool("greet", serde_json::json!({}));
/// # }
/// ```
///
/// The same holds for a response without a check:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// # async fn check(client: &sparring::Client) -> Result<(), sparring::Error> {
/// client.call_tool("greet", serde_json::json!({})).await?;
/// # Ok(())
/// # }
/// ```
///
/// With a check it compiles:
///
/// ```
/// #![deny(unused_must_use)]
/// # async fn check(client: &sparring::Client) -> Result<(), sparring::Error> {
/// client.call_tool("greet", serde_json::json!({})).await?.assert_success();
/// # Ok(())
/// # }
/// ```
#[must_use = "a request is sent when it is awaited or started"]
pub struct Call {
    request: RequestBuilder,
    label: String,
    at: &'static Location<'static>,
    context: FailureContext,
    kind: CallKind,
}

/// The part of a request that the check of its response needs.
#[derive(Default)]
pub(super) enum CallKind {
    /// A call of a tool, in a revision with output schemas.
    Tool(String, Revision),
    ListTools,
    #[default]
    Other,
}

impl Call {
    /// `label` names the request in failures: its method, and its tool, prompt or URI.
    #[track_caller]
    pub(crate) fn new(
        request: RequestBuilder,
        label: impl Into<String>,
        context: &FailureContext,
    ) -> Self {
        let (label, context) = (label.into(), context.clone());
        Call { request, label, at: Location::caller(), context, kind: CallKind::Other }
    }

    pub(super) fn of_kind(self, kind: CallKind) -> Self {
        Call { kind, ..self }
    }

    /// Sets a timeout for this request [default: the client's timeout].
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

    /// Requests progress from the server, and calls `on_progress` for each report. A
    /// request from [`request_bytes`](crate::Client::request_bytes) is not changed: its
    /// bytes must have the request's id as `progressToken`.
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
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let copy = client.call_tool("copy", json!({})).on_progress(move |it| {
    ///     sender.send(it.progress).unwrap();
    /// });
    /// copy.wait()?.assert_success();
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_progress(self, on_progress: impl FnMut(Progress) + Send + 'static) -> Self {
        Call { request: self.request.on_progress(on_progress), ..self }
    }

    /// Sends the request without waiting for the response.
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
    pub fn start(self) -> PendingRequest {
        let Call { request, label, at, context, kind } = self;
        PendingRequest { request: request.start(), label, at, context, kind }
    }
}

impl IntoFuture for Call {
    type Output = Result<Response, Error>;
    type IntoFuture = PendingRequest;

    fn into_future(self) -> PendingRequest {
        self.start()
    }
}

/// A request that was sent. Dropping it before the response cancels it.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer};
/// # use serde_json::json;
/// # use sparring::client::PendingRequest;
/// # let mock = MockServer::from_yaml(
/// #     "tools: [{name: slow, delay: 50ms, text: done}]",
/// #     ".",
/// # )?;
/// # let client = Client::in_memory(mock).wait()?;
/// let first: PendingRequest = client.call_tool("slow", json!({})).start();
/// let second: PendingRequest = client.call_tool("slow", json!({})).start();
/// first.wait()?.assert_text("done");
/// second.wait()?.assert_text("done");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping the request cancels it"]
pub struct PendingRequest {
    request: sparring_peer::client::PendingRequest,
    label: String,
    at: &'static Location<'static>,
    context: FailureContext,
    kind: CallKind,
}

impl PendingRequest {
    /// Checks the result of a tool against its output schema; remembers the schemas of
    /// listed tools.
    fn check_output(&self, response: &sparring_peer::Response) -> Vec<Violation> {
        let Some(result) = response.result().filter(|_| response.success()) else {
            return Vec::new();
        };
        let schemas = self.context.output_schemas();
        match &self.kind {
            CallKind::Tool(tool, revision) => {
                let found = schemas.check(*revision, tool, result);
                let transcript = self.context.transcript();
                found.iter().for_each(|it| transcript.record_violation(it.clone()));
                found
            }
            CallKind::ListTools => {
                schemas.learn_result(result);
                Vec::new()
            }
            CallKind::Other => Vec::new(),
        }
    }

    /// Cancels the request, with an optional reason for the server. Awaiting it then
    /// returns an error, unless the response came first.
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

    /// Adds the line and the failure context of this request to an error.
    #[cfg(feature = "typed")]
    pub(crate) fn to_error(&self, error: sparring_peer::client::Error) -> Error {
        Error::client(error, self.at, &self.context)
    }

    /// Drops the handle without cancelling the request, and ignores the response.
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
    /// client.wait_for_notifications(1).method("notifications/acme/done").wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forget(self) {
        self.request.detach();
    }
}

impl Future for PendingRequest {
    type Output = Result<Response, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(Pin::new(&mut self.request).poll(cx));
        Poll::Ready(match answer {
            Ok(response) => {
                let violations = self.check_output(&response);
                let (label, context) = (std::mem::take(&mut self.label), self.context.clone());
                Ok(Response::new(response, label, context, violations))
            }
            Err(error) => Err(Error::client(error, self.at, &self.context)),
        })
    }
}
