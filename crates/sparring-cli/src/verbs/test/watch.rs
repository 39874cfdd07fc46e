//! `spar test --watch`: runs everything once, and then again and again what a
//! change touches: suites of which a file has changed, and suites that are new.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sparring_host::files::Files;
use sparring_suite::{LoadError, Reading, Suite, Watched, find};

use super::round::Around;
use super::{Test, all_good};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::Reports;
use crate::signals::Signals;

impl Test {
    /// Runs and watches until a signal comes.
    pub(super) async fn watch(
        &self,
        around: Around<'_>,
        signals: &mut Signals,
        reports: &mut Reports,
    ) -> Result<Exit, Failure> {
        let printer = around.printer;
        let mut watching = Watching::default();
        let mut touched = watching.find(&self.paths)?;
        let mut files = Files::none();
        loop {
            // What was not watched before may have changed since it was read, so
            // then it is read once more. What changes from here on is noticed,
            // also while tests run.
            let suites = loop {
                let suites = watching.read(&touched);
                if !files.set(&watching.all(&self.paths)) {
                    break suites;
                }
            };
            match all_good(suites) {
                Ok(suites) if suites.is_empty() => {}
                Ok(suites) => {
                    // Whatever came of it, the next change is waited for.
                    match self.run_suites(suites, around, signals, reports).await {
                        Ok(_) => {}
                        Err(failure @ Failure::Stopped(_)) => return Err(failure),
                        Err(failure) => printer.trouble(&failure).await,
                    }
                }
                Err(failure) => printer.trouble(&failure).await,
            }
            printer.note("waiting for a change; Ctrl+C ends it").await;
            touched = loop {
                let changed = tokio::select! {
                    biased;
                    signal = signals.next() => return Err(Failure::Stopped(signal)),
                    changed = files.changed() => changed,
                };
                let touched = watching.touched(&changed, &self.paths)?;
                if !touched.is_empty() {
                    printer.note(&told(&changed, &touched)).await;
                    break touched;
                }
                files.set(&watching.all(&self.paths));
            };
        }
    }
}

/// The suites there are, each with its files as they were when it was read.
#[derive(Default)]
struct Watching {
    suites: BTreeMap<PathBuf, (BTreeSet<PathBuf>, Watched)>,
}

impl Watching {
    /// The suites below the paths; those that are gone are forgotten.
    fn find(&mut self, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
        let found = find(paths).map_err(|error| Failure::File(error.to_string()))?;
        self.suites.retain(|path, _| found.contains(path));
        Ok(found)
    }

    /// Reads suites, and keeps in mind which files they are about.
    fn read(&mut self, paths: &[PathBuf]) -> Vec<Result<Suite, LoadError>> {
        let read = paths.iter().map(|path| {
            let Reading { suite, watched } = Suite::open(path);
            self.suites.insert(path.clone(), (watched.files(), watched));
            suite
        });
        read.collect()
    }

    /// The suites that are to be run again: those that are new, those of which a
    /// file has changed, and those that have more or fewer files than before.
    fn touched(&mut self, changed: &[PathBuf], paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
        let mut found = self.find(paths)?;
        found.retain(|path| match self.suites.get(path) {
            None => true,
            Some((files, watched)) => {
                changed.iter().any(|file| files.contains(file)) || watched.files() != *files
            }
        });
        Ok(found)
    }

    /// All files, and the folders in which more may appear.
    fn all(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let mut all: BTreeSet<PathBuf> =
            paths.iter().filter(|path| path.is_dir()).cloned().collect();
        for (path, (files, watched)) in &self.suites {
            all.extend(files.iter().cloned());
            all.extend(watched.folders());
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            all.extend(folder.map(Path::to_owned));
        }
        all.into_iter().collect()
    }
}

/// What has changed, and what is run because of it.
fn told(changed: &[PathBuf], touched: &[PathBuf]) -> String {
    let names = |paths: &mut dyn Iterator<Item = &PathBuf>| {
        paths.map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let files = names(&mut changed.iter().filter(|path| !path.is_dir()));
    let what = if files.is_empty() {
        "there is something new".to_owned()
    } else {
        format!("{files} has changed")
    };
    format!("{what}: running {}", names(&mut touched.iter()))
}
