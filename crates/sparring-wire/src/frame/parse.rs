//! Reads a frame's bytes in one pass, going as far as they make sense.
//!
//! A text that breaks off still gives what stood before the break, so that a
//! truncated reply can be told from mere noise by its id.

use std::ops::Range;

use super::{FrameKind, Limits, Method, Read};
use crate::id::Id;
use crate::json::scan::Scanner;
use crate::json::tape::Tape;
use crate::json::{Fault, FaultKind, Json, JsonKind, Key};
use crate::revision::known_method;
use crate::violation::{Rule, Violation};

/// Where the specification speaks of what any message must look like.
const MESSAGES: &str = "basic#messages";

/// The most notes, and violations, that one frame gets: nobody reads more, and
/// a hostile frame must not make reading slow.
const MOST: usize = 64;

pub(super) fn read(bytes: &[u8], limits: Limits) -> (Read, Tape) {
    let mut reader = Reader {
        bytes,
        limits,
        read: Read::new(FrameKind::Other),
        id: None,
        version: None,
        broken_in_response: false,
        tape: Tape::default(),
    };
    reader.run();
    (reader.read, reader.tape)
}

pub(super) fn too_large(limit: usize) -> Violation {
    let message = format!("longer than the limit of {limit} bytes");
    Violation::new(Rule::TooLarge, "$", message, MESSAGES)
}

pub(super) fn params_remark(found: Json<'_>) -> Violation {
    let message = format!("params are an object, not {}", found.kind().name());
    Violation::new(Rule::ParamsWrongType, "$.params", message, MESSAGES)
}

pub(super) fn result_remark(found: Json<'_>) -> Violation {
    let message = format!("a result is an object, not {}", found.kind().name());
    Violation::new(Rule::ResultWrongType, "$.result", message, MESSAGES)
}

struct Reader<'a> {
    bytes: &'a [u8],
    limits: Limits,
    read: Read,
    id: Option<Json<'a>>,
    version: Option<Json<'a>>,
    /// Whether the text broke off inside a result or an error.
    broken_in_response: bool,
    /// Of the first of params, result and error, which is mostly the only one.
    tape: Tape,
}

/// What JSON-RPC knows.
#[derive(Clone, Copy)]
enum Part {
    Version,
    Id,
    Method,
    Params,
    Result,
    Error,
}

impl Part {
    const ALL: [Part; 6] =
        [Part::Version, Part::Id, Part::Method, Part::Params, Part::Result, Part::Error];

    fn name(self) -> &'static str {
        match self {
            Part::Version => "jsonrpc",
            Part::Id => "id",
            Part::Method => "method",
            Part::Params => "params",
            Part::Result => "result",
            Part::Error => "error",
        }
    }

    fn named(key: Key<'_>) -> Option<Part> {
        Part::ALL.into_iter().find(|part| key.is(part.name()))
    }
}

impl<'a> Reader<'a> {
    fn run(&mut self) {
        let limit = self.limits.max_bytes.min(u32::MAX as usize);
        if self.bytes.len() > limit {
            return self.read.remarks().violations.push(too_large(limit));
        }
        if let Err(error) = std::str::from_utf8(self.bytes) {
            let message = format!("the bytes stop being UTF-8 at byte {}", error.valid_up_to());
            self.violate(Rule::InvalidUtf8, "$", message);
        }
        let mut start = 0;
        if self.bytes.starts_with(b"\xEF\xBB\xBF") {
            self.violate(Rule::ByteOrderMark, "$", "a byte order mark before the text");
            start = 3;
        }
        let mut scanner = Scanner::new(self.bytes, start, self.limits.max_depth);
        let outcome = match scanner.peek() {
            Some(b'{') => self.object(&mut scanner),
            Some(b'[') => self.array(&mut scanner),
            _ => self.neither(&mut scanner),
        };
        let outcome = outcome.and_then(|()| match scanner.peek() {
            None => Ok(()),
            Some(byte) => Err(Fault { at: scanner.pos(), kind: FaultKind::Unexpected(byte) }),
        });
        if let Err(fault) = outcome {
            self.read.kind = FrameKind::Other;
            let rule = match fault.kind {
                FaultKind::TooDeep => Rule::TooDeep,
                _ => Rule::NotJson,
            };
            self.violate(rule, "$", fault.to_string());
        }
    }

