//! One request being made: how long it may take, who hears of its progress,
//! and how to give it up.

use std::borrow::Cow;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sparring_wire::{Frame, Json, RawJson};
use tokio::sync::oneshot;

use super::answers::{Answerer, Answering};
use super::core::Request;
use super::driver::{Command, Listener, Waiter};
use super::{Client, Error, Response};

/// A request to be; awaiting it makes it.
#[must_use = "a request is made when it is awaited or started"]
pub struct RequestBuilder {
    client: Client,
    what: What,
    timeout: Option<Duration>,
    listener: Option<Box<Listener>>,
    answerer: Option<Answerer>,
}

enum What {
    Request(Cow<'static, str>, Option<RawJson>),
    Frame(Frame),
}

/// How far a request has come, as the server says.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How much is done.
    pub progress: f64,
    /// How much there is to do, where it is known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

impl Progress {
    pub(super) fn read(frame: &Frame) -> Option<Progress> {
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
            what: What::Request(method, params),
            listener: None,
            answerer: None,
        }
    }

    pub(super) fn of_frame(client: Client, frame: Frame) -> Self {
        let (timeout, what) = (client.timeout, What::Frame(frame));
        RequestBuilder { timeout, client, what, listener: None, answerer: None }
    }

    /// Waits this long instead of the client's own timeout.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Asks the server for progress, and hears of it. In bytes of the caller's
    /// own nothing is added: they must have the request's id as `progressToken`.
    pub fn on_progress(mut self, tell: impl FnMut(Progress) + Send + 'static) -> Self {
        self.listener = Some(Box::new(Listener::Progress(Box::new(tell))));
        self
    }

    /// Answers what the server asks because of this request, by method and
    /// params, instead of the client. Capabilities are the client's to declare.
    ///
    /// Not every link says which request a question belongs to. Then it is asked
    /// for the newest of those in flight, if they are all of one `party`, and
    /// refused if not: nobody shall see what is asked of another.
    pub fn answered_by(mut self, party: u64, by: Arc<dyn Answering>) -> Self {
        self.answerer = Some(Answerer { party, by });
        self
    }

    pub(super) fn listener(mut self, listener: Listener) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Makes the request without waiting for its answer.
    pub fn start(self) -> InFlight {
        let (reply, answer) = oneshot::channel();
        let key = self.client.key();
        let progress = matches!(self.listener.as_deref(), Some(Listener::Progress(_)));
        let waiter = Waiter { key, reply, listener: self.listener, answerer: self.answerer };
        let (method, command) = match self.what {
            What::Request(method, params) => {
                let timeout = self.timeout;
                let request = Request { method: method.clone(), params, timeout, progress };
                (method, Command::Request(request, waiter))
            }
            What::Frame(frame) => {
                let method = frame.method().unwrap_or("raw bytes").to_owned().into();
                (method, Command::RequestFrame(frame, self.timeout, waiter))
            }
        };
        self.client.command(command);
        InFlight { client: self.client, method, key, answer: Some(answer) }
    }
}

impl IntoFuture for RequestBuilder {
    type Output = Result<Response, Error>;
    type IntoFuture = InFlight;

    fn into_future(self) -> InFlight {
        self.start()
    }
}

/// A request in flight. Dropped before its answer, it is cancelled.
#[must_use = "a request that is dropped is cancelled"]
pub struct InFlight {
    client: Client,
    method: Cow<'static, str>,
    key: u64,
    /// Gone once the answer has come.
    answer: Option<oneshot::Receiver<Result<Response, Error>>>,
}

impl InFlight {
    /// Gives the request up and tells the server why. Awaiting it then gives
    /// [`Error::Cancelled`], unless the answer was there before.
    pub fn cancel(&self, reason: Option<&str>) {
        self.client.command(Command::Cancel(self.key, reason.map(str::to_owned)));
    }

    /// Lets the request take its course; nobody wants its answer.
    pub fn forget(mut self) {
        self.answer = None;
    }
}

impl Future for InFlight {
    type Output = Result<Response, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let received = match &mut self.answer {
            Some(answer) => std::task::ready!(Pin::new(answer).poll(cx)),
            None => Ok(Err(Error::Cancelled { method: self.method.to_string() })),
        };
        self.answer = None;
        // The driver dropped the sender: it is gone, and so is the connection.
        Poll::Ready(received.unwrap_or_else(|_| {
            let (method, cause) = (self.method.to_string(), self.client.cause());
            Err(Error::Closed { method, cause })
        }))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.answer.is_some() {
            self.cancel(None);
        }
    }
}
