//! One request: its timeout, its callbacks, and its cancellation.

use std::borrow::Cow;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sparring_wire::{Frame, Json, RawJson};
use tokio::sync::oneshot;

use super::core::Request;
use super::driver::{Command, Listener, Waiter};
use super::server_requests::{ScopedHandler, ServerRequestHandler};
use super::{Client, Error, Response};

/// Builds a request. Awaiting it sends it.
#[must_use = "a request is made when it is awaited or started"]
pub struct RequestBuilder {
    client: Client,
    content: RequestContent,
    timeout: Option<Duration>,
    listener: Option<Box<Listener>>,
    handler: Option<ScopedHandler>,
}

enum RequestContent {
    Request(Cow<'static, str>, Option<RawJson>),
    Frame(Frame),
}

/// The progress of a request, as the server reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The amount done.
    pub progress: f64,
    /// The total amount, if it is known.
    pub total: Option<f64>,
    /// A description of the current work.
    pub message: Option<String>,
}

impl Progress {
    pub(super) fn parse(frame: &Frame) -> Option<Progress> {
        let params = frame.params()?;
        Some(Progress {
            progress: params.get("progress").and_then(Json::as_f64)?,
            total: params.get("total").and_then(Json::as_f64),
            message: params.get("message").and_then(Json::as_str).map(Into::into),
        })
    }
}

impl RequestBuilder {
    pub(super) fn new(client: Client, method: Cow<'static, str>, params: Option<RawJson>) -> Self {
        RequestBuilder {
            timeout: client.timeout,
            client,
            content: RequestContent::Request(method, params),
            listener: None,
            handler: None,
        }
    }

    pub(super) fn from_frame(client: Client, frame: Frame) -> Self {
        let (timeout, content) = (client.timeout, RequestContent::Frame(frame));
        RequestBuilder { timeout, client, content, listener: None, handler: None }
    }

    /// Sets the timeout, instead of the client's.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Asks the server for progress, and calls `callback` with it. A request made
    /// from bytes is sent unchanged: its `progressToken` must be its id.
    pub fn on_progress(mut self, callback: impl FnMut(Progress) + Send + 'static) -> Self {
        self.listener = Some(Box::new(Listener::Progress(Box::new(callback))));
        self
    }

    /// Answers the server requests that this request causes, instead of the
    /// client's own handlers. The client still declares the capabilities.
    ///
    /// Not every link reports which request caused a server request. Then the
    /// handler of the newest request in flight answers, provided that all
    /// requests in flight have the same `party`. Otherwise the server request is
    /// refused, so that one party never sees another's.
    pub fn with_server_request_handler(
        mut self,
        party: u64,
        by: Arc<dyn ServerRequestHandler>,
    ) -> Self {
        self.handler = Some(ScopedHandler { party, handler: by });
        self
    }

    pub(super) fn listener(mut self, listener: Listener) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Sends the request without waiting for its response.
    pub fn start(self) -> PendingRequest {
        let (reply, answer) = oneshot::channel();
        let key = self.client.next_key();
        let progress = matches!(self.listener.as_deref(), Some(Listener::Progress(_)));
        let waiter = Waiter { key, reply, listener: self.listener, handler: self.handler };
        let (method, command) = match self.content {
            RequestContent::Request(method, params) => {
                let timeout = self.timeout;
                let request = Request { method: method.clone(), params, timeout, progress };
                (method, Command::Request(request, waiter))
            }
            RequestContent::Frame(frame) => {
                let method = frame.method().unwrap_or("raw bytes").to_owned().into();
                (method, Command::RequestFrame(frame, self.timeout, waiter))
            }
        };
        self.client.send_command(command);
        PendingRequest { client: self.client, method, key, answer: Some(answer) }
    }
}

impl IntoFuture for RequestBuilder {
    type Output = Result<Response, Error>;
    type IntoFuture = PendingRequest;

    fn into_future(self) -> PendingRequest {
        self.start()
    }
}

/// A request in flight. Dropping it before the response cancels it.
#[must_use = "a request that is dropped is cancelled"]
pub struct PendingRequest {
    client: Client,
    method: Cow<'static, str>,
    key: u64,
    /// None once the response has arrived.
    answer: Option<oneshot::Receiver<Result<Response, Error>>>,
}

impl PendingRequest {
    /// Cancels the request and sends the reason to the server. Awaiting it then
    /// returns [`Error::Cancelled`], unless the response had already arrived.
    pub fn cancel(&self, reason: Option<&str>) {
        self.client.send_command(Command::Cancel(self.key, reason.map(str::to_owned)));
    }

    /// Lets the request continue without waiting for its response.
    pub fn detach(mut self) {
        self.answer = None;
    }
}

impl Future for PendingRequest {
    type Output = Result<Response, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let received = match &mut self.answer {
            Some(answer) => std::task::ready!(Pin::new(answer).poll(cx)),
            None => Ok(Err(Error::Cancelled { method: self.method.to_string() })),
        };
        self.answer = None;
        // The driver has dropped the sender, so the connection has ended.
        Poll::Ready(received.unwrap_or_else(|_| {
            let (method, cause) = (self.method.to_string(), self.client.close_cause());
            Err(Error::Closed { method, cause })
        }))
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if self.answer.is_some() {
            self.cancel(None);
        }
    }
}
