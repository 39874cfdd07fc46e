//! Watches the folder: after every change the server reads the whole folder again. If
//! the folder cannot be read, the error is logged and the previous instructions stay.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify_debouncer_mini::notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_mini::{DebounceEventResult, Debouncer, new_debouncer};
use sparring::Server;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::knowledge::{Problem, Stamps, read_stamps};
use crate::library::Library;
use crate::log::{Level, Log};
use crate::server::{Instructions, replace};

/// The quiet period before the folder is read.
const DEBOUNCE_TIME: Duration = Duration::from_millis(50);

/// The interval of regular checks. Some file systems send no events, and a folder that
/// replaces the watched one is not watched.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// A watched folder.
pub struct Watch {
    folder: PathBuf,
    known: Stamps,
    changed: Arc<Notify>,
    /// `None` if the system cannot watch files; then only the regular checks find changes.
    _debouncer: Option<Debouncer<RecommendedWatcher>>,
}

impl Watch {
    /// Watches a folder; `known` are the stamps of its files when they were read.
    pub fn new(folder: &Path, known: Stamps) -> Watch {
        let changed = Arc::new(Notify::new());
        let notify = Arc::clone(&changed);
        let on_change = move |_: DebounceEventResult| notify.notify_one();
        let debouncer = new_debouncer(DEBOUNCE_TIME, on_change).ok().and_then(|mut debouncer| {
            let watching = debouncer.watcher().watch(folder, RecursiveMode::Recursive);
            watching.ok().map(|()| debouncer)
        });
        Watch { folder: folder.to_owned(), known, changed, _debouncer: debouncer }
    }

    /// Serves the current contents of the folder after every change.
    pub async fn follow(mut self, server: &Server<Instructions>) -> ! {
        let log = server.handler().log();
        let mut last_error = None;
        loop {
            match self.read().await {
                Ok(None) => last_error = None,
                Ok(Some((library, problems))) => {
                    last_error = None;
                    log_problems(log, &problems);
                    let count = library.all().len();
                    replace(server, library);
                    let folder = self.folder.display();
                    log.write(
                        Level::Info,
                        format_args!("{folder} was read again: {count} instructions"),
                    );
                }
                Err(why) => {
                    // The same error is logged once.
                    if last_error.as_ref() != Some(&why) {
                        let effect = "still serving the previous instructions";
                        log.write(Level::Error, format_args!("{why}; {effect}"));
                    }
                    last_error = Some(why);
                }
            }
            let _ = timeout(POLL_INTERVAL, self.changed.notified()).await;
        }
    }

    /// Returns the new library, if the folder has changed.
    async fn read(&mut self) -> Result<Option<(Library, Vec<Problem>)>, String> {
        let (folder, known) = (self.folder.clone(), self.known.clone());
        let work = move || -> Result<_, String> {
            let reason = |error: &dyn std::error::Error| match error.source() {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            };
            let now =
                read_stamps(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            if now == known {
                return Ok(None);
            }
            Library::open(&folder).map(Some).map_err(|error| reason(&error))
        };
        // Other requests are answered meanwhile.
        let opened = spawn_blocking(work).await.map_err(|error| error.to_string())??;
        Ok(opened.map(|opened| {
            self.known = opened.stamps;
            (opened.library, opened.problems)
        }))
    }
}

/// Logs the problems of a folder.
pub fn log_problems(log: Log, problems: &[Problem]) {
    for problem in problems {
        log.write(Level::Warning, problem);
    }
}
