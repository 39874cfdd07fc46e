//! Runs programs with time limits.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Limit for every wait in a test.
pub(crate) const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// The program under test.
pub(crate) const SPAR: &str = env!("CARGO_BIN_EXE_spar");

/// Runs a command to its end.
pub(crate) fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let (id, (sender, receiver)) = (child.id(), mpsc::channel());
    let waiting = std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(WAIT_LIMIT) else {
        signal(id, rustix::process::Signal::KILL);
        panic!("{command:?} takes too long");
    };
    waiting.join().unwrap().unwrap();
    output.unwrap()
}

/// A running `spar`, whose stderr can be read line by line.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) stderr: Option<BufReader<ChildStderr>>,
}

impl Running {
    pub(crate) fn start(args: &[&str]) -> Running {
        let mut command = Command::new(SPAR);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Running::of(command.spawn().unwrap())
    }

    /// Wraps a process that was started elsewhere.
    pub(crate) fn of(mut child: Child) -> Running {
        let stderr = child.stderr.take().map(BufReader::new);
        Running { child, stderr }
    }

    /// Waits until it handles signals.
    pub(crate) fn wait_until_it_catches_signals(&self) {
        let until = Instant::now() + WAIT_LIMIT;
        let id = self.child.id().to_string();
        // The mask's bits count from 1: SIGHUP, SIGINT.
        while caught(&id) & 0b10 == 0 {
            assert!(Instant::now() < until, "spar does not catch signals");
            std::thread::yield_now();
        }
    }

    /// Returns the next line of stderr with this beginning, without the beginning.
    pub(crate) fn line(&mut self, beginning: &str) -> String {
        loop {
            let mut line = String::new();
            let length = self.stderr.as_mut().unwrap().read_line(&mut line).unwrap();
            assert_ne!(length, 0, "stderr ended before a line with {beginning:?}");
            if let Some(rest) = line.strip_prefix(beginning) {
                return rest.trim().to_owned();
            }
        }
    }

    pub(crate) fn signal(&self, which: rustix::process::Signal) {
        signal(self.child.id(), which);
    }

    /// Waits for the end, and returns the exit code; none after a signal.
    pub(crate) fn exit(mut self) -> Option<i32> {
        let until = Instant::now() + WAIT_LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < until, "spar does not end");
            std::thread::yield_now();
        }
    }
}

/// A failed test leaves no process running.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn signal(id: u32, which: rustix::process::Signal) {
    let id = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    rustix::process::kill_process(id, which).unwrap();
}

/// Returns the mask of the signals that a process handles.
fn caught(id: &str) -> u64 {
    let output = Command::new("ps").args(["-o", "caught=", "-p", id]).output().unwrap();
    u64::from_str_radix(String::from_utf8_lossy(&output.stdout).trim(), 16).unwrap_or_default()
}

/// Returns true if a process runs. A zombie does not.
pub(crate) fn is_running(id: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap();
    let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

/// Waits until a process is gone.
pub(crate) fn wait_until_gone(id: &str) {
    let until = Instant::now() + WAIT_LIMIT;
    while is_running(id) {
        assert!(Instant::now() < until, "the process {id} still runs");
    }
}
