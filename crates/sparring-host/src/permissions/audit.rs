//! The audit log: one line for every decision, in an append-only file.
//!
//! The gate denies a call whose line cannot be written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::{Map, Value};
use sparring_wire::Json;

use super::gate::{Decision, Reason};
use crate::text::truncate;

/// The maximum number of characters of a name in a line.
const MAX_NAME_CHARS: usize = 500;

/// The audit log.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    log: Mutex<LogFile>,
    arguments: bool,
}

/// Why a line was not written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the audit log {}: {source}", path.display())]
pub struct AuditError {
    path: PathBuf,
    source: io::Error,
}

/// The contents of a line.
pub(super) struct AuditRecord<'a> {
    pub(super) call: &'a str,
    pub(super) server: &'a str,
    pub(super) tool: &'a str,
    pub(super) arguments: Json<'a>,
    pub(super) decision: &'a Decision,
}

#[derive(Debug)]
struct LogFile {
    file: File,
    /// True if the last line is not terminated.
    unterminated: bool,
}

impl AuditLog {
    /// Opens the file, or creates it with access for the user only.
    ///
    /// # Errors
    /// If the path is not a regular file, or cannot be written.
    pub fn open(path: impl Into<PathBuf>) -> Result<AuditLog, AuditError> {
        let path = path.into();
        match LogFile::open(&path) {
            Ok(log) => Ok(AuditLog { path, log: Mutex::new(log), arguments: false }),
            Err(source) => Err(AuditError { path, source }),
        }
    }

    /// Logs the arguments of calls too. They may contain secrets.
    #[must_use]
    pub fn with_arguments(mut self) -> Self {
        self.arguments = true;
        self
    }

    /// Appends a line with one write.
    pub(super) fn record(&self, line: &AuditRecord<'_>) -> Result<(), AuditError> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let text = render_record(line, self.arguments);
        log.append(&self.path, text)
            .map_err(|source| AuditError { path: self.path.clone(), source })
    }
}

impl LogFile {
    fn open(path: &Path) -> io::Result<LogFile> {
        // Opening a pipe can block forever.
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::other("not a regular file"));
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
        Ok(LogFile { file, unterminated: last != *b"\n" })
    }

    fn append(&mut self, path: &Path, line: String) -> io::Result<()> {
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::nlink(&self.file.metadata()?) == 0 {
            // The file was removed.
            *self = LogFile::open(path)?;
        }
        let line = if self.unterminated { format!("\n{line}\n") } else { format!("{line}\n") };
        let written = loop {
            match self.file.write(line.as_bytes()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => break written?,
            }
        };
        if written < line.len() {
            self.unterminated |= written > 0;
            return Err(io::Error::new(
                io::ErrorKind::WriteZero,
                "only part of a line was written",
            ));
        }
        self.unterminated = false;
        Ok(())
    }
}

fn render_record(line: &AuditRecord<'_>, with_arguments: bool) -> String {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    put("time", Timestamp::now().to_string().into());
    put("call", line.call.into());
    put("server", truncate(line.server, MAX_NAME_CHARS).into());
    put("tool", truncate(line.tool, MAX_NAME_CHARS).into());
    put("decision", if line.decision.allowed { "allow" } else { "deny" }.into());
    put("by", line.decision.reason.name().into());
    match &line.decision.reason {
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
        let arguments = line.arguments.deserialize();
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
    fn an_unterminated_line_is_terminated_before_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        fs::write(&path, "{\"half").expect("it is ours");
        let mut log = LogFile::open(&path).expect("it can be written");
        log.append(&path, "{}".to_owned()).expect("it can be written");
        log.append(&path, "{}".to_owned()).expect("it can be written");
        assert_eq!(read(&path), "{\"half\n{}\n{}\n");
    }

    #[test]
    fn a_removed_log_is_created_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        let mut log = LogFile::open(&path).expect("it can be written");
        log.append(&path, "1".to_owned()).expect("it can be written");
        fs::remove_file(&path).expect("it is ours");
        log.append(&path, "2".to_owned()).expect("it can be written");
        assert_eq!(read(&path), "2\n");
        drop(folder);
        log.append(&path, "3".to_owned()).expect_err("nor is there a folder");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error() {
        let file = OpenOptions::new().append(true).open("/dev/full").expect("Linux has it");
        let mut log = LogFile { file, unterminated: false };
        let error = log.append(Path::new("/dev/full"), "{}".to_owned()).expect_err("it is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_partly_written_line_is_an_error() {
        // A full pipe refuses the rest of the line like a full disk.
        let (mut reader, writer) = io::pipe().expect("a pipe");
        rustix::io::ioctl_fionbio(&writer, true).expect("pipes can do that");
        let mut log = LogFile { file: File::from(OwnedFd::from(writer)), unterminated: false };
        let path = Path::new("pipe");
        let error = log.append(path, "x".repeat(1 << 20)).expect_err("it does not fit");
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
        let mut taken = vec![0; 1 << 20];
        let count = reader.read(&mut taken).expect("what did fit");
        assert!(taken[..count].iter().all(|byte| *byte == b'x'));
        log.append(path, "{}".to_owned()).expect("there is room again");
        drop(log);
        let mut rest = String::new();
        reader.read_to_string(&mut rest).expect("the rest");
        assert_eq!(rest, "\n{}\n");
    }
}
