//! Named pipes, both ends: one for each direction, side by side in the file
//! system.
//!
//! Nothing here blocks, so that whoever gives up leaves nothing behind: a pipe
//! is opened without waiting, and looked at until the other end is there.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use sparring_peer::link::LinesOptions;
use sparring_peer::{Lines, Link};
use tokio::net::unix::pipe;
use tokio::time::{sleep, timeout};

use crate::socket::naming;

/// How often it is looked whether the other end is there.
const LOOK: Duration = Duration::from_millis(2);

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
    /// When one cannot be made; the error names it, and none is left.
    pub fn create(&self) -> io::Result<()> {
        make(&self.to_server).map_err(|error| naming(&self.to_server, &error))?;
        make(&self.to_client).map_err(|error| {
            let _ = std::fs::remove_file(&self.to_server);
            naming(&self.to_client, &error)
        })
    }

    /// The server's end, once a client has come.
    ///
    /// # Errors
    /// When the pipes are not there, or nobody comes within that time.
    pub async fn open_as_server(&self, within: Duration) -> io::Result<impl Link + use<>> {
        open(&self.to_server, &self.to_client, within).await
    }

    /// The client's end, once a server has come.
    ///
    /// # Errors
    /// When the pipes are not there, or nobody comes within that time.
    pub async fn open_as_client(&self, within: Duration) -> io::Result<impl Link + use<>> {
        open(&self.to_client, &self.to_server, within).await
    }
}

fn make(path: &Path) -> io::Result<()> {
    Ok(mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?)
}

/// Opens both pipes. Reading is opened first, which never has to wait, so that
/// in whatever order the other side opens its ends, it finds one of ours.
async fn open(from: &Path, to: &Path, within: Duration) -> io::Result<impl Link + use<>> {
    let reading = not_blocking(from, false)?;
    let opening = async {
        let writing = loop {
            match not_blocking(to, true) {
                // Nobody reads yet.
                Err(error) if is(&error, Errno::ENXIO) => sleep(LOOK).await,
                opened => break opened?,
            }
        };
        let first = await_writer(&reading).await.map_err(|error| naming(from, &error))?;
        io::Result::Ok((writing, first))
    };
    let Ok(opened) = timeout(within, opening).await else {
        let message = format!(
            "nobody opened the other end of {} and {} within {within:?}",
            from.display(),
            to.display()
        );
        return Err(io::Error::new(io::ErrorKind::TimedOut, message));
    };
    let (writing, first) = opened?;
    let reader = pipe::Receiver::from_file(reading).map_err(|error| naming(from, &error))?;
    let writer = pipe::Sender::from_file(writing).map_err(|error| naming(to, &error))?;
    // A line that is empty is none.
    let first: Vec<u8> = first.into_iter().filter(|byte| *byte != b'\n').collect();
    Ok(Lines::new(reader, writer, LinesOptions::default()).named("pipes").after(&first))
}

/// Waits until somebody writes to a pipe that we read; gives what was read of it
/// meanwhile, which is a byte at most.
///
/// Only reading tells a pipe that nobody writes to from one whose writer is silent.
async fn await_writer(mut reading: &File) -> io::Result<Option<u8>> {
    let mut first = [0];
    loop {
        match reading.read(&mut first) {
            Ok(0) => sleep(LOOK).await,
            Ok(_) => return Ok(Some(first[0])),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn not_blocking(path: &Path, write: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(!write).write(write).custom_flags(OFlag::O_NONBLOCK.bits());
    options.open(path).map_err(|error| match is(&error, Errno::ENXIO) {
        true => error,
        false => naming(path, &error),
    })
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno as i32)
}
