//! The client that is the same for all over stdio: it writes lines, reads lines,
//! and looks into none of them but for what was asked for.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use crate::turns::each;

/// How many calls are in flight at once in the second discipline.
const AT_ONCE: usize = 64;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A server in a process of its own, which ends with this.
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
        piped.hear("protocolVersion");
        writeln!(piped.stdin, "{READY}").expect("it reads");
        piped
    }

    /// Takes one turn of that many calls in both disciplines.
    pub(crate) fn take(&mut self, calls: usize, times: &mut [Vec<f64>; 2]) {
        let start = Instant::now();
        for _ in 0..calls {
            self.say(1);
            self.hear("hello");
        }
        times[0].push(each(start.elapsed(), calls));
        let start = Instant::now();
        self.say(AT_ONCE);
        for answered in 1..=calls {
            self.hear("hello");
            // Half of them at a time, as a client that has something to do would.
            if answered % (AT_ONCE / 2) == 0 && answered + AT_ONCE / 2 < calls {
                self.say(AT_ONCE / 2);
            }
        }
        times[1].push(each(start.elapsed(), calls));
    }

    /// Asks so many times in one go.
    fn say(&mut self, times: usize) {
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

    fn hear(&mut self, what: &str) {
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
