//! A line for every decision, in a file that is only ever added to.
//!
//! What cannot be written down is not done: the gate denies a call whose line
//! is not in the file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::{Map, Value};
use sparring_wire::Json;

use super::gate::{Reason, Settled};
use crate::text::cut;

/// The most of a name that a line shows.
const LONGEST_NAME: usize = 500;

/// The file.
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
    log: Mutex<Log>,
    arguments: bool,
}

/// Why a line is not in it.
#[derive(Debug, thiserror::Error)]
#[error("the audit log {} cannot be written: {source}", path.display())]
pub struct AuditError {
    path: PathBuf,
    source: io::Error,
}

/// What a line is about.
pub(super) struct Line<'a> {
    pub(super) call: &'a str,
    pub(super) server: &'a str,
    pub(super) tool: &'a str,
    pub(super) arguments: Json<'a>,
    pub(super) settled: &'a Settled,
}

#[derive(Debug)]
struct Log {
    file: File,
    /// Whether the last line has no end.
    torn: bool,
}

impl Audit {
    /// Opens the file, or makes it so that only the user can read it.
    ///
    /// # Errors
    /// When it is no file, or cannot be written.
    pub fn open(path: impl Into<PathBuf>) -> Result<Audit, AuditError> {
        let path = path.into();
        match Log::open(&path) {
            Ok(log) => Ok(Audit { path, log: Mutex::new(log), arguments: false }),
            Err(source) => Err(AuditError { path, source }),
        }
    }

    /// Writes the arguments of calls down too. They may have secrets in them.
    #[must_use]
    pub fn with_arguments(mut self) -> Self {
        self.arguments = true;
        self
    }

    /// Adds a line, in one write.
    pub(super) fn record(&self, line: &Line<'_>) -> Result<(), AuditError> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let text = text(line, self.arguments);
        log.add(&self.path, text).map_err(|source| AuditError { path: self.path.clone(), source })
    }
}

impl Log {
    fn open(path: &Path) -> io::Result<Log> {
        // Whoever opens a pipe may wait for ever.
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::other("it is no file"));
        }
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.read(true).append(true).create(true).open(path)?;
        let mut last = [b'\n'];
        if file.metadata()?.len() > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        Ok(Log { file, torn: last != *b"\n" })
    }

    fn add(&mut self, path: &Path, line: String) -> io::Result<()> {
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::nlink(&self.file.metadata()?) == 0 {
            // Somebody removed it.
            *self = Log::open(path)?;
        }
        let line = if self.torn { format!("\n{line}\n") } else { format!("{line}\n") };
        let written = loop {
            match self.file.write(line.as_bytes()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => break written?,
            }
        };
        if written < line.len() {
            self.torn |= written > 0;
            return Err(io::Error::new(io::ErrorKind::WriteZero, "only a part of a line fits"));
        }
        self.torn = false;
        Ok(())
    }
}

fn text(line: &Line<'_>, with_arguments: bool) -> String {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    put("time", Timestamp::now().to_string().into());
    put("call", line.call.into());
    put("server", cut(line.server, LONGEST_NAME).into());
    put("tool", cut(line.tool, LONGEST_NAME).into());
    put("decision", if line.settled.allowed { "allow" } else { "deny" }.into());
    put("by", line.settled.reason.name().into());
    match &line.settled.reason {
        Reason::Rule(rule) => {
            put("rule", rule.pattern.as_str().into());
            put("from", rule.source.name().into());
            if let Some(entry) = &rule.entry {
                put("entry", entry.as_str().into());
            }
        }
        Reason::Answer(Some(answer)) => put("answer", answer.name().into()),
        Reason::AskFailed(why) => put("why", why.as_str().into()),
        _ => {}
    }
    if with_arguments {
        let arguments = line.arguments.to();
        put("arguments", arguments.unwrap_or_else(|_| line.arguments.text().into()));
    }
    Value::Object(fields).to_string()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::fd::OwnedFd;

    use super::*;

    fn read(path: &Path) -> String {
        fs::read_to_string(path).expect("it is there")
    }

    #[test]
    fn a_line_that_has_no_end_is_ended_before_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        fs::write(&path, "{\"half").expect("it is ours");
        let mut log = Log::open(&path).expect("it can be written");
        log.add(&path, "{}".to_owned()).expect("it can be written");
        log.add(&path, "{}".to_owned()).expect("it can be written");
        assert_eq!(read(&path), "{\"half\n{}\n{}\n");
    }

    #[test]
    fn a_log_that_was_removed_begins_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        let mut log = Log::open(&path).expect("it can be written");
        log.add(&path, "1".to_owned()).expect("it can be written");
        fs::remove_file(&path).expect("it is ours");
        log.add(&path, "2".to_owned()).expect("it can be written");
        assert_eq!(read(&path), "2\n");
        drop(folder);
        log.add(&path, "3".to_owned()).expect_err("nor is there a folder");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_disk_that_is_full_is_told() {
        let file = OpenOptions::new().append(true).open("/dev/full").expect("Linux has it");
        let mut log = Log { file, torn: false };
        let error = log.add(Path::new("/dev/full"), "{}".to_owned()).expect_err("it is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_line_of_which_only_a_part_fits_is_no_line() {
        // A pipe takes so much, and then the rest is refused as by a full disk.
        let (mut reader, writer) = io::pipe().expect("a pipe");
        rustix::io::ioctl_fionbio(&writer, true).expect("pipes can do that");
        let mut log = Log { file: File::from(OwnedFd::from(writer)), torn: false };
        let path = Path::new("pipe");
        let error = log.add(path, "x".repeat(1 << 20)).expect_err("it does not fit");
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
        let mut taken = vec![0; 1 << 20];
        let count = reader.read(&mut taken).expect("what did fit");
        assert!(taken[..count].iter().all(|byte| *byte == b'x'));
        log.add(path, "{}".to_owned()).expect("there is room again");
        drop(log);
        let mut rest = String::new();
        reader.read_to_string(&mut rest).expect("the rest");
        assert_eq!(rest, "\n{}\n");
    }
}
