//! FastMCP's client in memory, in a process of its own that takes its turns
//! when it is told to.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::CALLS;

/// A Python that waits for its turn; it ends with this.
pub(crate) struct FastMcp {
    child: Child,
    asks: Option<ChildStdin>,
    tells: BufReader<ChildStdout>,
}

impl FastMcp {
    /// Starts it, if it is installed.
    pub(crate) fn start() -> Option<Self> {
        let python = std::env::var_os("SPAR_PEERS_DIR")
            .map(|peers| Path::new(&peers).join("python/bin/python"))
            .filter(|python| python.exists());
        let Some(python) = python else {
            println!("SKIPPED: FastMCP, because it is not installed below SPAR_PEERS_DIR\n");
            return None;
        };
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/memory/fastmcp4.py");
        let mut command = Command::new(python);
        command.arg(program).arg(CALLS.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("Python starts");
        let asks = child.stdin.take();
        let tells = BufReader::new(child.stdout.take().expect("a pipe"));
        Some(FastMcp { child, asks, tells })
    }

    /// Takes a turn: microseconds for each of so many test bodies.
    pub(crate) fn turn(&mut self, bodies: usize) -> f64 {
        let asks = self.asks.as_mut().expect("it is open until the end");
        writeln!(asks, "{bodies}").expect("it listens");
        let mut told = String::new();
        self.tells.read_line(&mut told).expect("it answers");
        told.trim().parse().unwrap_or_else(|_| panic!("FastMCP said {told:?}"))
    }
}

impl Drop for FastMcp {
    fn drop(&mut self) {
        // The end of its input ends it.
        self.asks = None;
        let _ = self.child.wait();
    }
}
