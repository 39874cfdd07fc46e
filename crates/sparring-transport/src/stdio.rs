//! Our own stdin and stdout, for being a server.

use sparring_peer::link::LinesOptions;
use sparring_peer::{Lines, Link};
use tokio::io::{AsyncRead, AsyncWrite};

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// The link to whoever started us. Nothing else may write to stdout.
///
/// Pipes and sockets, which is what a client starts a server with, are read and
/// written without threads in between; anything else, as a terminal, with.
pub fn stdio(options: LinesOptions) -> impl Link {
    let reader = direct::stdin().unwrap_or_else(|| Box::new(tokio::io::stdin()));
    let writer = direct::stdout().unwrap_or_else(|| Box::new(tokio::io::stdout()));
    Lines::new(reader, writer, options)
}

#[cfg(target_os = "linux")]
mod direct {
    //! stdin and stdout as what they are, where they are pipes or sockets.

    use std::fs::{File, FileType, OpenOptions};
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
    use std::os::unix::net::UnixStream as StdStream;

    use nix::fcntl::OFlag;
    use tokio::net::UnixStream;
    use tokio::net::unix::pipe;

    use super::{Reader, Writer};

    pub(super) fn stdin() -> Option<Reader> {
        let fd = std::io::stdin();
        let kind = kind(fd.as_fd())?;
        if kind.is_fifo() {
            let pipe = pipe::Receiver::from_file(reopened("/proc/self/fd/0", false)?).ok()?;
            return Some(Box::new(pipe));
        }
        Some(Box::new(socket(fd.as_fd(), kind)?))
    }

    pub(super) fn stdout() -> Option<Writer> {
        let fd = std::io::stdout();
        let kind = kind(fd.as_fd())?;
        if kind.is_fifo() {
            let pipe = pipe::Sender::from_file(reopened("/proc/self/fd/1", true)?).ok()?;
            return Some(Box::new(pipe));
        }
        Some(Box::new(socket(fd.as_fd(), kind)?))
    }

    fn kind(fd: BorrowedFd<'_>) -> Option<FileType> {
        let file = File::from(fd.try_clone_to_owned().ok()?);
        Some(file.metadata().ok()?.file_type())
    }

    /// A pipe opened once more: not to block is then a matter of this opening,
    /// and not of everybody who shares our stdin or stdout.
    fn reopened(path: &str, write: bool) -> Option<File> {
        let mut options = OpenOptions::new();
        options.read(!write).write(write).custom_flags(OFlag::O_NONBLOCK.bits()).open(path).ok()
    }

    /// A socket, if it is one. It cannot be opened once more; whoever shares it does not block
    /// either.
    fn socket(fd: BorrowedFd<'_>, kind: FileType) -> Option<UnixStream> {
        if !kind.is_socket() {
            return None;
        }
        let stream = StdStream::from(fd.try_clone_to_owned().ok()?);
        stream.set_nonblocking(true).ok()?;
        UnixStream::from_std(stream).ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod direct {
    //! Nothing is known to be better than threads here.

    use super::{Reader, Writer};

    pub(super) fn stdin() -> Option<Reader> {
        None
    }

    pub(super) fn stdout() -> Option<Writer> {
        None
    }
}
