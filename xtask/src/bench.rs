//! `cargo xtask bench`: compares with other implementations, on one core so that runs
//! are comparable. Each benchmark prints its own table.

mod measure;
mod mock;
mod program;
mod suites;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, ensure};

pub(crate) use self::measure::render_met;
use crate::command::{command, print_command, succeeds};
use crate::peers;

/// The package and the name of each benchmark.
const BENCHES: [(&str, &str); 9] = [
    ("sparring-peer", "calls"),
    ("sparring-transport", "stdio"),
    ("sparring-transport", "http_server"),
    ("sparring-transport", "http_client"),
    ("sparring-mock", "mock"),
    ("sparring-host", "host"),
    ("sparring-host", "gateway"),
    ("sparring", "memory"),
    ("sql", "sql"),
];

/// The benchmark of the program itself.
const PROGRAM: &str = "program";

/// Returns the names of all benchmarks, in the order in which they run.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BENCHES.iter().map(|(_, name)| *name).chain([PROGRAM])
}

/// Builds and runs all benchmarks or one of them; fails if one does.
pub(crate) fn run(root: &Path, only: Option<&str>) -> Result<ExitCode> {
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let mut all = ExitCode::SUCCESS;
    let benches = BENCHES.iter().filter(|(_, name)| wanted(name));
    let executables: Vec<_> = benches.map(|(package, name)| build(root, package, name)).collect();
    let peers = peers::install(root, false)?;
    for executable in executables {
        let executable = executable?;
        let mut bench = if succeeds("taskset -c 0 true") {
            let mut pinned = command(root, "taskset -c 0");
            pinned.arg(&executable);
            pinned
        } else {
            eprintln!("not pinned to one core: `taskset` does not work");
            Command::new(&executable)
        };
        bench.env(peers::FOLDER_VARIABLE, &peers.folder);
        print_command(&bench);
        let status = bench.status().with_context(|| format!("cannot start {executable}"))?;
        if !status.success() {
            all = ExitCode::FAILURE;
        }
    }
    if wanted(PROGRAM) && !program::run(root, &peers)? {
        all = ExitCode::FAILURE;
    }
    Ok(all)
}

fn build(root: &Path, package: &str, name: &str) -> Result<String> {
    let line = format!(
        "cargo build --profile bench -p {package} --all-features --bench {name} --message-format=json-render-diagnostics"
    );
    let mut build = command(root, &line);
    print_command(&build);
    let output = build.stderr(Stdio::inherit()).output().context("cannot start `cargo`")?;
    ensure!(output.status.success(), "cannot build the benchmark `{name}`");
    let messages = String::from_utf8(output.stdout).context("cargo's messages are not UTF-8")?;
    find_executable(&messages, name)
        .with_context(|| format!("cargo named no executable for the benchmark `{name}`"))
}

/// Finds a benchmark's path in cargo's messages, which are one JSON object a line.
///
/// Cargo writes them without spaces, and a path has no escapes but `\\`, so a text
/// search is enough.
fn find_executable(messages: &str, name: &str) -> Option<String> {
    let name = format!(r#""name":"{name}""#);
    let line = messages
        .lines()
        .find(|line| line.contains(r#""kind":["bench"]"#) && line.contains(&name))?;
    let (_, rest) = line.split_once(r#""executable":""#)?;
    let (path, _) = rest.split_once('"')?;
    Some(path.replace(r"\\", r"\"))
}

#[cfg(test)]
mod tests {
    use super::find_executable;

    const LIB: &str = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"calls"},"executable":null}"#;

    #[test]
    fn finds_the_executable_of_the_bench() {
        let bench = r#"{"reason":"compiler-artifact","target":{"kind":["bench"],"name":"calls"},"executable":"C:\\t\\calls-1","fresh":true}"#;
        let messages = format!("{LIB}\n{bench}\n");
        assert_eq!(find_executable(&messages, "calls").as_deref(), Some(r"C:\t\calls-1"));
    }

    #[test]
    fn finds_nothing_if_no_bench_was_built() {
        assert_eq!(find_executable(LIB, "calls"), None);
    }
}
