//! The suite judges our server: `spar mock examples/conformance.mock.yaml`, one
//! script and nothing else, held against all that each revision requires.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use super::Suite;

/// The script, from the root of the repository on.
const SCRIPT: &str = "examples/conformance.mock.yaml";

/// The revisions that have requirements, and how many scenarios each requires;
/// a newer suite that requires fewer must not pass unnoticed.
const REQUIRED: [(&str, usize); 2] = [("2025-11-25", 30), ("2026-07-28", 37)];

/// Judges the server, whose program is built.
pub(super) fn judge(suite: &Suite) -> Result<()> {
    for (revision, required) in REQUIRED {
        let mock = Mock::start()?;
        let mut command = suite.command(&["server", "--url", &mock.url]);
        command.args(["--requirements", revision]);
        let output = command.output().context("starting the suite")?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let Some(score) = Score::read(&said).filter(|_| output.status.success()) else {
            bail!("the server fails what {revision} requires:\n{said}");
        };
        ensure!(
            score.failed.is_empty() && score.passed.len() >= required,
            "of the {required} scenarios that {revision} requires, {} passed; failed: {}",
            score.passed.len(),
            score.failed.join(", ")
        );
        eprintln!("server at {revision}: all {} required scenarios passed", score.passed.len());
        if !score.unscored.is_empty() {
            eprintln!("not required, and failing: {}", score.unscored.join(", "));
        }
    }
    Ok(())
}

/// What came of a run.
#[derive(Debug, PartialEq)]
struct Score {
    passed: Vec<String>,
    failed: Vec<String>,
    /// Those that fail and are not required.
    unscored: Vec<String>,
}

impl Score {
    /// Reads the suite's summary: `✓ ping: 2 passed, 0 failed` a line, and then
    /// `  ✗ tasks-lifecycle (extension)` for those that do not count.
    fn read(said: &str) -> Option<Score> {
        let (_, summary) = said.split_once("=== SUMMARY ===")?;
        let mut score = Score { passed: Vec::new(), failed: Vec::new(), unscored: Vec::new() };
        for line in summary.lines() {
            let Some((mark, rest)) = line.trim().split_once(' ') else { continue };
            let (list, name) = match (mark, rest.split_once(": "), rest.split_once(" (")) {
                ("✓", Some((name, _)), _) => (&mut score.passed, name),
                ("✗", Some((name, _)), _) => (&mut score.failed, name),
                ("✗", None, Some((name, _))) => (&mut score.unscored, name),
                ("✓", None, Some((name, _))) => {
                    score.passed.retain(|passed| passed != name);
                    continue;
                }
                _ => continue,
            };
            list.push(name.to_owned());
        }
        score.failed.retain(|failed| !score.unscored.contains(failed));
        Some(score)
    }
}

/// The mock, for as long as it is kept.
struct Mock {
    child: Child,
    url: String,
}

impl Mock {
    fn start() -> Result<Self> {
        let own = std::env::current_exe().context("looking for our own program")?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(SCRIPT);
        let mut command = Command::new(own.with_file_name("spar"));
        command.arg("mock").arg(script).args(["--http", "127.0.0.1:0"]).stdout(Stdio::piped());
        let child = command.spawn().context("starting spar mock")?;
        let mut mock = Mock { child, url: String::new() };
        let stdout = mock.child.stdout.take().context("spar mock has a stdout")?;
        BufReader::new(stdout).read_line(&mut mock.url).context("reading its URL")?;
        ensure!(mock.url.starts_with("http://"), "spar mock gave no URL");
        mock.url.truncate(mock.url.trim_end().len());
        Ok(mock)
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::Score;

    #[test]
    fn reads_what_counts_and_what_does_not() {
        let said = "noise\n=== SUMMARY ===\n✓ ping: 2 passed, 0 failed\n✗ caching: 1 passed, 1 failed\n\
                    ✗ tasks: 0 passed, 1 failed\n✓ extra: 1 passed, 0 failed\n\nTotal: 4 passed\n\n\
                    Not scored for 2026-07-28: 2 scenario(s) run\n  ✗ tasks (extension)\n  \
                    ✓ extra (pending)\n";
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let expected = Score {
            passed: named(&["ping"]),
            failed: named(&["caching"]),
            unscored: named(&["tasks"]),
        };
        assert_eq!(Score::read(said), Some(expected));
        assert_eq!(Score::read("nothing at all"), None);
    }
}
