//! Measures time and memory of programs, pinned to one core if possible.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, succeeds};

/// Runs a command without its output, and prints its peak memory in kilobytes.
const PEAK_MEMORY_SCRIPT: &str = "\
import os, sys
null = os.open(os.devnull, os.O_WRONLY)
actions = [(os.POSIX_SPAWN_DUP2, null, 1)]
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))";

/// True if a program can be pinned to one core; checked once, because the check takes
/// time.
static CAN_PIN: LazyLock<bool> = LazyLock::new(|| succeeds("taskset -c 0 true"));

/// Returns a command, pinned to one core if possible.
pub(super) fn pinned(root: &Path, words: &[&str]) -> Command {
    let mut line = match *CAN_PIN {
        true => command(root, "taskset -c 0"),
        false => command(root, "env"),
    };
    line.args(words);
    line
}

/// Returns the stdout of a command; fails unless it succeeds.
pub(super) fn output(mut command: Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().context("cannot start the program")?;
    ensure!(
        output.status.success(),
        "the program failed: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Measures the time of some work.
pub(super) fn measure_time(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// Returns the median.
pub(super) fn median<T: PartialOrd + Copy>(mut all: Vec<T>) -> T {
    all.sort_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal));
    all[all.len() / 2]
}

/// Measures the peak memory of a command, or of a process that it waited for, in bytes.
pub(super) fn measure_peak_memory(root: &Path, words: &[&str]) -> Result<u64> {
    let text = output(pinned(root, &[&["python3", "-c", PEAK_MEMORY_SCRIPT], words].concat()))?;
    let last = text.lines().last().unwrap_or_default();
    Ok(last
        .trim()
        .parse::<u64>()
        .with_context(|| format!("the measuring script printed {last}"))?
        * 1024)
}

/// Renders bytes as megabytes.
pub(super) fn render_megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1_000_000.0)
}

/// Renders the result of a limit.
pub(crate) fn render_met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "MISSED" }
}
