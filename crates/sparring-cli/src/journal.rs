//! The journal of a mock in a file: a line of JSON for each request.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::failure::Failure;
use crate::output::Outlet;
use crate::signals::Signals;

/// How long the last lines may take to be written.
const END: Duration = Duration::from_secs(1);

/// How soon a line is in the file. Waking a thread for each would cost more than
/// making it does.
const GATHER: Duration = Duration::from_millis(5);

/// A journal being written.
pub(crate) struct Journal {
    path: PathBuf,
    lines: Lines,
}

/// The lines of a journal, for whoever has some.
#[derive(Clone)]
pub(crate) struct Lines {
    outlet: Outlet,
    /// Those that came faster than they could be written.
    lost: Arc<AtomicU64>,
}

impl Lines {
    /// Adds one, which is made only if there is room for it.
    pub(crate) fn add(&self, line: impl FnOnce() -> String) {
        match self.outlet.has_room() {
            true => {
                let mut line = line();
                line.push('\n');
                self.outlet.queue(line.as_bytes());
            }
            // Who serves does not wait for a disk.
            false => drop(self.lost.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

impl Journal {
    /// Begins it; a file that is there is added to, since others may write to
    /// the same one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) async fn begin(path: &Path, signals: &mut Signals) -> Result<Journal, Failure> {
        // It may take as long as the system likes: a pipe waits for its reader.
        let creating = path.to_owned();
        let open = move || File::options().append(true).create(true).open(creating);
        let made = tokio::select! {
            biased;
            signal = signals.next() => return Err(Failure::Stopped(signal)),
            made = spawn_blocking(open) => made,
        };
        let file = made.unwrap_or_else(|error| Err(io::Error::other(error)));
        let file = file
            .map_err(|error| Failure::File(format!("cannot write {}: {error}", path.display())))?;
        let outlet = Outlet::gathering(file, GATHER);
        Ok(Journal { path: path.to_owned(), lines: Lines { outlet, lost: Arc::default() } })
    }

    /// Where its lines are put.
    pub(crate) fn lines(&self) -> Lines {
        self.lines.clone()
    }

    /// Waits until all of it is written.
    ///
    /// # Errors
    /// When some of it could not be.
    pub(crate) async fn end(self) -> Result<(), Failure> {
        let failed = |why: String| Failure::File(format!("{}: {why}", self.path.display()));
        let written = timeout(END, self.lines.outlet.written()).await;
        let written =
            written.map_err(|_| failed("the journal is not written in time".to_owned()))?;
        written.map_err(|error| failed(format!("cannot write the journal: {error}")))?;
        match self.lines.lost.load(Ordering::Relaxed) {
            0 => Ok(()),
            lost => Err(failed(format!("{lost} requests came too fast for the journal"))),
        }
    }
}
