//! Follows the folder: whenever a file in it is another than it was, all of it is
//! read anew and served instead. A folder that cannot be read is told, and what
//! was read before stays.

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

/// How long the folder must be quiet before it is read.
const QUIET: Duration = Duration::from_millis(50);

/// How often it is looked although nobody told to: not every file system tells,
/// and a folder that is put in the place of another is not watched any more.
const LOOK: Duration = Duration::from_secs(2);

/// A folder that is followed.
pub struct Watch {
    folder: PathBuf,
    known: Stamps,
    stirred: Arc<Notify>,
    /// None where the system has none to give; then it is only looked.
    _debouncer: Option<Debouncer<RecommendedWatcher>>,
}

impl Watch {
    /// Watches a folder whose files were these when they were read.
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

    /// Has the server serve what is in the folder, however often that changes.
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
                    // The same trouble is told once.
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

    /// The library, if the folder has changed.
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
        // Others are answered meanwhile.
        let opened = spawn_blocking(work).await.map_err(|error| error.to_string())??;
        Ok(opened.map(|opened| {
            self.known = opened.stamps;
            (opened.library, opened.problems)
        }))
    }
}

/// Says what is wrong in a folder.
pub fn tell(log: Log, problems: &[Problem]) {
    for problem in problems {
        log.say(Level::Warning, problem);
    }
}
