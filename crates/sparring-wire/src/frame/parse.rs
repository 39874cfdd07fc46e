//! Parses a frame's bytes in one pass, up to the first syntax error.
//!
//! The fields before the error are kept, so that the id distinguishes a truncated
//! response from noise.

use std::ops::Range;

use super::{FrameFields, FrameKind, Limits, Method};
use crate::id::Id;
use crate::json::node_index::NodeIndex;
use crate::json::scanner::Scanner;
use crate::json::{Json, JsonKind, Key, SyntaxError, SyntaxErrorKind};
use crate::revision::known_method;
use crate::rule::Rule;
use crate::violation::{Violation, has_room};

/// The section about messages.
const MESSAGES_SECTION: &str = "basic#messages";

/// The maximum number of notes of one frame, so that a hostile frame does not make
/// parsing slow.
const MAX_NOTES: usize = 64;

pub(super) fn parse_fields(bytes: &[u8], limits: Limits) -> (FrameFields, NodeIndex) {
    let mut parser = FrameParser {
        bytes,
        limits,
        fields: FrameFields::new(FrameKind::Other),
        id: None,
        version: None,
        truncated_in_response: false,
        index: NodeIndex::default(),
    };
    parser.run();
    (parser.fields, parser.index)
}

pub(super) fn too_large(limit: usize) -> Violation {
    let message = format!("the message is longer than the limit of {limit} bytes");
    Violation::new(Rule::TooLarge, "$", message, MESSAGES_SECTION)
}

pub(super) fn params_violation(found: Json<'_>) -> Violation {
    let message = format!("params must be an object, not {}", found.kind().name());
    Violation::new(Rule::ParamsWrongType, "$.params", message, MESSAGES_SECTION)
}

pub(super) fn result_violation(found: Json<'_>) -> Violation {
    let message = format!("a result must be an object, not {}", found.kind().name());
    Violation::new(Rule::ResultWrongType, "$.result", message, MESSAGES_SECTION)
}

struct FrameParser<'a> {
    bytes: &'a [u8],
    limits: Limits,
    fields: FrameFields,
    id: Option<Json<'a>>,
    version: Option<Json<'a>>,
    /// True if the text ends inside a result or an error.
    truncated_in_response: bool,
    /// The index of the first of params, result and error, which is mostly the only one.
    index: NodeIndex,
}

/// The fields of JSON-RPC.
#[derive(Clone, Copy)]
enum FieldName {
    Version,
    Id,
    Method,
    Params,
    Result,
    Error,
}

impl FieldName {
    const ALL: [FieldName; 6] = [
        FieldName::Version,
        FieldName::Id,
        FieldName::Method,
        FieldName::Params,
        FieldName::Result,
        FieldName::Error,
    ];

    fn name(self) -> &'static str {
        match self {
            FieldName::Version => "jsonrpc",
            FieldName::Id => "id",
            FieldName::Method => "method",
            FieldName::Params => "params",
            FieldName::Result => "result",
            FieldName::Error => "error",
        }
    }

    fn from_key(key: Key<'_>) -> Option<FieldName> {
        FieldName::ALL.into_iter().find(|field| key.is(field.name()))
    }
}

impl<'a> FrameParser<'a> {
    fn run(&mut self) {
        let limit = self.limits.max_bytes.min(u32::MAX as usize);
        if self.bytes.len() > limit {
            return self.fields.diagnostics().violations.push(too_large(limit));
        }
        if let Err(error) = std::str::from_utf8(self.bytes) {
            let message = format!("invalid UTF-8 at byte {}", error.valid_up_to());
            self.report(Rule::InvalidUtf8, "$", message);
        }
        let mut start = 0;
        if self.bytes.starts_with(b"\xEF\xBB\xBF") {
            self.report(Rule::ByteOrderMark, "$", "the message starts with a byte order mark");
            start = 3;
        }
        let mut scanner = Scanner::new(self.bytes, start, self.limits.max_depth);
        let outcome = match scanner.peek() {
            Some(b'{') => self.parse_object(&mut scanner),
            Some(b'[') => self.parse_array(&mut scanner),
            _ => self.parse_scalar(&mut scanner),
        };
        let outcome = outcome.and_then(|()| match scanner.peek() {
            None => Ok(()),
            Some(byte) => {
                Err(SyntaxError { offset: scanner.pos(), kind: SyntaxErrorKind::Unexpected(byte) })
            }
        });
        if let Err(error) = outcome {
            self.fields.kind = FrameKind::Other;
            let rule = match error.kind {
                SyntaxErrorKind::TooDeep => Rule::TooDeep,
                _ => Rule::NotJson,
            };
            self.report(rule, "$", error.to_string());
        }
    }

