//! The tests that failed in their last run, by suite, in a file of the user, for
//! `--last-failed`.
//!
//! Tests that did not run keep their entry, so that a run of some tests does not forget
//! the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sparring_report::{Outcome, Run};
use sparring_suite::{Plan, PlannedTest};
use sparring_transport::{FileAccess, read_file, replace_file};

use crate::command_error::CommandError;

/// The largest file of failed tests.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// The failed tests by suite.
type Failed = BTreeMap<String, BTreeSet<String>>;

/// The file, if the environment names a place for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastFailed<'a>(pub(crate) Option<&'a Path>);

impl LastFailed<'_> {
    /// Returns a filter for the tests that failed in their last run.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn filter(self) -> Result<impl Fn(PlannedTest<'_>) -> bool, CommandError> {
        let failed = self
            .0
            .map(read_failed)
            .transpose()
            .map_err(|read_error| CommandError::File(read_error.to_string()))?;
        let failed = failed.unwrap_or_default();
        Ok(move |planned: PlannedTest<'_>| {
            let of_file = failed.get(&suite_path(planned));
            of_file.is_some_and(|tests| tests.contains(&test_name(planned)))
        })
    }

    /// Saves the outcomes of tests.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn save(self, plan: &Plan, run: &Run) -> io::Result<()> {
        let Some(path) = self.0 else { return Ok(()) };
        if run.summary.failed == 0 && !path.exists() {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let lock = File::create(path.with_extension("lock"))?;
        lock.lock()?;
        // A damaged file is replaced.
        let mut failed = read_failed(path).unwrap_or_default();
        for (planned, test) in plan.tests().zip(&run.tests) {
            let of_file = failed.entry(suite_path(planned)).or_default();
            match test.outcome {
                Outcome::Failed => of_file.insert(test_name(planned)),
                Outcome::Passed => of_file.remove(&test_name(planned)),
                Outcome::Skipped | Outcome::NotRun => false,
            };
        }
        failed.retain(|file, tests| !tests.is_empty() && Path::new(file).exists());
        replace_file(path, &serde_json::to_vec_pretty(&failed)?, FileAccess::Preserve)
    }
}

/// The name of a test, which differs for each variant.
fn test_name(planned: PlannedTest<'_>) -> String {
    format!("{}{}", planned.test.name, planned.variant)
}

/// The absolute path of a suite.
fn suite_path(planned: PlannedTest<'_>) -> String {
    let path = PathBuf::from(planned.suite.name());
    let path = fs::canonicalize(&path).unwrap_or(path);
    path.display().to_string()
}

fn read_failed(path: &Path) -> io::Result<Failed> {
    let read_error = |error: io::Error| {
        let message = format!("cannot read {}: {error}", path.display());
        io::Error::new(error.kind(), message)
    };
    match read_file(path, MAX_FILE_BYTES) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from).map_err(read_error),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Failed::new()),
        Err(error) => Err(read_error(error)),
    }
}
