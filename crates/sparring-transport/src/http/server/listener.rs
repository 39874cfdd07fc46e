//! What clients connect to: a port or a Unix socket.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

/// Something that takes connections.
pub trait Listener: Send + 'static {
    /// One connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// The next connection.
    fn accept(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// Its address, where it has one that can be connected to by TCP.
    fn address(&self) -> Option<SocketAddr>;

    /// The file that is to go with it.
    fn file(&self) -> Option<PathBuf> {
        None
    }
}

/// A connection of whatever kind.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A listener of whatever kind, so that what serves them is built once.
pub(super) trait AnyListener: Send {
    fn accept(&self) -> BoxFuture<'_, io::Result<Box<dyn Stream>>>;
    fn address(&self) -> Option<SocketAddr>;
    fn file(&self) -> Option<PathBuf>;
}

impl<L: Listener> AnyListener for L {
    fn accept(&self) -> BoxFuture<'_, io::Result<Box<dyn Stream>>> {
        let accepted = Listener::accept(self);
        Box::pin(async { accepted.await.map(|stream| Box::new(stream) as Box<dyn Stream>) })
    }

    fn address(&self) -> Option<SocketAddr> {
        Listener::address(self)
    }

    fn file(&self) -> Option<PathBuf> {
        Listener::file(self)
    }
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<TcpStream> {
        let (stream, _) = TcpListener::accept(self).await?;
        // An answer is written whole, and waits for nothing.
        // That fails where the client has gone already, which is seen soon enough.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }

    fn address(&self) -> Option<SocketAddr> {
        self.local_addr().ok()
    }
}

#[cfg(unix)]
impl Listener for UnixListener {
    type Stream = UnixStream;

    async fn accept(&self) -> io::Result<UnixStream> {
        UnixListener::accept(self).await.map(|(stream, _)| stream)
    }

    fn address(&self) -> Option<SocketAddr> {
        None
    }

    fn file(&self) -> Option<PathBuf> {
        self.local_addr().ok()?.as_pathname().map(PathBuf::from)
    }
}
