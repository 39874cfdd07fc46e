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

use crate::knowledge::{Problem, Stamps, look};
use crate::library::Library;
use crate::log::{Level, Log};
use crate::server::{Instructions, replace};

/// The quiet period before the folder is read.
const QUIET: Duration = Duration::from_millis(50);

/// The interval of regular checks. Some file systems send no events, and a folder that
/// replaces the watched one is not watched.
const LOOK: Duration = Duration::from_secs(2);

/// A watched folder.
pub struct Watch {
    folder: PathBuf,
    known: Stamps,
    stirred: Arc<Notify>,
    /// `None` if the system cannot watch files; then only the regular checks find changes.
    _debouncer: Option<Debouncer<RecommendedWatcher>>,
}

impl Watch {
    /// Watches a folder; `known` are the stamps of its files when they were read.
    pub fn new(folder: &Path, known: Stamps) -> Watch {
        let stirred = Arc::new(Notify::new());
        let told = Arc::clone(&stirred);
        let stir = move |_: DebounceEventResult| told.notify_one();
        let debouncer = new_debouncer(QUIET, stir).ok().and_then(|mut debouncer| {
            let watching = debouncer.watcher().watch(folder, RecursiveMode::Recursive);
            watching.ok().map(|()| debouncer)
        });
        Watch { folder: folder.to_owned(), known, stirred, _debouncer: debouncer }
    }

    /// Serves the current contents of the folder after every change.
    pub async fn follow(mut self, server: &Server<Instructions>) -> ! {
        let log = server.handler().log();
        let mut told = None;
        loop {
            match self.read().await {
                Ok(None) => told = None,
                Ok(Some((library, problems))) => {
                    told = None;
                    tell(log, &problems);
                    let count = library.all().len();
                    replace(server, library);
                    let folder = self.folder.display();
                    log.say(
                        Level::Info,
                        format_args!("{folder} was read again: {count} instructions"),
                    );
                }
                Err(why) => {
                    // The same error is logged once.
                    if told.as_ref() != Some(&why) {
                        let stays = "what was read before is still served";
                        log.say(Level::Error, format_args!("{why}; {stays}"));
                    }
                    told = Some(why);
                }
            }
            let _ = timeout(LOOK, self.stirred.notified()).await;
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
            let now = look(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
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
pub fn tell(log: Log, problems: &[Problem]) {
    for problem in problems {
        log.say(Level::Warning, problem);
    }
}
