//! The stdio client for all servers: writes and reads lines without parsing them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use crate::measure::micros_per_call;

/// Concurrent calls in the second measurement.
const MAX_IN_FLIGHT: usize = 64;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A server in its own process, which is killed on drop.
pub(crate) struct Piped {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
    line: String,
}

impl Piped {
    pub(crate) fn start(which: &str) -> Self {
        let mut command = Command::new(crate::this_program());
        command.arg(which).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("this program starts");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut piped = Piped { child, stdin, stdout, next: 1, line: String::new() };
        writeln!(piped.stdin, "{INITIALIZE}").expect("it reads");
        piped.expect_line("protocolVersion");
        writeln!(piped.stdin, "{READY}").expect("it reads");
        piped
    }

    /// Runs one round of calls, one at a time and then concurrently.
    pub(crate) fn measure_round(&mut self, calls: usize, times: &mut [Vec<f64>; 2]) {
        let start = Instant::now();
        for _ in 0..calls {
            self.send_calls(1);
            self.expect_line("hello");
        }
        times[0].push(micros_per_call(start.elapsed(), calls));
        let start = Instant::now();
        self.send_calls(MAX_IN_FLIGHT);
        for answered in 1..=calls {
            self.expect_line("hello");
            // Sends half of the window at a time, as a busy client would.
            if answered % (MAX_IN_FLIGHT / 2) == 0 && answered + MAX_IN_FLIGHT / 2 < calls {
                self.send_calls(MAX_IN_FLIGHT / 2);
            }
        }
        times[1].push(micros_per_call(start.elapsed(), calls));
    }

    /// Sends this many calls at once.
    fn send_calls(&mut self, times: usize) {
        let mut lines = String::new();
        for _ in 0..times {
            lines += &format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"message\":\"hello\"}}}}}}\n",
                self.next
            );
            self.next += 1;
        }
        self.stdin.write_all(lines.as_bytes()).expect("it reads");
    }

    fn expect_line(&mut self, what: &str) {
        self.line.clear();
        self.stdout.read_line(&mut self.line).expect("it answers");
        assert!(self.line.contains(what), "{}", self.line);
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
