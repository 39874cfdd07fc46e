//! Serves an rmcp service in this process. The SDK only serves byte streams, so the
//! link is one; it reports the reason of the SDK for ending the service.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::service::{QuitReason, Service};
use rmcp::{RoleServer, ServiceExt as _};
use sparring_peer::link::Recorder;
use sparring_peer::{Cause, Incoming, LineLink, Link, LinkInfo, Outgoing};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

use super::{DUPLEX_BUFFER_BYTES, InMemory, OpenedLink, kind};

impl<S: Service<RoleServer>> InMemory<kind::Rmcp> for S {
    fn attach(self) -> OpenedLink {
        let (here, there) = tokio::io::duplex(DUPLEX_BUFFER_BYTES);
        let link = LineLink::from_stream(here).with_transport_name("duplex");
        let link = RmcpLink { link, service: serve(self, there), ended: None };
        OpenedLink::new(link, "an rmcp service")
    }
}

/// Serves a stream in a background task until it ends.
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

/// A link to an rmcp service that reports the SDK's reason for the end of the service,
/// if there is one.
/// Dropping the link ends the service.
struct RmcpLink {
    link: LineLink<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>,
    service: JoinHandle<Result<(), String>>,
    ended: Option<Cause>,
}

impl Drop for RmcpLink {
    fn drop(&mut self) {
        self.service.abort();
    }
}

impl Link for RmcpLink {
    fn info(&self) -> LinkInfo {
        self.link.info()
    }

    fn set_recorder(&mut self, recorder: Recorder) {
        self.link.set_recorder(recorder);
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

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Some(cause) = &self.ended {
            return Poll::Ready(Incoming::Closed(cause.clone()));
        }
        let cause = match ready!(self.link.poll_receive(cx)) {
            // The service closes the stream when it ends, so its task has ended or
            // is about to.
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
