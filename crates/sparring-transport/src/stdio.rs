//! The process's own stdin and stdout as a link, for servers.

use sparring_peer::link::LineLinkOptions;
use sparring_peer::{LineLink, Link};
use tokio::io::{AsyncRead, AsyncWrite};

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Returns the link to the process that started this one. Nothing else may write to stdout.
///
/// Clients start servers with pipes or sockets, which are read and written without extra
/// threads. Anything else, such as a terminal, needs threads.
pub fn stdio(options: LineLinkOptions) -> impl Link {
    let reader = direct::stdin().unwrap_or_else(|| Box::new(tokio::io::stdin()));
    let writer = direct::stdout().unwrap_or_else(|| Box::new(tokio::io::stdout()));
    LineLink::new(reader, writer, options)
}

#[cfg(target_os = "linux")]
mod direct {
    //! Opens stdin and stdout as pipes or sockets, if they are.

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
        let kind = file_type(fd.as_fd())?;
        if kind.is_fifo() {
            let pipe =
                pipe::Receiver::from_file(reopen_nonblocking("/proc/self/fd/0", false)?).ok()?;
            return Some(Box::new(pipe));
        }
        Some(Box::new(to_socket(fd.as_fd(), kind)?))
    }

    pub(super) fn stdout() -> Option<Writer> {
        let fd = std::io::stdout();
        let kind = file_type(fd.as_fd())?;
        if kind.is_fifo() {
            let pipe =
                pipe::Sender::from_file(reopen_nonblocking("/proc/self/fd/1", true)?).ok()?;
            return Some(Box::new(pipe));
        }
        Some(Box::new(to_socket(fd.as_fd(), kind)?))
    }

    fn file_type(fd: BorrowedFd<'_>) -> Option<FileType> {
        let file = File::from(fd.try_clone_to_owned().ok()?);
        Some(file.metadata().ok()?.file_type())
    }

    /// Opens a pipe again, so that the non-blocking mode does not affect other processes that
    /// share our stdin or stdout.
    fn reopen_nonblocking(path: &str, write: bool) -> Option<File> {
        let mut options = OpenOptions::new();
        options.read(!write).write(write).custom_flags(OFlag::O_NONBLOCK.bits()).open(path).ok()
    }

    /// Converts stdin or stdout to a socket, if it is one. A socket cannot be opened again, so
    /// the non-blocking mode also affects the processes that share it.
    fn to_socket(fd: BorrowedFd<'_>, kind: FileType) -> Option<UnixStream> {
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
    //! Other systems always use threads.

    use super::{Reader, Writer};

    pub(super) fn stdin() -> Option<Reader> {
        None
    }

    pub(super) fn stdout() -> Option<Writer> {
        None
    }
}
