//! The journal of a mock in a file: a line of JSON for each request.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sparring_mock::MockServer;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::failure::Failure;
use crate::output::Outlet;

/// How long the last lines may take to be written.
const END: Duration = Duration::from_secs(1);

/// How soon a line is in the file. Waking a thread for each would cost more than
/// making it does.
const GATHER: Duration = Duration::from_millis(5);

/// A journal being written.
pub(crate) struct Journal {
    path: PathBuf,
    outlet: Outlet,
    /// Lines that came faster than they could be written.
    lost: Arc<AtomicU64>,
}

impl Journal {
    /// Begins it; a file that is there is added to, since others may write to
    /// the same one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) async fn begin(path: &Path, mock: &MockServer) -> Result<Journal, Failure> {
        // It may take as long as the system likes: a pipe waits for its reader.
        let creating = path.to_owned();
        let made =
            spawn_blocking(move || File::options().append(true).create(true).open(creating)).await;
        let file = made.unwrap_or_else(|error| Err(io::Error::other(error)));
        let file = file
            .map_err(|error| Failure::File(format!("cannot write {}: {error}", path.display())))?;
        let outlet = Outlet::gathering(file, GATHER);
        let lost = Arc::new(AtomicU64::new(0));
        let (lines, too_many) = (outlet.clone(), Arc::clone(&lost));
        mock.on_received(move |received| match lines.has_room() {
            true => {
                let mut line = received.to_line();
                line.push('\n');
                lines.queue(line.as_bytes());
            }
            // Who serves does not wait for a disk.
            false => drop(too_many.fetch_add(1, Ordering::Relaxed)),
        });
        Ok(Journal { path: path.to_owned(), outlet, lost })
    }

    /// Waits until all of it is written.
    ///
    /// # Errors
    /// When some of it could not be.
    pub(crate) async fn end(self) -> Result<(), Failure> {
        let failed = |why: String| Failure::File(format!("{}: {why}", self.path.display()));
        let written = timeout(END, self.outlet.written()).await;
        let written =
            written.map_err(|_| failed("the journal is not written in time".to_owned()))?;
        written.map_err(|error| failed(format!("cannot write the journal: {error}")))?;
        match self.lost.load(Ordering::Relaxed) {
            0 => Ok(()),
            lost => Err(failed(format!("{lost} requests came too fast for the journal"))),
        }
    }
}