    fn parse_scalar(&mut self, scanner: &mut Scanner<'a>) -> Result<(), SyntaxError> {
        let value = scanner.value()?;
        let kind = Json::trusted(&self.bytes[value]).kind().name();
        self.report(Rule::NotAnObject, "$", format!("a message must be an object, not {kind}"));
        Ok(())
    }

    fn parse_array(&mut self, scanner: &mut Scanner<'a>) -> Result<(), SyntaxError> {
        let range = scanner.value()?;
        self.fields.kind = FrameKind::Batch;
        if Json::trusted(&self.bytes[range.clone()]).items().next().is_none() {
            self.report(Rule::EmptyBatch, "$", "a batch must hold at least one message");
        }
        self.fields.batch = range.into();
        Ok(())
    }

    fn parse_object(&mut self, scanner: &mut Scanner<'a>) -> Result<(), SyntaxError> {
        let scanned = self.parse_members(scanner);
        match scanned {
            Ok(()) => {
                self.check_id();
                self.check_version();
                self.set_kind();
            }
            // A truncated object is not checked for missing fields.
            Err(_) => {
                self.fields.id = self.id.and_then(Id::from_json);
                let is_response = self.fields.result.is_some() || self.fields.error.is_some();
                self.fields.truncated_outside_response =
                    !(is_response || self.truncated_in_response);
            }
        }
        scanned
    }

    /// Parses the members up to the closing brace or the first syntax error.
    fn parse_members(&mut self, scanner: &mut Scanner<'a>) -> Result<(), SyntaxError> {
        scanner.expect(b'{')?;
        if scanner.peek() == Some(b'}') {
            return scanner.expect(b'}');
        }
        let mut seen = 0u8;
        loop {
            let (key, escapes) = scanner.string()?;
            let key = Key::new(&self.bytes[key], escapes);
            let field = FieldName::from_key(key);
            scanner.expect(b':')?;
            let value = self.parse_value(field, scanner).inspect_err(|_| {
                self.truncated_in_response =
                    matches!(field, Some(FieldName::Result | FieldName::Error));
            })?;
            match field {
                Some(field) => self.set_field(field, value, &mut seen),
                None => self.add_note(&key.name()),
            }
            if scanner.peek() != Some(b',') {
                return scanner.expect(b'}');
            }
            scanner.expect(b',')?;
        }
    }

    fn parse_value(
        &mut self,
        field: Option<FieldName>,
        scanner: &mut Scanner<'a>,
    ) -> Result<Range<usize>, SyntaxError> {
        let has_index =
            matches!(field, Some(FieldName::Params | FieldName::Result | FieldName::Error));
        match has_index && self.index.is_empty() && NodeIndex::can_hold(self.bytes) {
            true => self.index.scan(self.bytes, scanner, 1),
            false => scanner.value_at_depth(1),
        }
    }

    /// Stores a field. The last of duplicate keys counts, as in most parsers.
    fn set_field(&mut self, field: FieldName, value: Range<usize>, seen: &mut u8) {
        let bit = 1 << field as u8;
        if *seen & bit != 0 {
            self.report_duplicate(field.name());
        }
        *seen |= bit;
        let json = Json::trusted(&self.bytes[value.clone()]);
        match field {
            FieldName::Version => self.version = Some(json),
            FieldName::Id => self.id = Some(json),
            FieldName::Method => self.set_method(json),
            FieldName::Params => self.fields.params = value.into(),
            FieldName::Result => self.fields.result = value.into(),
            FieldName::Error => self.fields.error = value.into(),
        }
    }

    /// Notes a key that JSON-RPC does not define.
    fn add_note(&mut self, name: &str) {
        let notes = &mut self.fields.diagnostics().notes;
        if notes.iter().any(|noted| noted == name) {
            self.report_duplicate(name);
        } else if notes.len() < MAX_NOTES {
            notes.push(name.to_owned());
        }
    }

    fn report_duplicate(&mut self, name: &str) {
        let message = format!("duplicate key {name:?}");
        self.report(Rule::DuplicateKey, format!("$.{name}"), message);
    }

