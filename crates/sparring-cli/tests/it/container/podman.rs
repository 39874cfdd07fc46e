//! Podman for the tests, and containers for one test.

use std::process::{Command, Output, Stdio};
use std::time::Instant;

use crate::process::{Running, SPAR, WAIT_LIMIT, output, signal};

/// The containers that all tests share: one with a shell, one without.
pub(super) const SHELL: &str = "spar-shell";
pub(super) const BARE: &str = "spar-bare";

/// Runs podman.
pub(super) struct Podman {
    pub(super) line: String,
    words: Vec<String>,
}

/// Returns nothing if podman is not set up.
pub(super) fn podman() -> Option<Podman> {
    let Ok(line) = std::env::var("SPAR_CONTAINER_ENGINE") else {
        let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        assert!(!ci, "SPAR_CONTAINER_ENGINE is not set; with CI set no test may be skipped");
        eprintln!("SKIPPED: there are no containers; run `cargo xtask containers`");
        return None;
    };
    let words = shlex::split(&line).unwrap();
    Some(Podman { line, words })
}

impl Podman {
    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(args);
        command
    }

    /// Runs podman successfully and returns its output.
    pub(super) fn run(&self, args: &[&str]) -> String {
        let output = output(&mut self.command(args));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "podman {args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs `spar` on this engine to its end.
    pub(super) fn spar(&self, args: &[&str]) -> Output {
        output(Command::new(SPAR).args(self.args(args)))
    }

    /// Starts `spar` on this engine.
    pub(super) fn start(&self, args: &[&str]) -> Running {
        let args = self.args(args);
        Running::start(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn args(&self, args: &[&str]) -> Vec<String> {
        with_engine(args, &self.line)
    }

    /// Returns the processes in a container whose command line has this word, without
    /// zombies.
    pub(super) fn processes(&self, container: &str, word: &str) -> Vec<String> {
        let text = self.run(&["top", container, "state", "pid", "args"]);
        let found = text.lines().filter(|line| line.contains(word) && !line.starts_with('Z'));
        found.map(str::to_owned).collect()
    }

    /// Waits until a container has this number of processes.
    pub(super) fn wait_for(&self, container: &str, word: &str, count: usize) {
        let until = Instant::now() + WAIT_LIMIT;
        loop {
            let found = self.processes(container, word);
            if found.len() == count {
                return;
            }
            assert!(Instant::now() < until, "{container} has {found:?}, not {count}");
        }
    }

    /// Creates a container for one test, from the image with a shell.
    pub(super) fn container(&self, verb: &str, name: &str, flags: &[&str]) -> OwnContainer<'_> {
        let name = format!("spar-own-{name}");
        let limits = ["--ulimit=nofile=1024:20000", "--ulimit=nproc=1000:1000", "--network=none"];
        let detach: &[&str] = if verb == "run" { &["--detach"] } else { &[] };
        let words = [&[verb, "--interactive", "--name", &name], detach, &limits, flags].concat();
        let own = OwnContainer { podman: self, name: name.clone() };
        self.run(&[&words[..], &["spar-shell", "/bin/server"]].concat());
        own
    }
}

/// Removed when dropped.
pub(super) struct OwnContainer<'a> {
    podman: &'a Podman,
    pub(super) name: String,
}

impl OwnContainer<'_> {
    /// Runs `podman VERB NAME`.
    pub(super) fn run(&self, verb: &str) {
        self.podman.run(&[verb, &self.name]);
    }
}

impl Drop for OwnContainer<'_> {
    fn drop(&mut self) {
        let mut remove =
            self.podman.command(&["rm", "--force", "--time=0", "--ignore", &self.name]);
        let _ = remove.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// Kills the one process in a container whose command line has this word.
pub(super) fn kill(podman: &Podman, container: &str, word: &str) {
    let text = podman.run(&["top", container, "hpid", "args"]);
    let line = text.lines().find(|line| line.contains(word)).unwrap();
    let id = line.split_whitespace().next().unwrap().parse().unwrap();
    signal(id, rustix::process::Signal::KILL);
    podman.wait_for(container, word, 0);
}

/// Adds the engine to the arguments.
pub(super) fn with_engine(args: &[&str], engine: &str) -> Vec<String> {
    let (before, after) = args.split_at(args.iter().position(|arg| *arg == "--").unwrap());
    [before, &["--container-engine", engine], after]
        .concat()
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Returns the stderr and the exit code of an output.
pub(super) fn printed(output: &Output) -> (String, Option<i32>) {
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
}