    fn neither(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Fault> {
        let value = scanner.value()?;
        let kind = Json::trusted(&self.bytes[value]).kind().name();
        self.violate(Rule::NotAnObject, "$", format!("a message is an object, not {kind}"));
        Ok(())
    }

    fn array(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Fault> {
        let range = scanner.value()?;
        self.read.kind = FrameKind::Batch;
        if Json::trusted(&self.bytes[range.clone()]).items().next().is_none() {
            self.violate(Rule::EmptyBatch, "$", "a batch holds at least one message");
        }
        self.read.batch = range.into();
        Ok(())
    }

    fn object(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Fault> {
        let scanned = self.members(scanner);
        match scanned {
            Ok(()) => {
                self.id();
                self.version();
                self.kind();
            }
            // Half an object cannot be blamed for what it lacks.
            Err(_) => {
                self.read.id = self.id.and_then(Id::read);
                let answers = self.read.result.is_some() || self.read.error.is_some();
                self.read.broken_elsewhere = !(answers || self.broken_in_response);
            }
        }
        scanned
    }

    /// Takes the members up to the closing brace, or up to where the text
    /// stops being JSON.
    fn members(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Fault> {
        scanner.expect(b'{')?;
        if scanner.peek() == Some(b'}') {
            return scanner.expect(b'}');
        }
        let mut seen = 0u8;
        loop {
            let (key, escapes) = scanner.string()?;
            let key = Key::new(&self.bytes[key], escapes);
            let part = Part::named(key);
            scanner.expect(b':')?;
            let value = self.value(part, scanner).inspect_err(|_| {
                self.broken_in_response = matches!(part, Some(Part::Result | Part::Error));
            })?;
            match part {
                Some(part) => self.member(part, value, &mut seen),
                None => self.note(&key.name()),
            }
            if scanner.peek() != Some(b',') {
                return scanner.expect(b'}');
            }
            scanner.expect(b',')?;
        }
    }

    fn value(
        &mut self,
        part: Option<Part>,
        scanner: &mut Scanner<'a>,
    ) -> Result<Range<usize>, Fault> {
        let deep = matches!(part, Some(Part::Params | Part::Result | Part::Error));
        match deep && self.tape.is_empty() && Tape::fits(self.bytes) {
            true => self.tape.note(self.bytes, scanner, 1),
            false => scanner.value_below(1),
        }
    }

    /// Of duplicate keys the last counts, as most parsers have it.
    fn member(&mut self, part: Part, value: Range<usize>, seen: &mut u8) {
        let bit = 1 << part as u8;
        if *seen & bit != 0 {
            self.duplicate(part.name());
        }
        *seen |= bit;
        let json = Json::trusted(&self.bytes[value.clone()]);
        match part {
            Part::Version => self.version = Some(json),
            Part::Id => self.id = Some(json),
            Part::Method => self.method(json),
            Part::Params => self.read.params = value.into(),
            Part::Result => self.read.result = value.into(),
            Part::Error => self.read.error = value.into(),
        }
    }

    /// Notes a key that JSON-RPC does not know.
    fn note(&mut self, name: &str) {
        let notes = &mut self.read.remarks().notes;
        if notes.iter().any(|noted| noted == name) {
            self.duplicate(name);
        } else if notes.len() < MOST {
            notes.push(name.to_owned());
        }
    }

    fn duplicate(&mut self, name: &str) {
        let message = format!("the key {name:?} stands more than once");
        self.violate(Rule::DuplicateKey, format!("$.{name}"), message);
    }

    fn method(&mut self, json: Json<'a>) {
        if let [b'"', name @ .., b'"'] = json.bytes()
            && let Some(known) = known_method(name)
        {
            self.read.method = Method::Known(known);
            return;
        }
        self.read.method = match json.as_str() {
            Some(name) => Method::from(&*name),
            None => {
                let message = format!("a method is a string, not {}", json.kind().name());
                self.violate(Rule::MethodWrongType, "$.method", message);
                Method::Malformed
            }
        };
    }

    fn id(&mut self) {
        let Some(json) = self.id else { return };
        self.read.id = Id::read(json);
        if self.read.id.is_some() {
            return;
        }
        let rule = match json.kind() {
            // JSON-RPC answers what it could not read with the id `null`.
            JsonKind::Null if self.read.error.is_some() => return,
            JsonKind::Null => Rule::IdNull,
            JsonKind::Number => Rule::IdFractional,
            _ => Rule::IdWrongType,
        };
        self.violate(rule, "$.id", format!("an id is a string or an integer, not {json}"));
    }

    fn version(&mut self) {
        let message = match self.version {
            Some(version) if version.bytes() == br#""2.0""# => return,
            // By escapes it can be spelled otherwise.
            Some(version) if version.as_str().as_deref() == Some("2.0") => return,
            Some(version) => format!("expected \"2.0\", found {version}"),
            None => "expected \"2.0\", found nothing".to_owned(),
        };
        self.violate(Rule::WrongJsonrpc, "$.jsonrpc", message);
    }

    fn kind(&mut self) {
        let method = !matches!(self.read.method, Method::None | Method::Malformed);
        let malformed = matches!(self.read.method, Method::Malformed);
        let (result, error) = (self.read.result.is_some(), self.read.error.is_some());
        if method || malformed {
            self.request_kind(method, result || error);
        } else if result && error {
            let message = "a response has a result or an error, not both";
            self.violate(Rule::ResultAndError, "$", message);
        } else if result || error {
            self.response_kind(result);
        } else {
            let message = "a message has a method, a result or an error";
            self.violate(Rule::NothingInside, "$", message);
        }
    }

    fn request_kind(&mut self, method: bool, response: bool) {
        if response {
            let message = "a message with a method has neither result nor error";
            self.violate(Rule::RequestAndResponse, "$", message);
        }
        if method {
            self.read.kind = match self.id {
                Some(_) => FrameKind::Request,
                None => FrameKind::Notification,
            };
        }
        let params = self.read.params;
        if params.is_some() && self.bytes[params.range().start] != b'{' {
            let remark = params_remark(Json::trusted(&self.bytes[params.range()]));
            self.read.remarks().violations.push(remark);
        }
    }

    fn response_kind(&mut self, result: bool) {
        if result {
            self.read.kind = FrameKind::Result;
            if self.id.is_none() {
                self.violate(Rule::IdMissing, "$.id", "a result names the request it answers");
            }
            let span = self.read.result;
            if self.bytes[span.range().start] != b'{' {
                let remark = result_remark(Json::trusted(&self.bytes[span.range()]));
                self.read.remarks().violations.push(remark);
            }
            return;
        }
        self.read.kind = FrameKind::Error;
        let span = self.read.error;
        let error = Json::trusted(&self.bytes[span.range()]);
        let code = error.get("code").map(Json::kind);
        let message = error.get("message").map(Json::kind);
        if code != Some(JsonKind::Integer) {
            let found = code.map_or("nothing", JsonKind::name);
            self.violate(
                Rule::ErrorMalformed,
                "$.error.code",
                format!("expected an integer, found {found}"),
            );
        }
        if message != Some(JsonKind::String) {
            let found = message.map_or("nothing", JsonKind::name);
            self.violate(
                Rule::ErrorMalformed,
                "$.error.message",
                format!("expected a string, found {found}"),
            );
        }
    }

    fn violate(&mut self, rule: Rule, path: impl Into<String>, message: impl Into<String>) {
        let violations = &mut self.read.remarks().violations;
        if violations.len() < MOST {
            violations.push(Violation::new(rule, path, message, MESSAGES));
        }
    }
}
