//! The exit codes.

use std::process::ExitCode;

/// The program's exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: the target returned a good result. Violations of the protocol are notes and do
    /// not change the exit code.
    Success,
    /// 1: the tool returned `isError`, the server returned a JSON-RPC error, the result
    /// breaks the tool's output schema, a test failed, or a file differs from the
    /// generated module.
    Failed,
    /// 2: bad usage, or a file that cannot be read or written.
    Usage,
    /// 3: the target could not be reached, crashed, timed out, refused the handshake or
    /// returned nothing usable.
    Unreachable,
    /// 4: no test ran.
    NoTestRan,
    /// Any: the exit code that a mock's script sets.
    Scripted(u8),
    /// 129, 130, 143: this signal ended the program.
    Stopped(Signal),
}

/// A signal that ends the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The terminal closed.
    Hangup,
    /// Ctrl+C.
    Interrupt,
    /// A request to end the program.
    Terminate,
}

impl Signal {
    /// The signal's number, the same on every Unix.
    fn number(self) -> u8 {
        match self {
            Signal::Hangup => 1,
            Signal::Interrupt => 2,
            Signal::Terminate => 15,
        }
    }
}

impl std::fmt::Display for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Signal::Hangup => "SIGHUP",
            Signal::Interrupt => "SIGINT",
            Signal::Terminate => "SIGTERM",
        })
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Unreachable => 3,
            Exit::NoTestRan => 4,
            Exit::Scripted(status) => status,
            Exit::Stopped(signal) => 128 + signal.number(),
        })
    }
}
