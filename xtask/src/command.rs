//! Runs other programs, showing each command line before it runs.

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

/// Makes a command of a line without quotes, to run in `dir`.
pub(crate) fn command(dir: &Path, line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).current_dir(dir);
    command
}

/// Where an example is once it was built, beside this program.
///
/// Building it through its package alone would build most of what it depends on
/// once more, with the features that only that package asks for.
pub(crate) fn example(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe().context("looking for our own program")?;
    Ok(own.with_file_name("examples").join(format!("{name}{EXE_SUFFIX}")))
}

/// Prints the command as a person would type it.
pub(crate) fn show(command: &Command) {
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

/// Shows and runs the command; anything but success is an error.
pub(crate) fn run(mut command: Command) -> Result<()> {
    show(&command);
    let program = command.get_program().display().to_string();
    let status = command.status().with_context(|| format!("could not start `{program}`"))?;
    ensure!(status.success(), "`{program}` ended with {status}");
    Ok(())
}

/// Whether a command works here, judged by a harmless run of it.
pub(crate) fn works(line: &str) -> bool {
    command(Path::new("."), line)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether `cargo nextest` is installed.
pub(crate) fn has_nextest() -> bool {
    works("cargo nextest --version")
}
