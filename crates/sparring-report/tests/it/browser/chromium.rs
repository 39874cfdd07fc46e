//! Starts and stops a Chromium process and exchanges DevTools messages with it.
//!
//! Messages are JSON with a zero byte at the end, over the descriptors 3 and 4 of the
//! process. A shell connects our pipes to them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

/// The time limit of each request to the browser, and of its start.
const DEADLINE: Duration = Duration::from_secs(60);

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const FLAGS: [&str; 11] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
];

/// A browser process. Dropping it kills its whole process group.
pub(super) struct Chromium {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    last: u64,
    /// The events that were received but not handled.
    pub(super) events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Chromium {
    /// Starts a browser. Returns `None` if none is installed, but fails if `CI` is set.
    pub(super) fn start() -> Option<Chromium> {
        let program = find()?;
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#, "sh"])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            // Files that a killed browser leaves are removed with the profile.
            .env("TMPDIR", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        let mut child = command.spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let from = listen(child.stdout.take().unwrap());
        Some(Chromium { child, to, from, last: 0, events: Vec::new(), _profile: profile })
    }

    /// Sends a request and waits for its response.
    pub(super) fn ask(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        let id = self.last;
        let deadline = Instant::now() + DEADLINE;
        loop {
            let mut message = self.next(deadline, method);
            if message["id"] != id {
                self.events.push(message);
                continue;
            }
            assert!(message["error"].is_null(), "{method}: {}", message["error"]);
            return message["result"].take();
        }
    }

    /// Waits for an event, which may have been received already.
    pub(super) fn wait_for(&mut self, method: &str) -> Value {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(at) = self.events.iter().position(|event| event["method"] == method) {
                return self.events.remove(at);
            }
            let message = self.next(deadline, method);
            self.events.push(message);
        }
    }

    fn next(&self, deadline: Instant, method: &str) -> Value {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.from.recv_timeout(left) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("the browser says nothing to {method}"),
            Err(RecvTimeoutError::Disconnected) => panic!("the browser ended during {method}"),
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            // The process may have ended already.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Reads messages in a thread that ends with the browser.
fn listen(from: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut bytes = Vec::new();
        while from.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
            bytes.pop();
            let Ok(message) = serde_json::from_slice(&bytes) else { break };
            if sender.send(message).is_err() {
                break;
            }
            bytes.clear();
        }
    });
    receiver
}

fn find() -> Option<PathBuf> {
    let named = std::env::var_os("SPAR_CHROMIUM").map(PathBuf::from);
    let found = named.or_else(|| NAMES.iter().find_map(|name| which::which(name).ok()));
    if found.is_none() {
        let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        assert!(!ci, "there is no Chromium, and with CI set no test may be skipped");
        eprintln!("SKIPPED: there is no Chromium; install it, or name it in SPAR_CHROMIUM");
    }
    found
}
