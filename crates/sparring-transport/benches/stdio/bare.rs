//! Two processes that pass lines without reading them: the lower bound for all others.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

const LINE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":12345,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"message\":\"hello\"}}}\n";

/// Returns each line unchanged.
pub(crate) fn serve() {
    let mut input = BufReader::new(std::io::stdin().lock());
    let mut output = std::io::stdout().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        let passed = output.write_all(&line).and_then(|()| output.flush());
        if passed.is_err() {
            return;
        }
        line.clear();
    }
}

pub(crate) struct Bare {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    child: Child,
}

impl Bare {
    pub(crate) fn start() -> Self {
        let mut command = Command::new(super::this_program());
        command.arg("serve-bare").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("this program starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Bare { input, output, child }
    }

    /// Runs one round; returns microseconds per line.
    pub(crate) fn run_round(&mut self) -> f64 {
        let mut line = Vec::new();
        let start = Instant::now();
        for _ in 0..super::CALLS {
            self.input.write_all(LINE).expect("the other process reads");
            line.clear();
            self.output.read_until(b'\n', &mut line).expect("the other process writes");
        }
        super::measure::micros_per_call(start.elapsed(), super::CALLS)
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
