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

/// Bytes as a person reads them.
pub(super) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1_000_000.0)
}

/// Whether a limit is met.
pub(super) fn met(yes: bool) -> &'static str {
    if yes { "met" } else { "MISSED" }
}
