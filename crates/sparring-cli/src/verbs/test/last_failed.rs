//! Which tests failed when they last ran: kept for each file of tests in one
//! file of the user's own, for `--last-failed`.
//!
//! Tests that did not run are left as they were, so that a run of some of them
//! forgets nothing of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sparring_suite::{Outcome, Planned};
use sparring_transport::{FileAccess, replace_file};

use crate::failure::Failure;

/// The tests that failed, by their files.
type Failed = BTreeMap<String, BTreeSet<String>>;

/// The file that has them, where there is a place for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastFailed<'a>(pub(crate) Option<&'a Path>);

impl LastFailed<'_> {
    /// Whether a test failed when it last ran.
    ///
    /// # Errors
    /// When that cannot be known.
    pub(super) fn filter(self) -> Result<impl Fn(Planned<'_>) -> bool, Failure> {
        let failed =
            self.0.map(read).transpose().map_err(|told| Failure::File(told.to_string()))?;
        let failed = failed.unwrap_or_default();
        Ok(move |planned: Planned<'_>| {
            let of_file = failed.get(&file(planned));
            of_file.is_some_and(|tests| tests.contains(&name(planned)))
        })
    }

    /// Keeps what came of tests.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn keep<'p>(
        self,
        ended: impl Iterator<Item = (Planned<'p>, &'p Outcome)>,
    ) -> io::Result<()> {
        let Some(path) = self.0 else { return Ok(()) };
        let ended: Vec<_> = ended.collect();
        let any = ended.iter().any(|(_, outcome)| matches!(outcome, Outcome::Failed(_)));
        if !any && !path.exists() {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let lock = File::create(path.with_extension("lock"))?;
        lock.lock()?;
        // A file that is damaged has nothing more to say.
        let mut failed = read(path).unwrap_or_default();
        for (planned, outcome) in ended {
            let of_file = failed.entry(file(planned)).or_default();
            match outcome {
                Outcome::Failed(_) => of_file.insert(name(planned)),
                Outcome::Passed => of_file.remove(&name(planned)),
                Outcome::Skipped(_) => false,
            };
        }
        failed.retain(|file, tests| !tests.is_empty() && Path::new(file).exists());
        replace_file(path, &serde_json::to_vec_pretty(&failed)?, FileAccess::Kept)
    }
}

/// A test of a table or in a variant is another one in each.
fn name(planned: Planned<'_>) -> String {
    format!("{}{}", planned.test.name, planned.variant)
}

/// A file is the same from wherever it is named.
fn file(planned: Planned<'_>) -> String {
    let path = PathBuf::from(planned.suite.name());
    let path = fs::canonicalize(&path).unwrap_or(path);
    path.display().to_string()
}

fn read(path: &Path) -> io::Result<Failed> {
    let told = |error: io::Error| {
        let message = format!("cannot read {}: {error}", path.display());
        io::Error::new(error.kind(), message)
    };
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from).map_err(told),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Failed::new()),
        Err(error) => Err(told(error)),
    }
}
