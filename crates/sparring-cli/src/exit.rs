//! What the program tells whoever started it.

use std::process::ExitCode;

/// The program's exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: the target answered, and the answer is good. Breaches of the protocol
    /// are notes and change nothing here.
    Good,
    /// 1: the tool said `isError`, the server answered with a JSON-RPC error, the
    /// result breaks the tool's output schema, a test failed, or a file is not the
    /// module that it should be.
    Failed,
    /// 2: bad usage, or a file that cannot be read or written.
    Usage,
    /// 3: the target could not be reached, crashed, took too long or answered
    /// with nothing that could be used; also when it refused the handshake.
    Unreachable,
    /// 4: no test ran.
    Nothing,
    /// Any: a mock's script says so.
    AsTold(u8),
    /// 129, 130, 143: this signal ended the program.
    Stopped(Signal),
}

/// A signal that ends the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The terminal is gone.
    Hangup,
    /// Ctrl+C.
    Interrupt,
    /// Somebody asked the program to end.
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
            Exit::Good => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Unreachable => 3,
            Exit::Nothing => 4,
            Exit::AsTold(status) => status,
            Exit::Stopped(signal) => 128 + signal.number(),
        })
    }
}
