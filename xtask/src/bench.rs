//! `cargo xtask bench`: measures calls per second, kept on one core so that
//! runs can be compared. The bench prints its own table.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, show, works};

/// Builds the bench, runs it and passes on its exit code.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let executable = build(root)?;
    let mut bench = if works("taskset -c 0 true") {
        let mut pinned = command(root, "taskset -c 0");
        pinned.arg(&executable);
        pinned
    } else {
        eprintln!("not pinned to one core, because `taskset` does not work here");
        Command::new(&executable)
    };
    show(&bench);
    let status = bench.status().with_context(|| format!("could not start {executable}"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn build(root: &Path) -> Result<String> {
    let line = "cargo build --release -p sparring-peer --bench calls \
                --message-format=json-render-diagnostics";
    let mut build = command(root, line);
    show(&build);
    let output = build.stderr(Stdio::inherit()).output().context("could not start `cargo`")?;
    ensure!(output.status.success(), "the bench does not build");
    let messages = String::from_utf8(output.stdout).context("cargo's messages are not UTF-8")?;
    executable(&messages).context("cargo named no executable for the bench `calls`")
}

/// Finds the bench's path in cargo's messages, one JSON object a line.
///
/// Cargo writes them without spaces, and a path has no escapes but `\\`, so a
/// search does and no JSON parser is needed.
fn executable(messages: &str) -> Option<String> {
    let line = messages
        .lines()
        .find(|line| line.contains(r#""kind":["bench"]"#) && line.contains(r#""name":"calls""#))?;
    let (_, rest) = line.split_once(r#""executable":""#)?;
    let (path, _) = rest.split_once('"')?;
    Some(path.replace(r"\\", r"\"))
}

#[cfg(test)]
mod tests {
    use super::executable;

    const LIB: &str = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"calls"},"executable":null}"#;

    #[test]
    fn finds_the_executable_of_the_bench() {
        let bench = r#"{"reason":"compiler-artifact","target":{"kind":["bench"],"name":"calls"},"executable":"C:\\t\\calls-1","fresh":true}"#;
        let messages = format!("{LIB}\n{bench}\n");
        assert_eq!(executable(&messages).as_deref(), Some(r"C:\t\calls-1"));
    }

    #[test]
    fn finds_nothing_where_no_bench_was_built() {
        assert_eq!(executable(LIB), None);
    }
}
