//! What came to a stand-in, wherever that is kept.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use jiff::Timestamp;
use serde_json::{Value, json};
use sparring_mock::{
    HttpMock, HttpRequest, LlmMiss, LlmMock, LlmRequest, MockServer, journal::Received,
};

use super::super::heard::breach;
use super::StandIns;
use crate::model::{Expect, Facet};

/// Most of a journal in a file that is read at once.
const MOST: u64 = 64 * 1024 * 1024;

/// Where it is kept.
#[derive(Debug)]
pub(in crate::run) enum Journal {
    /// By an HTTP server in this process.
    Http(Box<HttpMock>),
    /// By an LLM endpoint in this process, and how many of its misses were told.
    Llm(Box<LlmMock>, AtomicUsize),
    /// By an MCP server in this process.
    Live(Arc<MockServer>),
    /// In a file, a line each, by a process of whoever wants one.
    File(PathBuf),
}

/// One thing that came.
#[derive(Debug, Clone)]
pub(crate) struct Came {
    pub(crate) value: Value,
    /// The same without its secrets, where it has some.
    pub(crate) shown: Option<Value>,
}

impl Journal {
    /// Makes what keeps it as it was at first. A file is only added to, and who
    /// is started anew is as it was at first anyway.
    pub(super) fn reset(&self) {
        match self {
            Journal::Http(mock) => mock.reset(),
            Journal::Llm(mock, told) => {
                mock.reset();
                told.store(0, Relaxed);
            }
            Journal::Live(server) => server.reset(),
            Journal::File(_) => {}
        }
    }

    /// What came that the script of an LLM endpoint does not have, and that was
    /// not told yet.
    fn misses(&self) -> Vec<LlmMiss> {
        let Journal::Llm(mock, told) = self else { return Vec::new() };
        let misses = mock.misses();
        let before = told.swap(misses.len(), Relaxed);
        misses.into_iter().skip(before).collect()
    }

    /// How far it has come, now.
    fn mark(&self) -> Mark {
        Mark { extent: self.extent(), at: Timestamp::now() }
    }

    /// How much is in it.
    fn extent(&self) -> u64 {
        match self {
            Journal::Http(mock) => mock.total(),
            Journal::Llm(mock, _) => mock.total(),
            Journal::Live(server) => server.total(),
            Journal::File(path) => std::fs::metadata(path).map_or(0, |it| it.len()),
        }
    }

    /// What came since then.
    fn since(&self, mark: Mark) -> Vec<Came> {
        let after =
            |forgotten: u64| usize::try_from(mark.extent.saturating_sub(forgotten)).unwrap_or(0);
        match self {
            Journal::Http(mock) => {
                let requests = mock.requests();
                requests.iter().skip(after(mock.forgotten())).map(request).collect()
            }
            Journal::Llm(mock, _) => {
                let (requests, forgotten) = (mock.requests(), after(mock.forgotten()));
                let came = requests.iter().skip(forgotten).map(LlmRequest::to_json);
                came.map(|value| Came { value, shown: None }).collect()
            }
            Journal::Live(server) => {
                let received = server.received();
                received.iter().skip(after(server.forgotten())).filter_map(call).collect()
            }
            Journal::File(path) => {
                let lines = lines(path, mark.extent);
                lines.iter().filter_map(|it| line(it, mark.at)).collect()
            }
        }
    }
}

fn request(request: &HttpRequest) -> Came {
    let (value, shown) = (request.to_json(), request.to_shown());
    let shown = Some(shown).filter(|shown| *shown != value);
    Came { value, shown }
}

/// What an LLM endpoint missed, in a line.
fn missed(name: &str, miss: &LlmMiss) -> String {
    let first = |reason: &String| reason.lines().next().unwrap_or_default().to_owned();
    let reasons: Vec<String> = miss.reasons.iter().map(first).collect();
    let colon = if reasons.is_empty() { "" } else { ": " };
    format!("the mock `{name}`: {}{colon}{}", miss.message, reasons.join("; "))
}

fn call(received: &Received) -> Option<Came> {
    let is_call = received.method() == "tools/call";
    let value = || json!({"tool": received.name(), "args": received.arguments()});
    is_call.then(|| Came { value: value(), shown: None })
}

/// A call from its line, if it came since then; what else there is was no call.
/// Lines are written beside the answers, so one of an earlier call may be late.
fn line(line: &[u8], since: Timestamp) -> Option<Came> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let at: Timestamp = line["at"].as_str()?.parse().ok()?;
    if at < since {
        return None;
    }
    let args = line.pointer("/params/arguments").cloned().unwrap_or_else(|| json!({}));
    let value = json!({"tool": line["name"], "args": args});
    (line["method"] == "tools/call").then_some(Came { value, shown: None })
}