    fn set_method(&mut self, json: Json<'a>) {
        if let [b'"', name @ .., b'"'] = json.bytes()
            && let Some(known) = known_method(name)
        {
            self.fields.method = Method::Known(known);
            return;
        }
        self.fields.method = match json.as_str() {
            Some(name) => Method::from(&*name),
            None => {
                let message = format!("a method must be a string, not {}", json.kind().name());
                self.report(Rule::MethodWrongType, "$.method", message);
                Method::Malformed
            }
        };
    }

    fn check_id(&mut self) {
        let Some(json) = self.id else { return };
        self.fields.id = Id::from_json(json);
        if self.fields.id.is_some() {
            return;
        }
        let rule = match json.kind() {
            // In JSON-RPC, an error that answers an unreadable message has the id `null`.
            JsonKind::Null if self.fields.error.is_some() => return,
            JsonKind::Null => Rule::IdNull,
            JsonKind::Number => Rule::IdFractional,
            _ => Rule::IdWrongType,
        };
        self.report(rule, "$.id", format!("an id must be a string or an integer, not {json}"));
    }

    fn check_version(&mut self) {
        let message = match self.version {
            Some(version) if version.bytes() == br#""2.0""# => return,
            // The string can contain escapes.
            Some(version) if version.as_str().as_deref() == Some("2.0") => return,
            Some(version) => format!("expected \"2.0\", found {version}"),
            None => "expected \"2.0\", found nothing".to_owned(),
        };
        self.report(Rule::WrongJsonrpc, "$.jsonrpc", message);
    }

    fn set_kind(&mut self) {
        let has_method = !matches!(self.fields.method, Method::None | Method::Malformed);
        let is_malformed = matches!(self.fields.method, Method::Malformed);
        let (result, error) = (self.fields.result.is_some(), self.fields.error.is_some());
        if has_method || is_malformed {
            self.set_request_kind(has_method, result || error);
        } else if result && error {
            let message = "the response has both `result` and `error`";
            self.report(Rule::ResultAndError, "$", message);
        } else if result || error {
            self.set_response_kind(result);
        } else {
            let message = "the message has none of `method`, `result` and `error`";
            self.report(Rule::EmptyMessage, "$", message);
        }
    }

    fn set_request_kind(&mut self, has_method: bool, is_response: bool) {
        if is_response {
            let message = "a message with a method must not have `result` or `error`";
            self.report(Rule::RequestAndResponse, "$", message);
        }
        if has_method {
            self.fields.kind = match self.id {
                Some(_) => FrameKind::Request,
                None => FrameKind::Notification,
            };
        }
        let params = self.fields.params;
        if params.is_some() && self.bytes[params.to_range().start] != b'{' {
            let violation = params_violation(Json::trusted(&self.bytes[params.to_range()]));
            self.fields.diagnostics().violations.push(violation);
        }
    }

    fn set_response_kind(&mut self, has_result: bool) {
        if has_result {
            self.fields.kind = FrameKind::Result;
            if self.id.is_none() {
                self.report(Rule::IdMissing, "$.id", "a result must have the id of its request");
            }
            let range = self.fields.result;
            if self.bytes[range.to_range().start] != b'{' {
                let violation = result_violation(Json::trusted(&self.bytes[range.to_range()]));
                self.fields.diagnostics().violations.push(violation);
            }
            return;
        }
        self.fields.kind = FrameKind::Error;
        let range = self.fields.error;
        let error = Json::trusted(&self.bytes[range.to_range()]);
        let code = error.get("code").map(Json::kind);
        let message = error.get("message").map(Json::kind);
        if code != Some(JsonKind::Integer) {
            let found = code.map_or("nothing", JsonKind::name);
            self.report(
                Rule::ErrorMalformed,
                "$.error.code",
                format!("expected an integer, found {found}"),
            );
        }
        if message != Some(JsonKind::String) {
            let found = message.map_or("nothing", JsonKind::name);
            self.report(
                Rule::ErrorMalformed,
                "$.error.message",
                format!("expected a string, found {found}"),
            );
        }
    }

    fn report(&mut self, rule: Rule, path: impl Into<String>, message: impl Into<String>) {
        let violations = &mut self.fields.diagnostics().violations;
        if has_room(violations, rule) {
            violations.push(Violation::new(rule, path, message, MESSAGES_SECTION));
        }
    }
}
