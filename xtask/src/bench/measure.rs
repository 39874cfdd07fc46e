//! Times and memory of programs that are run, each pinned to one core where
//! that works.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, works};

/// Runs a command without its output, and prints the kilobytes that it took.
const PEAK: &str = "\
import os, sys
null = os.open(os.devnull, os.O_WRONLY)
actions = [(os.POSIX_SPAWN_DUP2, null, 1)]
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))";

/// Runs a command, and prints the seconds of CPU that it and all that it started took.
const SECONDS: &str = "\
import os, sys
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
_, status, usage = os.wait4(pid, 0)
print(usage.ru_utime + usage.ru_stime)
sys.exit(os.waitstatus_to_exitcode(status))";

/// Whether a program can be kept on one core; looked at once, since what is measured is
/// the program and not this.
static PINS: LazyLock<bool> = LazyLock::new(|| works("taskset -c 0 true"));

/// A command line, on one core where that works.
pub(super) fn pinned(root: &Path, words: &[&str]) -> Command {
    let mut line = match *PINS {
        true => command(root, "taskset -c 0"),
        false => command(root, "env"),
    };
    line.args(words);
    line
}

/// What a command prints; it must succeed.
pub(super) fn output(mut command: Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().context("it does not start")?;
    ensure!(
        output.status.success(),
        "it failed: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// How long some work takes.
pub(super) fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// The one in the middle.
pub(super) fn median<T: PartialOrd + Copy>(mut all: Vec<T>) -> T {
    all.sort_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal));
    all[all.len() / 2]
}

/// The most memory that a command, or a process that it waited for, had at once,
/// in bytes.
pub(super) fn peak(root: &Path, words: &[&str]) -> Result<u64> {
    let told = output(pinned(root, &[&["python3", "-c", PEAK], words].concat()))?;
    let last = told.lines().last().unwrap_or_default();
    Ok(last.trim().parse::<u64>().with_context(|| format!("peak.py said {last}"))? * 1024)
}

/// The seconds of CPU that a command in that folder takes, and all that it waits for; what
/// it prints goes to stderr.
pub(super) fn seconds(dir: &Path, words: &[&str]) -> Result<f64> {
    let mut line = command(dir, "python3 -c");
    line.arg(SECONDS).args(words).stderr(Stdio::inherit());
    let told = output(line)?;
    told.trim().parse().with_context(|| format!("the script said {told}"))
}

/// Bytes as a person reads them.
pub(super) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1_000_000.0)
}

/// Whether a limit is met.
pub(super) fn met(yes: bool) -> &'static str {
    if yes { "met" } else { "MISSED" }
}
