//! A path of `spar test`: a suite, a folder, or a test by its line (`FILE:LINE`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sparring_suite::{PlannedTest, Suite};

use crate::command_error::CommandError;

/// A path, with the line of the test to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestPath {
    pub(super) path: PathBuf,
    /// The line, from 1; all tests without one.
    line: Option<usize>,
}

impl TestPath {
    /// All tests of a file or folder.
    pub(super) fn whole(path: PathBuf) -> TestPath {
        TestPath { path, line: None }
    }
}

/// Parses `PATH`, `FILE:LINE`, and `FILE:LINE:COLUMN` as failures show it. A file with such a
/// name takes precedence.
impl From<OsString> for TestPath {
    fn from(text: OsString) -> TestPath {
        let Some(text) = text.to_str().filter(|text| !Path::new(text).exists()) else {
            return TestPath::whole(PathBuf::from(text));
        };
        let with_number = |text: &str| {
            let (path, number) = text.rsplit_once(':')?;
            let number = number.parse::<usize>().ok()?;
            (!path.is_empty()).then(|| (path.to_owned(), number))
        };
        let Some((path, last)) = with_number(text) else {
            return TestPath::whole(PathBuf::from(text));
        };
        let (path, line) = with_number(&path).unwrap_or((path, last));
        TestPath { path: PathBuf::from(path), line: Some(line) }
    }
}

/// The tests that are selected by their lines.
#[derive(Debug, Default)]
pub(super) struct SelectedLines(Vec<(PathBuf, usize)>);

impl SelectedLines {
    /// Returns the lines of these paths. A file that is also named as a whole has none.
    ///
    /// # Errors
    /// When no test is at a line.
    pub(super) fn new(paths: &[TestPath], suites: &[Suite]) -> Result<SelectedLines, CommandError> {
        let mut selected = Vec::new();
        for TestPath { path, line } in paths {
            let is_whole = |other: &TestPath| other.line.is_none() && path.starts_with(&other.path);
            let Some(line) = line.filter(|_| !paths.iter().any(is_whole)) else { continue };
            for suite in suites.iter().filter(|suite| is_same_file(suite, path)) {
                if !suite.tests.iter().any(|test| suite.lines(test).contains(&line)) {
                    return Err(no_test_error(suite, line));
                }
            }
            selected.push((path.clone(), line));
        }
        Ok(SelectedLines(selected))
    }

    /// Returns true if the test is selected: its file has no selected lines, or one of them is
    /// in the test.
    pub(super) fn contains(&self, planned: PlannedTest<'_>) -> bool {
        let mut of_file =
            self.0.iter().filter(|(path, _)| is_same_file(planned.suite, path)).peekable();
        of_file.peek().is_none()
            || of_file.any(|(_, line)| planned.suite.lines(planned.test).contains(line))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn is_same_file(suite: &Suite, path: &Path) -> bool {
    let path = path.strip_prefix(".").unwrap_or(path);
    Path::new(suite.name()) == path
}

fn no_test_error(suite: &Suite, line: usize) -> CommandError {
    let mut starts: Vec<usize> =
        suite.tests.iter().map(|test| *suite.lines(test).start()).collect();
    starts.dedup();
    let starts: Vec<String> = starts.iter().map(usize::to_string).collect();
    CommandError::Usage(format!(
        "no test at line {line} of {}; tests begin at the lines {}",
        suite.name(),
        starts.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_after_the_path_is_a_line() {
        for (text, path, line) in [
            ("suites", "suites", None),
            ("a.spar.yaml:12", "a.spar.yaml", Some(12)),
            ("a.spar.yaml:12:5", "a.spar.yaml", Some(12)),
            ("a:b", "a:b", None),
            (":12", ":12", None),
            ("a:b:3", "a:b", Some(3)),
        ] {
            let expected = TestPath { path: PathBuf::from(path), line };
            assert_eq!(TestPath::from(OsString::from(text)), expected, "{text}");
        }
    }
}