/// The whole lines of a file after its first bytes. The last may be being
/// written.
fn lines(path: &Path, from: u64) -> Vec<Vec<u8>> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    // One that is not there yet has nothing in it.
    let bytes = read().unwrap_or_default();
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    bytes[..whole].split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// How far journals had come, by the names of who keeps them.
#[derive(Debug, Default)]
pub(in crate::run) struct Marks(HashMap<String, Mark>);

/// How far a journal had come, and when that was.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    extent: u64,
    at: Timestamp,
}

impl Marks {
    /// How far all of them are now; `tested` is the server under test and its
    /// journal, where it is a mock.
    pub(in crate::run) fn of(stand_ins: &StandIns, tested: Option<(&str, &Journal)>) -> Self {
        let all = stand_ins.all.iter().map(|it| (&*it.name, &it.journal)).chain(tested);
        Marks(all.map(|(name, journal)| (name.to_owned(), journal.mark())).collect())
    }

    /// How far only that of the server under test is.
    pub(in crate::run) fn of_one(tested: Option<(&str, &Journal)>) -> Self {
        Marks::of(&StandIns::default(), tested)
    }

    /// Puts other marks in the place of those of the same names.
    pub(in crate::run) fn renew(&mut self, by: Marks) {
        self.0.extend(by.0);
    }

    fn get(&self, name: &str) -> Mark {
        self.0.get(name).copied().unwrap_or_default()
    }
}

/// The journals that a step looks at.
pub(in crate::run) struct Listening<'a> {
    ears: Vec<Ear<'a>>,
    stand_ins: &'a StandIns,
}

struct Ear<'a> {
    name: &'a str,
    journal: &'a Journal,
    /// From where on it is looked at, and how far it was when it last was.
    begun: Mark,
    seen: u64,
}

impl<'a> Listening<'a> {
    /// Listens to what is expected to come since then.
    pub(in crate::run) fn begin(
        expect: &'a Expect,
        stand_ins: &'a StandIns,
        tested: Option<(&str, &'a Journal)>,
        since: &Marks,
    ) -> Self {
        let ear = |name: &'a str| {
            let own = tested.filter(|(tested, _)| *tested == name).map(|(_, journal)| journal);
            let journal = stand_ins.journal(name).or(own)?;
            let begun = since.get(name);
            Some(Ear { name, journal, begun, seen: begun.extent })
        };
        let names = expect.0.iter().filter_map(|(_, facet)| match facet {
            Facet::Journal { name, .. } => Some(&**name),
            _ => None,
        });
        Listening { ears: names.filter_map(ear).collect(), stand_ins }
    }

    /// What came to LLM endpoints otherwise than their scripts have it, as
    /// breaches.
    pub(in crate::run) fn misses(&self) -> Vec<Value> {
        let of = |(name, journal): (&str, &Journal)| {
            let misses = journal.misses().into_iter();
            misses.map(|it| breach(it.rule, &missed(name, &it))).collect::<Vec<Value>>()
        };
        let all = self.stand_ins.all.iter().map(|it| (&*it.name, &it.journal));
        all.flat_map(of).collect()
    }

    /// Looks what has come.
    pub(in crate::run) fn renew(&mut self, journals: &mut HashMap<String, Vec<Came>>) {
        for ear in &mut self.ears {
            let now = ear.journal.extent();
            if now != ear.seen {
                ear.seen = now;
                journals.insert(ear.name.to_owned(), ear.journal.since(ear.begun));
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

    fn tools(journal: &Journal, mark: Mark) -> Vec<String> {
        let came = journal.since(mark);
        came.iter().map(|it| it.value["tool"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_line_that_is_being_written_is_not_read_and_one_that_is_none_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let journal = Journal::File(path.clone());
        assert!(journal.extent() == 0 && journal.since(Mark::default()).is_empty());
        let text = format!("{}noise\n{{\"method\":\"ping\"}}\n", call("a", Timestamp::now()));
        let half = call("c", Timestamp::now());
        let half = &half[..half.len() / 2];
        std::fs::write(&path, format!("{text}{}{half}", call("b", Timestamp::now()))).unwrap();
        assert_eq!(tools(&journal, Mark::default()), ["a", "b"]);
        assert_eq!(journal.since(Mark::default())[0].value["args"], json!({"n": 1}));
    }

    #[test]
    fn a_call_whose_line_is_written_late_belongs_to_the_time_when_it_came() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let journal = Journal::File(path.clone());
        let before = call("before", Timestamp::now());
        let mark = journal.mark();
        std::fs::write(&path, format!("{before}{}", call("after", Timestamp::now()))).unwrap();
        assert_eq!(tools(&journal, mark), ["after"]);
    }
}
