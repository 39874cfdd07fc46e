//! FastMCP's client in memory, in a Python process that runs a round on request.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::CALLS;

/// A Python process that waits for its rounds; it ends when this is dropped.
pub(crate) struct FastMcp {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl FastMcp {
    /// Starts the process if FastMCP is installed.
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
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        Some(FastMcp { child, stdin, stdout })
    }

    /// Runs a round and returns the microseconds of each test body.
    pub(crate) fn run_round(&mut self, bodies: usize) -> f64 {
        let stdin = self.stdin.as_mut().expect("stdin is open until drop");
        writeln!(stdin, "{bodies}").expect("Python reads stdin");
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("Python writes stdout");
        line.trim().parse().unwrap_or_else(|_| panic!("FastMCP printed {line:?}"))
    }
}

impl Drop for FastMcp {
    fn drop(&mut self) {
        // Closing its stdin ends the process.
        self.stdin = None;
        let _ = self.child.wait();
    }
}
