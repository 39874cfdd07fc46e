//! Writes a mock's journal to a file: one line of JSON for each request.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sparring_transport::Secrets;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::command_error::CommandError;
use crate::output::{ThreadedWriter, open_private};
use crate::signals::Signals;

/// Limit for writing the last lines.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The time in which lines are collected before they are written. Waking a thread for
/// each line costs more than making the line.
const WRITE_DELAY: Duration = Duration::from_millis(5);

/// A journal being written.
pub(crate) struct JournalFile {
    path: PathBuf,
    writer: JournalWriter,
}

/// Adds lines to the journal.
#[derive(Clone)]
pub(crate) struct JournalWriter {
    writer: ThreadedWriter,
    /// The number of lines that arrived faster than they could be written.
    dropped: Arc<AtomicU64>,
}

impl JournalWriter {
    /// Adds a line. Makes it only if there is capacity.
    pub(crate) fn add(&self, line: impl FnOnce() -> String) {
        match self.writer.has_capacity() {
            true => {
                let mut line = line();
                line.push('\n');
                self.writer.queue(line.as_bytes());
            }
            // A server does not wait for a disk.
            false => drop(self.dropped.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

/// Ends the last line if it is incomplete, for example because the disk was full, so that it
/// does not spoil the next one.
fn end_torn_line(mut file: File, path: &Path) -> io::Result<File> {
    if file.metadata()?.is_file() {
        let mut reading = File::open(path)?;
        let mut last = Vec::new();
        if reading.seek(SeekFrom::End(-1)).is_ok() {
            reading.take(1).read_to_end(&mut last)?;
        }
        if !matches!(last[..], [] | [b'\n']) {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

impl JournalFile {
    /// Opens the file and appends to it, since other mocks may write to the same file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) async fn open(
        path: &Path,
        secrets: &Secrets,
        signals: &mut Signals,
    ) -> Result<JournalFile, CommandError> {
        // May block: a pipe waits for its reader.
        let creating = path.to_owned();
        let open =
            move || open_private(&creating, true).and_then(|file| end_torn_line(file, &creating));
        let made = tokio::select! {
            biased;
            signal = signals.next() => return Err(CommandError::Stopped(signal)),
            made = spawn_blocking(open) => made,
        };
        let file = made.unwrap_or_else(|error| Err(io::Error::other(error)));
        let file = file.map_err(|error| {
            CommandError::File(format!("cannot write {}: {error}", path.display()))
        })?;
        let writer = ThreadedWriter::with_delay(file, secrets, WRITE_DELAY);
        Ok(JournalFile {
            path: path.to_owned(),
            writer: JournalWriter { writer, dropped: Arc::default() },
        })
    }

    pub(crate) fn writer(&self) -> JournalWriter {
        self.writer.clone()
    }

    /// Waits until all lines are written.
    ///
    /// # Errors
    /// When a line could not be written.
    pub(crate) async fn finish(self) -> Result<(), CommandError> {
        let failed = |why: String| CommandError::File(format!("{}: {why}", self.path.display()));
        let written = timeout(FLUSH_TIMEOUT, self.writer.writer.flush()).await;
        let written =
            written.map_err(|_| failed("the journal could not be written in time".to_owned()))?;
        written.map_err(|error| failed(format!("cannot write the journal: {error}")))?;
        match self.writer.dropped.load(Ordering::Relaxed) {
            0 => Ok(()),
            dropped => {
                Err(failed(format!("the journal lacks {dropped} requests that came too fast")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::write(&path, before).unwrap();
        let file = open_private(&path, true).unwrap();
        end_torn_line(file, &path).unwrap().write_all(b"{}\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
    }

    #[test]
    fn a_torn_line_does_not_spoil_the_next() {
        check("", "{}\n");
        check("{}\n", "{}\n{}\n");
        check("{}\n{\"me", "{}\n{\"me\n{}\n");
    }
}
