//! Listeners for clients: TCP ports and Unix sockets.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

/// Accepts connections.
pub trait Listener: Send + 'static {
    /// The type of a connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Accepts the next connection.
    fn accept(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// Returns the TCP address, if it has one.
    fn address(&self) -> Option<SocketAddr>;

    /// Returns the file to remove with the listener.
    fn file(&self) -> Option<PathBuf> {
        None
    }
}

/// A connection of any kind.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A listener of any kind, so that the serving code is compiled once.
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

/// The number of connections that wait to be accepted.
const BACKLOG: u32 = 1_024;

/// Listens on a TCP port, with a longer queue of connections than the default.
///
/// # Errors
/// If it cannot listen on the address.
pub fn listen_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As `TcpListener::bind` does.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<TcpStream> {
        let (stream, _) = TcpListener::accept(self).await?;
        // A response is written as a whole and needs no delay. Fails if the client has already
        // gone, which a read or a write will show.
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
