//! The ways that a test can reach a server by.

use std::fmt;

use sparring_wire::Revision;

/// A way to reach a server.
///
/// ```
/// use sparring::Transport;
///
/// assert_eq!(format!("over {}", Transport::Http), "over http");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// Frames handed over in this process; no bytes are read or written.
    Memory,
    /// Lines of bytes over a stream in this process.
    Duplex,
    /// Lines of bytes over a Unix socket.
    Unix,
    /// Lines of bytes over two named pipes.
    Pipes,
    /// Lines of bytes over the stdin and stdout of a child.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, of the revisions that begin with a handshake.
    Sse,
}

impl Transport {
    /// All of them, the nearest first.
    ///
    /// ```
    /// # use sparring::Transport;
    /// assert_eq!(Transport::ALL.map(Transport::name)[..3], ["memory", "duplex", "unix"]);
    /// ```
    pub const ALL: [Transport; 7] = [
        Transport::Memory,
        Transport::Duplex,
        Transport::Unix,
        Transport::Pipes,
        Transport::Stdio,
        Transport::Http,
        Transport::Sse,
    ];

    /// What it is called: `memory`, `duplex`, `unix`, `pipes`, `stdio`, `http`
    /// or `sse`.
    ///
    /// ```
    /// # use sparring::Transport;
    /// let named = |name: &str| Transport::ALL.into_iter().find(|it| it.name() == name);
    /// assert_eq!(named("sse"), Some(Transport::Sse));
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Transport::Memory => "memory",
            Transport::Duplex => "duplex",
            Transport::Unix => "unix",
            Transport::Pipes => "pipes",
            Transport::Stdio => "stdio",
            Transport::Http => "http",
            Transport::Sse => "sse",
        }
    }

    /// Whether a revision can be spoken over it.
    pub(super) fn exists_in(self, revision: Revision) -> bool {
        self != Transport::Sse || !revision.is_modern()
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
