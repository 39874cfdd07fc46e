//! Unix sockets, both ends: lines over a stream.

use std::io;
use std::path::Path;

use sparring_peer::link::LinesOptions;
use sparring_peer::{Lines, Link};
use tokio::net::{UnixListener, UnixStream};

/// Connects to a socket.
///
/// # Errors
/// When nobody listens there; the error names the path.
pub async fn connect_unix(path: &Path) -> io::Result<impl Link + use<>> {
    connect_unix_with(path, LinesOptions::default()).await
}

/// Connects to a socket whose lines are read so.
pub(crate) async fn connect_unix_with(
    path: &Path,
    options: LinesOptions,
) -> io::Result<impl Link + use<>> {
    let stream = UnixStream::connect(path).await.map_err(|error| naming(path, &error))?;
    let (reader, writer) = tokio::io::split(stream);
    Ok(Lines::new(reader, writer, options).named("unix"))
}

/// Listens on a socket that is not there yet; the file goes with the listener.
///
/// # Errors
/// When the socket cannot be made; the error names the path.
pub fn listen_unix(path: &Path) -> io::Result<Listener> {
    let listener = UnixListener::bind(path).map_err(|error| naming(path, &error))?;
    Ok(Listener { listener, path: path.to_owned() })
}

/// A socket that clients connect to.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: std::path::PathBuf,
}

impl Listener {
    /// The link to the next client.
    ///
    /// # Errors
    /// When the system has no more room for connections.
    pub async fn accept(&self) -> io::Result<impl Link + use<>> {
        self.listener.accept().await.map(|(stream, _)| Lines::over(stream).named("unix"))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The same error, with the path it is about.
pub(crate) fn naming(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
