//! `spar test --watch`: runs all suites once, then reruns those whose files change and
//! those that are new.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sparring_host::file_watcher::FileWatcher;
use sparring_suite::{LoadError, LoadedSuite, Suite, WatchedFiles, find};

use super::test_run::TestCommand;
use super::{Test, collect_suites};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::report::Reports;
use crate::signals::Signals;

impl Test {
    /// Runs and watches until a signal arrives.
    pub(super) async fn watch(
        &self,
        command: TestCommand<'_>,
        signals: &mut Signals,
        reports: &mut Reports,
    ) -> Result<Exit, CommandError> {
        let printer = command.printer;
        let mut watched_suites = WatchedSuites::default();
        let paths = self.search_paths();
        let mut affected = watched_suites.find(&paths)?;
        let mut files = FileWatcher::default();
        loop {
            // Reads suites again that were not watched before, since they may have changed
            // meanwhile. Later changes are noticed, also while tests run.
            let suites = loop {
                let suites = watched_suites.read(&affected);
                if !files.watch(&watched_suites.watched_paths(&paths)) {
                    break suites;
                }
            };
            match collect_suites(suites) {
                Ok(suites) if suites.is_empty() => {}
                Ok(suites) => {
                    // Waits for the next change after any outcome.
                    match self.run_suites(suites, command, signals, reports).await {
                        Ok(_) => {}
                        Err(failure @ CommandError::Stopped(_)) => return Err(failure),
                        Err(failure) => printer.print_error(&failure).await,
                    }
                }
                Err(failure) => printer.print_error(&failure).await,
            }
            printer.note("waiting for changes; press Ctrl+C to exit").await;
            affected = loop {
                let changed = tokio::select! {
                    biased;
                    // The usual end of a watch.
                    signal = signals.next() => return Ok(Exit::Stopped(signal)),
                    changed = files.changed() => changed,
                };
                let affected = watched_suites.affected(&changed, &paths)?;
                if !affected.is_empty() {
                    printer.note(&change_note(&changed, &affected)).await;
                    break affected;
                }
                files.watch(&watched_suites.watched_paths(&paths));
            };
        }
    }
}

/// The suites, each with its files when it was read.
#[derive(Default)]
struct WatchedSuites {
    suites: BTreeMap<PathBuf, (BTreeSet<PathBuf>, WatchedFiles)>,
}

impl WatchedSuites {
    /// Finds the suites below the paths, and forgets those that are gone.
    fn find(&mut self, paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
        let found = find(paths).map_err(|error| CommandError::File(error.to_string()))?;
        self.suites.retain(|path, _| found.contains(path));
        Ok(found)
    }

    /// Reads suites, and keeps their files.
    fn read(&mut self, paths: &[PathBuf]) -> Vec<Result<Suite, LoadError>> {
        let read = paths.iter().map(|path| {
            let LoadedSuite { suite, watched } = Suite::load(path);
            self.suites.insert(path.clone(), (watched.files(), watched));
            suite
        });
        read.collect()
    }

    /// Returns the suites to rerun: new ones, those with a changed file, and those with
    /// more or fewer files than before.
    fn affected(
        &mut self,
        changed: &[PathBuf],
        paths: &[PathBuf],
    ) -> Result<Vec<PathBuf>, CommandError> {
        let mut found = self.find(paths)?;
        found.retain(|path| match self.suites.get(path) {
            None => true,
            Some((files, watched)) => {
                changed.iter().any(|file| files.contains(file)) || watched.files() != *files
            }
        });
        Ok(found)
    }

    /// Returns all files, and the folders in which new ones may appear.
    fn watched_paths(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
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

/// Describes the changed files, and the suites that run because of them.
fn change_note(changed: &[PathBuf], affected: &[PathBuf]) -> String {
    let names = |paths: &mut dyn Iterator<Item = &PathBuf>| {
        paths.map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let files = names(&mut changed.iter().filter(|path| !path.is_dir()));
    let what = if files.is_empty() { "new files".to_owned() } else { format!("{files} changed") };
    format!("{what}: running {}", names(&mut affected.iter()))
}
