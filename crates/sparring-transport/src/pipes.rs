//! Named pipes, both ends: one for each direction, side by side in the file
//! system.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use sparring_peer::link::LinesOptions;
use sparring_peer::{Lines, Link};
use tokio::net::unix::pipe;

use crate::socket::naming;

/// Two named pipes that make one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPipes {
    /// What the client writes and the server reads.
    pub to_server: PathBuf,
    /// What the server writes and the client reads.
    pub to_client: PathBuf,
}

impl NamedPipes {
    /// Names pipes that are there, or will be made: `BASE.in` and `BASE.out`,
    /// as the server sees them.
    pub fn at(base: &Path) -> Self {
        let named = |ending: &str| {
            let mut path = base.as_os_str().to_owned();
            path.push(ending);
            PathBuf::from(path)
        };
        NamedPipes { to_server: named(".in"), to_client: named(".out") }
    }

    /// Makes the pipes, for nobody but this user.
    ///
    /// # Errors
    /// When one cannot be made; the error names it.
    pub fn create(&self) -> io::Result<()> {
        for path in [&self.to_server, &self.to_client] {
            let mode = Mode::RUSR | Mode::WUSR;
            mknodat(CWD, path, FileType::Fifo, mode, 0)
                .map_err(|error| naming(path, &error.into()))?;
        }
        Ok(())
    }

    /// The server's end, once a client has come.
    ///
    /// # Errors
    /// When the pipes are not there, or nobody comes within that time.
    pub async fn open_as_server(&self, within: Duration) -> io::Result<impl Link + use<>> {
        let reading = open(&self.to_server, false, within).await?;
        let writing = open(&self.to_client, true, within).await?;
        lines(reading, writing)
    }

    /// The client's end, once a server has come.
    ///
    /// # Errors
    /// When the pipes are not there, or nobody comes within that time.
    pub async fn open_as_client(&self, within: Duration) -> io::Result<impl Link + use<>> {
        let writing = open(&self.to_server, true, within).await?;
        let reading = open(&self.to_client, false, within).await?;
        lines(reading, writing)
    }
}

fn lines(reading: File, writing: File) -> io::Result<impl Link + use<>> {
    let reader = pipe::Receiver::from_file(reading)?;
    let writer = pipe::Sender::from_file(writing)?;
    Ok(Lines::new(reader, writer, LinesOptions::default()))
}

/// Opens one end of a pipe, which waits until somebody opens the other.
async fn open(path: &Path, write: bool, within: Duration) -> io::Result<File> {
    let opening = {
        let path = path.to_owned();
        tokio::task::spawn_blocking(move || OpenOptions::new().read(!write).write(write).open(path))
    };
    tokio::pin!(opening);
    match tokio::time::timeout(within, &mut opening).await {
        Ok(opened) => opened.map_err(io::Error::other)?.map_err(|error| naming(path, &error)),
        Err(_) => {
            // Opening both ends at once never waits, and ends the waiting of
            // the thread that does.
            let _ = OpenOptions::new().read(true).write(true).open(path);
            let _ = opening.await;
            let message =
                format!("nobody opened the other end of {} within {within:?}", path.display());
            Err(io::Error::new(io::ErrorKind::TimedOut, message))
        }
    }
}
