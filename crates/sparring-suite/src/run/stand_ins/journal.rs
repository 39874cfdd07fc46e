//! What came to a stand-in, wherever that is kept.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use sparring_mock::{HttpMock, HttpRequest, MockServer, journal::Received};

use super::StandIns;
use crate::model::{Expect, Facet};

/// Most of a journal in a file that is read at once.
const MOST: u64 = 64 * 1024 * 1024;

/// Where it is kept.
#[derive(Debug)]
pub(in crate::run) enum Journal {
    /// By an HTTP server in this process.
    Http(Box<HttpMock>),
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
    pub(super) fn file(path: PathBuf) -> Journal {
        Journal::File(path)
    }

    /// Makes what keeps it as it was at first. A file is only added to, and who
    /// is started anew is as it was at first anyway.
    pub(super) fn reset(&self) {
        match self {
            Journal::Http(mock) => mock.reset(),
            Journal::Live(server) => server.reset(),
            Journal::File(_) => {}
        }
    }

    /// How far it has come.
    fn mark(&self) -> u64 {
        match self {
            Journal::Http(mock) => mock.total(),
            Journal::Live(server) => server.total(),
            Journal::File(path) => std::fs::metadata(path).map_or(0, |it| it.len()),
        }
    }

    /// What came since then.
    fn since(&self, mark: u64) -> Vec<Came> {
        let after = |forgotten: u64| usize::try_from(mark.saturating_sub(forgotten)).unwrap_or(0);
        match self {
            Journal::Http(mock) => {
                let requests = mock.requests();
                requests.iter().skip(after(mock.forgotten())).map(request).collect()
            }
            Journal::Live(server) => {
                let received = server.received();
                received.iter().skip(after(server.forgotten())).filter_map(call).collect()
            }
            Journal::File(path) => lines(path, mark).iter().filter_map(|it| line(it)).collect(),
        }
    }
}

fn request(request: &HttpRequest) -> Came {
    let (value, shown) = (request.to_json(), request.to_shown());
    let shown = Some(shown).filter(|shown| *shown != value);
    Came { value, shown }
}

fn call(received: &Received) -> Option<Came> {
    let is_call = received.method() == "tools/call";
    let value = || json!({"tool": received.name(), "args": received.arguments()});
    is_call.then(|| Came { value: value(), shown: None })
}

/// A call from its line; what else there is was no call.
fn line(line: &[u8]) -> Option<Came> {
    let line: Value = serde_json::from_slice(line).ok()?;
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
pub(in crate::run) struct Marks(HashMap<String, u64>);

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

    fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }
}

/// The journals that a step looks at.
pub(in crate::run) struct Listening<'a>(Vec<Ear<'a>>);

struct Ear<'a> {
    name: &'a str,
    journal: &'a Journal,
    /// From where on it is looked at, and how far it was when it last was.
    begun: u64,
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
            Some(Ear { name, journal, begun, seen: begun })
        };
        let names = expect.0.iter().filter_map(|(_, facet)| match facet {
            Facet::Journal { name, .. } => Some(&**name),
            _ => None,
        });
        Listening(names.filter_map(ear).collect())
    }

    /// Looks what has come.
    pub(in crate::run) fn renew(&mut self, journals: &mut HashMap<String, Vec<Came>>) {
        for ear in &mut self.0 {
            let now = ear.journal.mark();
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

    #[test]
    fn a_line_that_is_being_written_is_not_read_and_one_that_is_none_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let journal = Journal::file(path.clone());
        assert!(journal.mark() == 0 && journal.since(0).is_empty(), "it is not there yet");
        let call = |name: &str| {
            let params = json!({"name": name, "arguments": {"n": 1}});
            json!({"method": "tools/call", "name": name, "params": params}).to_string()
        };
        let text = format!("{}\nnoise\n{{\"method\":\"ping\"}}\n", call("a"));
        std::fs::write(&path, &text).unwrap();
        let mark = journal.mark();
        let half = call("b");
        let tools = |mark| -> Vec<String> {
            let came = journal.since(mark);
            came.iter().map(|it| it.value["tool"].as_str().unwrap().to_owned()).collect()
        };
        std::fs::write(&path, format!("{text}{}\n{}", call("b"), &half[..half.len() / 2])).unwrap();
        assert_eq!(tools(0), ["a", "b"]);
        assert_eq!(tools(mark), ["b"]);
        assert_eq!(journal.since(0)[0].value["args"], json!({"n": 1}));
    }
}
