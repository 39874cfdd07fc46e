//! Runs programs within bounds.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// No wait in a test is longer than this.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The program under test.
pub(crate) const SPAR: &str = env!("CARGO_BIN_EXE_spar");

/// Runs a command to its end.
pub(crate) fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let (id, (sender, receiver)) = (child.id(), mpsc::channel());
    let waiting = std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(PATIENCE) else {
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

    /// One that was started in another way.
    pub(crate) fn of(mut child: Child) -> Running {
        let stderr = child.stderr.take().map(BufReader::new);
        Running { child, stderr }
    }

    /// Waits until a signal does not end it by itself any more.
    pub(crate) fn wait_until_it_catches_signals(&self) {
        let until = Instant::now() + PATIENCE;
        let id = self.child.id().to_string();
        // The mask's bits count from 1: SIGHUP, SIGINT.
        while caught(&id) & 0b10 == 0 {
            assert!(Instant::now() < until, "spar does not catch signals");
            std::thread::yield_now();
        }
    }

    /// The next line of stderr that begins so, without that beginning.
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

    /// Waits for its end and gives the exit code; none after a signal.
    pub(crate) fn exit(mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < until, "spar does not end");
            std::thread::yield_now();
        }
    }
}

/// A test that fails leaves nothing running.
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

/// The signals that a process has handlers for, as a mask.
fn caught(id: &str) -> u64 {
    let output = Command::new("ps").args(["-o", "caught=", "-p", id]).output().unwrap();
    u64::from_str_radix(String::from_utf8_lossy(&output.stdout).trim(), 16).unwrap_or_default()
}

/// Whether a process runs; one that only waits to be buried does not.
pub(crate) fn is_running(id: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap();
    let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

/// Waits until a process is gone.
pub(crate) fn wait_until_gone(id: &str) {
    let until = Instant::now() + PATIENCE;
    while is_running(id) {
        assert!(Instant::now() < until, "the process {id} still runs");
    }
}
