//! Named pipes for the client and the server: one pipe for each direction, next to each other
//! in the file system.
//!
//! Nothing here blocks, so a caller that stops waiting leaves nothing behind: a pipe is opened
//! without waiting and polled until the other end is open.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use sparring_peer::link::LineLinkOptions;
use sparring_peer::{LineLink, Link};
use tokio::net::unix::pipe;
use tokio::time::{sleep, timeout};

use crate::socket::with_path;

/// The interval between checks for the other end.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Two named pipes that make one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPipes {
    /// The pipe that the client writes and the server reads.
    pub to_server: PathBuf,
    /// The pipe that the server writes and the client reads.
    pub to_client: PathBuf,
}

impl NamedPipes {
    /// Names the pipes `BASE.in` and `BASE.out`, from the server's view. They need not exist
    /// yet.
    pub fn from_base(base: &Path) -> Self {
        let named = |ending: &str| {
            let mut path = base.as_os_str().to_owned();
            path.push(ending);
            PathBuf::from(path)
        };
        NamedPipes { to_server: named(".in"), to_client: named(".out") }
    }

    /// Creates the pipes, accessible to this user only.
    ///
    /// # Errors
    /// When a pipe cannot be created; the error names it, and no pipe is left.
    pub fn create(&self) -> io::Result<()> {
        make_fifo(&self.to_server).map_err(|error| with_path(&self.to_server, &error))?;
        make_fifo(&self.to_client).map_err(|error| {
            let _ = std::fs::remove_file(&self.to_server);
            with_path(&self.to_client, &error)
        })
    }

    /// Opens the server's end and waits for a client.
    ///
    /// # Errors
    /// When the pipes do not exist, or no client opens them within that time.
    pub async fn open_as_server(&self, within: Duration) -> io::Result<impl Link + use<>> {
        open(&self.to_server, &self.to_client, within).await
    }

    /// Opens the client's end and waits for a server.
    ///
    /// # Errors
    /// When the pipes do not exist, or no server opens them within that time.
    pub async fn open_as_client(&self, within: Duration) -> io::Result<impl Link + use<>> {
        open(&self.to_client, &self.to_server, within).await
    }
}

fn make_fifo(path: &Path) -> io::Result<()> {
    Ok(mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?)
}

/// Opens both pipes, the one to read first. Opening it never waits, so the other side finds one
/// of our ends, in any order of opening its own.
async fn open(from: &Path, to: &Path, within: Duration) -> io::Result<impl Link + use<>> {
    let reading = open_nonblocking(from, false)?;
    let opening = async {
        let writing = loop {
            match open_nonblocking(to, true) {
                // The other side does not read yet.
                Err(error) if is_errno(&error, Errno::ENXIO) => sleep(POLL_INTERVAL).await,
                opened => break opened?,
            }
        };
        let first = await_writer(&reading).await.map_err(|error| with_path(from, &error))?;
        io::Result::Ok((writing, first))
    };
    let Ok(opened) = timeout(within, opening).await else {
        let message = format!(
            "the other end of {} and {} was not opened within {within:?}",
            from.display(),
            to.display()
        );
        return Err(io::Error::new(io::ErrorKind::TimedOut, message));
    };
    let (writing, first) = opened?;
    let reader = pipe::Receiver::from_file(reading).map_err(|error| with_path(from, &error))?;
    let writer = pipe::Sender::from_file(writing).map_err(|error| with_path(to, &error))?;
    // An empty line is not a frame.
    let first: Vec<u8> = first.into_iter().filter(|byte| *byte != b'\n').collect();
    Ok(LineLink::new(reader, writer, LineLinkOptions::default())
        .with_transport_name("pipes")
        .with_initial_bytes(&first))
}

/// Waits until the other side has opened a pipe that we read. Returns the byte that was read
/// meanwhile, if any.
///
/// Only a read distinguishes a pipe without a writer from one with a silent writer.
async fn await_writer(mut reading: &File) -> io::Result<Option<u8>> {
    let mut first = [0];
    loop {
        match reading.read(&mut first) {
            Ok(0) => sleep(POLL_INTERVAL).await,
            Ok(_) => return Ok(Some(first[0])),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn open_nonblocking(path: &Path, write: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(!write).write(write).custom_flags(OFlag::O_NONBLOCK.bits());
    options.open(path).map_err(|error| match is_errno(&error, Errno::ENXIO) {
        true => error,
        false => with_path(path, &error),
    })
}

fn is_errno(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno as i32)
}
