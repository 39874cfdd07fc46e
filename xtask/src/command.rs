//! Runs other programs, and prints each command line first.

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

/// Parses a command line without quotes, to run in `dir`.
pub(crate) fn command(dir: &Path, line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).current_dir(dir);
    command
}

/// Returns the path of a built example, next to this program.
///
/// Building the example through its package alone would rebuild most dependencies
/// with other features.
pub(crate) fn example_path(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find the path of xtask")?;
    Ok(own.with_file_name("examples").join(format!("{name}{EXE_SUFFIX}")))
}

/// Prints the command as it would be typed.
pub(crate) fn print_command(command: &Command) {
    let mut line = String::from("$");
    for (name, value) in command.get_envs() {
        let value = value.unwrap_or_default();
        line += &format!(" {}={}", name.display(), value.display());
    }
    for word in std::iter::once(command.get_program()).chain(command.get_args()) {
        let word = word.display().to_string();
        let quote = if word.contains([' ', '(']) { "'" } else { "" };
        line += &format!(" {quote}{word}{quote}");
    }
    eprintln!("{line}");
}

/// Prints and runs the command; fails unless it succeeds.
pub(crate) fn run(mut command: Command) -> Result<()> {
    print_command(&command);
    let program = command.get_program().display().to_string();
    let status = command.status().with_context(|| format!("cannot start `{program}`"))?;
    ensure!(status.success(), "`{program}` failed: {status}");
    Ok(())
}

/// Returns true if a command runs and succeeds.
pub(crate) fn succeeds(line: &str) -> bool {
    command(Path::new("."), line)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns true if `cargo nextest` is installed.
pub(crate) fn has_nextest() -> bool {
    succeeds("cargo nextest --version")
}

/// Returns true if a Chromium is on PATH, which the tests of the HTML report need.
pub(crate) fn has_chromium() -> bool {
    const NAMES: [&str; 4] =
        ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    NAMES.iter().any(|name| succeeds(&format!("{name} --version")))
}
