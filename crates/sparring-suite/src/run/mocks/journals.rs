//! The journals of mocks: the requests that they received.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use jiff::Timestamp;
use serde_json::{Value, json};
use sparring_mock::{
    HttpMock, HttpRequest, LlmMismatch, LlmMock, LlmRequest, MockServer, journal::ReceivedRequest,
};

use super::RunningMocks;
use crate::model::{Expectation, Expectations, Journal as JournalKind};
use crate::step_result::{JournalEntry, suite_violation};

/// The maximum number of bytes of a journal file that are read at once.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// The journal of a mock.
#[derive(Debug)]
pub(in crate::run) enum Journal {
    /// The journal of an HTTP server in this process.
    Http(Box<HttpMock>),
    /// The journal of an LLM endpoint in this process, and the number of reported misfits.
    Llm(Box<LlmMock>, AtomicUsize),
    /// The journal of an MCP server in this process.
    Live(Arc<MockServer>),
    /// The journal file of a mock in another process, with one request in each line.
    File(PathBuf),
}

impl Journal {
    /// Resets the mock and its journal. A mock in another process is started for each
    /// client, so it needs no reset.
    pub(super) fn reset(&self) {
        match self {
            Journal::Http(mock) => mock.reset(),
            Journal::Llm(mock, reported) => {
                mock.reset();
                reported.store(0, Relaxed);
            }
            Journal::Live(server) => server.reset(),
            Journal::File(_) => {}
        }
    }

    /// Takes the requests that do not fit the script of an LLM endpoint.
    fn take_misfits(&self) -> Vec<LlmMismatch> {
        let Journal::Llm(mock, reported) = self else { return Vec::new() };
        let misfits = mock.mismatches();
        let before = reported.swap(misfits.len(), Relaxed);
        misfits.into_iter().skip(before).collect()
    }

    /// The current end of the journal.
    fn position(&self) -> JournalPosition {
        JournalPosition { length: self.length(), at: Timestamp::now() }
    }

    /// The number of entries; for a file, its size in bytes.
    fn length(&self) -> u64 {
        match self {
            Journal::Http(mock) => mock.total(),
            Journal::Llm(mock, _) => mock.total(),
            Journal::Live(server) => server.total(),
            Journal::File(path) => std::fs::metadata(path).map_or(0, |it| it.len()),
        }
    }

    /// The entries of a kind after a position.
    fn entries_since(&self, kind: JournalKind, position: JournalPosition) -> Vec<JournalEntry> {
        match self {
            Journal::Http(mock) => {
                let (requests, first) = (mock.requests(), position.after(mock.dropped_requests()));
                requests.iter().skip(first).map(http_entry).collect()
            }
            Journal::Llm(mock, _) => {
                let (requests, first) = (mock.requests(), position.after(mock.dropped_requests()));
                let values = requests.iter().skip(first).map(LlmRequest::to_json);
                values.map(|value| JournalEntry { value, masked: None }).collect()
            }
            Journal::Live(_) | Journal::File(_) => {
                let lines = self.lines_since(position).into_iter();
                let values = lines.filter_map(|line| match kind {
                    JournalKind::Received => Some(line),
                    JournalKind::Called => called_tool(&line),
                });
                values.map(|value| JournalEntry { value, masked: None }).collect()
            }
        }
    }

    /// The requests to an MCP server after a position, as in journal files.
    pub(super) fn lines_since(&self, position: JournalPosition) -> Vec<Value> {
        match self {
            Journal::Live(server) => {
                let first = position.after(server.dropped_requests());
                server.received().iter().skip(first).map(ReceivedRequest::to_json).collect()
            }
            Journal::File(path) => {
                let lines = read_lines(path, position.length);
                lines.iter().filter_map(|line| parse_line(line, position.at)).collect()
            }
            Journal::Http(_) | Journal::Llm(..) => Vec::new(),
        }
    }
}

fn http_entry(request: &HttpRequest) -> JournalEntry {
    let (value, masked) = (request.to_json(), request.to_redacted_json());
    let masked = Some(masked).filter(|masked| *masked != value);
    JournalEntry { value, masked }
}

/// A request that does not fit the script of an LLM endpoint, in one line.
fn misfit_line(name: &str, misfit: &LlmMismatch) -> String {
    let first = |reason: &String| reason.lines().next().unwrap_or_default().to_owned();
    let reasons: Vec<String> = misfit.reasons.iter().map(first).collect();
    let colon = if reasons.is_empty() { "" } else { ": " };
    format!("mock `{name}`: {}{colon}{}", misfit.message, reasons.join("; "))
}

/// The tool and the arguments of a line of a journal; `None` if it is not a tool call.
fn called_tool(line: &Value) -> Option<Value> {
    let args = || line.pointer("/params/arguments").cloned().unwrap_or_else(|| json!({}));
    (line["method"] == "tools/call").then(|| json!({"tool": line["name"], "args": args()}))
}

/// Parses a line of a journal file; `None` if it is older than `since`. Journal lines are
/// written after the answers, so the line of an earlier call may be late.
fn parse_line(line: &[u8], since: Timestamp) -> Option<Value> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let at: Timestamp = line["at"].as_str()?.parse().ok()?;
    (at >= since).then_some(line)
}

/// Reads the complete lines of a file after its first `from` bytes.
fn read_lines(path: &Path, from: u64) -> Vec<Vec<u8>> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    // A file that does not exist yet has no lines.
    let bytes = read().unwrap_or_default();
    let complete = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    bytes[..complete].split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// The ends of journals at one time, by the names of their mocks.
