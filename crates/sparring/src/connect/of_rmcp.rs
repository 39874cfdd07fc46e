//! A service of the official SDK in this process: over bytes, as the SDK has
//! no other way, and with the word of the SDK on why it ended.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rmcp::service::{QuitReason, Service};
use rmcp::{RoleServer, ServiceExt as _};
use sparring_peer::link::Recorder;
use sparring_peer::{Cause, Incoming, Lines, Link, LinkKind, Outgoing};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

use super::{InMemory, Opened, kind};

/// How many bytes are under way before whoever writes has to wait.
const UNDER_WAY: usize = 64 * 1024;

impl<S: Service<RoleServer>> InMemory<kind::OfRmcp> for S {
    fn attach(self) -> Opened {
        let (here, there) = tokio::io::duplex(UNDER_WAY);
        let link = Lines::over(here).named("duplex");
        Opened::of(Told { link, service: serve(self, there), ended: None }, "an rmcp service")
    }
}

/// Serves a stream in the background, until it ends.
pub(crate) fn serve<S, T>(service: S, stream: T) -> JoinHandle<Result<(), String>>
where
    S: Service<RoleServer>,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    tokio::spawn(async move {
        let running = service.serve(stream).await.map_err(|error| error.to_string())?;
        match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => Err(error.to_string()),
            Ok(_) => Ok(()),
        }
    })
}

/// A link to a service that says why it ended, where the SDK does. Dropped, the
/// service ends too.
struct Told {
    link: Lines<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>,
    service: JoinHandle<Result<(), String>>,
    ended: Option<Cause>,
}

impl Drop for Told {
    fn drop(&mut self) {
        self.service.abort();
    }
}

impl Link for Told {
    fn kind(&self) -> LinkKind {
        self.link.kind()
    }

    fn transport(&self) -> &'static str {
        self.link.transport()
    }

    fn record_to(&mut self, recorder: Recorder) {
        self.link.record_to(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        self.link.send(outgoing);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.link.poll_flush(cx)
    }

    fn backlog(&self) -> usize {
        self.link.backlog()
    }

    fn closing_time(&self) -> Duration {
        self.link.closing_time()
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Some(cause) = &self.ended {
            return Poll::Ready(Incoming::Closed(cause.clone()));
        }
        let cause = match ready!(self.link.poll_receive(cx)) {
            // Its end of the stream goes with the service, so the reason is
            // there, or about to be.
            Incoming::Closed(Cause::EndOfInput) => {
                match ready!(Pin::new(&mut self.service).poll(cx)) {
                    Ok(Ok(())) => Cause::EndOfInput,
                    Ok(Err(why)) => Cause::Broken(format!("the rmcp service ended: {why}")),
                    Err(error) => Cause::Broken(format!("the rmcp service ended: {error}")),
                }
            }
            Incoming::Closed(cause) => cause,
            incoming => return Poll::Ready(incoming),
        };
        Poll::Ready(Incoming::Closed(self.ended.insert(cause).clone()))
    }
}
