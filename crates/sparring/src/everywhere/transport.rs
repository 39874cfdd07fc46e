//! The transports that a test can run over.

use std::fmt;

use sparring_wire::Revision;

/// A transport between a test and its server.
///
/// ```
/// use sparring::Transport;
///
/// assert_eq!(format!("over {}", Transport::Http), "over http");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// Frames passed in this process, without bytes.
    Memory,
    /// Lines over a byte stream in this process.
    Duplex,
    /// Lines over a Unix socket.
    Unix,
    /// Lines over two named pipes.
    Pipes,
    /// Lines over the stdin and stdout of a child process.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, in the revisions up to 2025-11-25.
    Sse,
}

impl Transport {
    /// All transports, in the order in which tests run over them.
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

    /// The name: `memory`, `duplex`, `unix`, `pipes`, `stdio`, `http` or `sse`.
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

    /// Returns true if the transport exists in a revision.
    pub(super) fn supports(self, revision: Revision) -> bool {
        self != Transport::Sse || !revision.is_modern()
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