#[derive(Debug, Default)]
pub(in crate::run) struct JournalPositions(HashMap<String, JournalPosition>);

/// The end of a journal at some time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JournalPosition {
    length: u64,
    at: Timestamp,
}

impl JournalPosition {
    /// The first entry after it in a journal that has dropped this number of entries.
    pub(super) fn after(self, dropped: u64) -> usize {
        usize::try_from(self.length.saturating_sub(dropped)).unwrap_or(0)
    }
}

impl JournalPositions {
    /// The current positions of all journals. `server` is the name and the journal of the
    /// server under test, if it is a mock.
    pub(in crate::run) fn of(mocks: &RunningMocks, server: Option<(&str, &Journal)>) -> Self {
        let all = mocks.all.iter().map(|it| (&*it.name, &it.journal)).chain(server);
        let positions = all.map(|(name, journal)| (name.to_owned(), journal.position()));
        JournalPositions(positions.collect())
    }

    /// The current position of the journal of the server under test.
    pub(in crate::run) fn of_server(server: Option<(&str, &Journal)>) -> Self {
        JournalPositions::of(&RunningMocks::default(), server)
    }

    /// Replaces positions by others of the same names.
    pub(in crate::run) fn replace(&mut self, by: JournalPositions) {
        self.0.extend(by.0);
    }

    pub(super) fn get(&self, name: &str) -> JournalPosition {
        self.0.get(name).copied().unwrap_or_default()
    }
}

/// Reads the journals that a step checks.
pub(in crate::run) struct JournalReader<'a> {
    journals: Vec<CheckedJournal<'a>>,
    mocks: &'a RunningMocks,
}

struct CheckedJournal<'a> {
    kind: JournalKind,
    name: &'a str,
    journal: &'a Journal,
    /// The position at the start of the step.
    start: JournalPosition,
    /// The length at the last read.
    read: u64,
}

impl RunningMocks {
    /// Takes the requests that do not fit the scripts of LLM endpoints, as violations.
    pub(in crate::run) fn take_misfits(&self) -> Vec<Value> {
        let mut violations = Vec::new();
        for mock in &self.all {
            for misfit in mock.journal.take_misfits() {
                let line = misfit_line(&mock.name, &misfit);
                violations.push(suite_violation(misfit.rule, "$", &line, None));
            }
        }
        violations
    }
}

impl<'a> JournalReader<'a> {
    /// Makes a reader of the journals that an expectation names, from `start` on.
    pub(in crate::run) fn new(
        expect: &'a Expectations,
        mocks: &'a RunningMocks,
        server: Option<(&str, &'a Journal)>,
        start: &JournalPositions,
    ) -> Self {
        let checked = |(kind, name): (JournalKind, &'a str)| {
            let own = server.filter(|(server, _)| *server == name).map(|(_, journal)| journal);
            let journal = mocks.journal(name).or(own)?;
            let start = start.get(name);
            Some(CheckedJournal { kind, name, journal, start, read: start.length })
        };
        let names = expect.0.iter().filter_map(|(_, expectation)| match expectation {
            Expectation::Journal { journal, name, .. } => Some((*journal, &**name)),
            _ => None,
        });
        JournalReader { journals: names.filter_map(checked).collect(), mocks }
    }

    /// Takes the requests that do not fit the scripts of LLM endpoints, as violations.
    pub(in crate::run) fn take_misfits(&self) -> Vec<Value> {
        self.mocks.take_misfits()
    }

    /// Reads the journals that have grown since the last read.
    pub(in crate::run) fn update(
        &mut self,
        journals: &mut HashMap<(JournalKind, String), Vec<JournalEntry>>,
    ) {
        for checked in &mut self.journals {
            let length = checked.journal.length();
            if length != checked.read {
                checked.read = length;
                let entries = checked.journal.entries_since(checked.kind, checked.start);
                journals.insert((checked.kind, checked.name.to_owned()), entries);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, at: Timestamp) -> String {
        let params = json!({"name": name, "arguments": {"n": 1}});
        let line =
            json!({"at": at.to_string(), "method": "tools/call", "name": name, "params": params});
        format!("{line}\n")
    }

    fn tools(journal: &Journal, position: JournalPosition) -> Vec<String> {
        let entries = journal.entries_since(JournalKind::Called, position);
        entries.iter().map(|it| it.value["tool"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn skips_incomplete_lines_and_lines_without_a_tool_call() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let journal = Journal::File(path.clone());
        let entries = |kind| journal.entries_since(kind, JournalPosition::default());
        assert!(journal.length() == 0 && entries(JournalKind::Called).is_empty());
        let text = format!("{}noise\n{{\"method\":\"ping\"}}\n", call("a", Timestamp::now()));
        let half = call("c", Timestamp::now());
        let half = &half[..half.len() / 2];
        std::fs::write(&path, format!("{text}{}{half}", call("b", Timestamp::now()))).unwrap();
        assert_eq!(tools(&journal, JournalPosition::default()), ["a", "b"]);
        assert_eq!(entries(JournalKind::Called)[0].value["args"], json!({"n": 1}));
        assert_eq!(entries(JournalKind::Received)[0].value["name"], "a");
    }

    #[test]
    fn a_late_line_of_an_earlier_call_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let journal = Journal::File(path.clone());
        let before = call("before", Timestamp::now());
        let position = journal.position();
        std::fs::write(&path, format!("{before}{}", call("after", Timestamp::now()))).unwrap();
        assert_eq!(tools(&journal, position), ["after"]);
    }
}
