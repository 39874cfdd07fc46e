//! Unix sockets for the client and the server: lines over a stream.

use std::io;
use std::path::Path;

use sparring_peer::link::LineLinkOptions;
use sparring_peer::{LineLink, Link};
use tokio::net::{UnixListener, UnixStream};

/// Connects to a socket.
///
/// # Errors
/// When no server listens on the socket; the error names the path.
pub async fn connect_unix(path: &Path) -> io::Result<impl Link + use<>> {
    connect_unix_with(path, LineLinkOptions::default()).await
}

/// Connects to a socket with these line options.
pub(crate) async fn connect_unix_with(
    path: &Path,
    options: LineLinkOptions,
) -> io::Result<impl Link + use<>> {
    let stream = UnixStream::connect(path).await.map_err(|error| with_path(path, &error))?;
    let (reader, writer) = tokio::io::split(stream);
    Ok(LineLink::new(reader, writer, options).with_transport_name("unix"))
}

/// Listens on a new socket; dropping the listener removes its file.
///
/// # Errors
/// When the socket cannot be created; the error names the path.
pub fn listen_unix(path: &Path) -> io::Result<Listener> {
    let listener = UnixListener::bind(path).map_err(|error| with_path(path, &error))?;
    Ok(Listener { listener, path: path.to_owned() })
}

/// A socket that clients connect to.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: std::path::PathBuf,
}

impl Listener {
    /// Waits for the next client and returns the link to it.
    ///
    /// # Errors
    /// When the system cannot accept more connections.
    pub async fn accept(&self) -> io::Result<impl Link + use<>> {
        self.listener
            .accept()
            .await
            .map(|(stream, _)| LineLink::from_stream(stream).with_transport_name("unix"))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Adds the path to an error.
pub(crate) fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
