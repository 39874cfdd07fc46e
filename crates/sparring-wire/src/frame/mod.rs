//! A frame: one JSON-RPC message with its exact bytes, its parsed fields and its
//! violations.
//!
//! Parsing never fails. The checker compares a frame with a revision.

mod build;
mod parse;
pub(crate) mod printed_line;

use std::sync::{Arc, OnceLock};

use crate::error::ErrorObject;
use crate::id::Id;
use crate::json::Json;
use crate::json::node_index::NodeIndex;
use crate::revision::known_method;
use crate::violation::Violation;

/// One received or sent message. Cheap to clone.
#[derive(Clone)]
pub struct Frame(Arc<FrameData>);

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// A method with an id; it expects a response.
    Request,
    /// A method without an id.
    Notification,
    /// A response with a result.
    Result,
    /// A response with an error.
    Error,
    /// Several frames in one array.
    Batch,
    /// None of these; the violations give the reason.
    Other,
}

/// The limits of parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of bytes, at most 4 GiB (default: 4 GiB). A longer frame is
    /// not parsed.
    pub max_bytes: usize,
    /// The maximum nesting depth, at most 256 (default: 128).
    pub max_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_bytes: u32::MAX as usize, max_depth: 128 }
    }
}

#[derive(Debug)]
struct FrameData {
    bytes: Vec<u8>,
    fields: FrameFields,
    /// The index of the first field that was parsed or accessed, which is mostly the
    /// only one.
    index: OnceLock<NodeIndex>,
}

impl FrameData {
    fn new(bytes: Vec<u8>, fields: FrameFields) -> Self {
        FrameData { bytes, fields, index: OnceLock::new() }
    }

    fn parse(bytes: Vec<u8>, limits: Limits) -> Self {
        let (fields, index) = parse::parse_fields(&bytes, limits);
        let index = if index.is_empty() { OnceLock::new() } else { OnceLock::from(index) };
        FrameData { bytes, fields, index }
    }
}

/// The parsed fields of a frame.
#[derive(Debug)]
struct FrameFields {
    kind: FrameKind,
    id: Option<Id>,
    method: Method,
    params: ByteRange,
    result: ByteRange,
    error: ByteRange,
    /// The array of a batch.
    batch: ByteRange,
    /// True if the text ends too early, outside of a result or an error.
    truncated_outside_response: bool,
    /// Most frames have none.
    diagnostics: Option<Box<Diagnostics>>,
}

/// The violations and notes of a frame.
#[derive(Debug, Default)]
struct Diagnostics {
    violations: Vec<Violation>,
    notes: Vec<String>,
}

impl FrameFields {
    fn new(kind: FrameKind) -> Self {
        FrameFields {
            kind,
            id: None,
            method: Method::None,
            params: ByteRange::default(),
            result: ByteRange::default(),
            error: ByteRange::default(),
            batch: ByteRange::default(),
            truncated_outside_response: false,
            diagnostics: None,
        }
    }

    fn diagnostics(&mut self) -> &mut Diagnostics {
        self.diagnostics.get_or_insert_default()
    }
}

#[derive(Debug)]
enum Method {
    None,
    /// Present, but not a string.
    Malformed,
    /// A method of some revision.
    Known(&'static str),
    /// Any other method.
    Custom(Box<str>),
}

impl From<&str> for Method {
    fn from(name: &str) -> Self {
        match known_method(name.as_bytes()) {
            Some(known) => Method::Known(known),
            None => Method::Custom(name.into()),
        }
    }
}

/// A range of the frame's bytes; an empty range stands for an absent field.
#[derive(Debug, Clone, Copy, Default)]
struct ByteRange {
    start: u32,
    end: u32,
}

impl Frame {
    /// Parses a frame with the default limits.
    pub fn parse(bytes: impl Into<Vec<u8>>) -> Frame {
        Frame::parse_with_limits(bytes, Limits::default())
    }

    /// Parses a frame. Every sequence of bytes gives a frame.
    pub fn parse_with_limits(bytes: impl Into<Vec<u8>>, limits: Limits) -> Frame {
        Frame(Arc::new(FrameData::parse(bytes.into(), limits)))
    }

    /// Creates a frame from the start of a message that was longer than `limit`; the
    /// rest was discarded.
    pub fn truncated(start: impl Into<Vec<u8>>, limit: usize) -> Frame {
        let mut inner = FrameData::parse(start.into(), Limits::default());
        inner.fields.kind = FrameKind::Other;
        inner.fields.diagnostics().violations = vec![parse::too_large(limit)];
        Frame(Arc::new(inner))
    }

    /// Returns the exact bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Returns the bytes as text, with invalid UTF-8 replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0.bytes)
    }

    /// Returns the kind of the frame.
    pub fn kind(&self) -> FrameKind {
        self.0.fields.kind
    }

    /// Returns the id, if the frame has a valid one.
    pub fn id(&self) -> Option<&Id> {
        self.0.fields.id.as_ref()
    }

    /// Returns the method, if the frame has one.
    pub fn method(&self) -> Option<&str> {
        match &self.0.fields.method {
            Method::None | Method::Malformed => None,
            Method::Known(name) => Some(name),
            Method::Custom(name) => Some(name),
        }
    }

    /// Returns the params, of any type, if the frame has them.
    pub fn params(&self) -> Option<Json<'_>> {
        self.field(self.0.fields.params)
    }

    /// Returns the result, of any type, if the frame has one.
    pub fn result(&self) -> Option<Json<'_>> {
        self.field(self.0.fields.result)
    }

    /// Returns the error as written, if the frame has one.
    pub fn error(&self) -> Option<Json<'_>> {
        self.field(self.0.fields.error)
    }

    /// Returns the error as [`ErrorObject::from_json`] reads it, if the frame has one.
    pub fn error_object(&self) -> Option<ErrorObject> {
        self.error().map(ErrorObject::from_json)
    }

    /// Returns the frames of a batch; empty for other kinds.
    pub fn batch_items(&self) -> impl Iterator<Item = Frame> + '_ {
        let batch = self.field(self.0.fields.batch).unwrap_or(Json::EMPTY_OBJECT);
        batch.items().map(|item| Frame::parse(item.bytes()))
    }

    /// Returns true if the frame is a response or a broken one: it has a result, an
    /// error or an id, and no method. A truncated frame must end inside its result or
    /// error.
    pub fn is_response_like(&self) -> bool {
        let fields = &self.0.fields;
        matches!(fields.method, Method::None)
            && !fields.truncated_outside_response
            && (fields.id.is_some() || fields.result.is_some() || fields.error.is_some())
    }

    /// Returns the violations that every revision has; empty for a valid frame.
    pub fn violations(&self) -> &[Violation] {
        self.0.fields.diagnostics.as_ref().map_or(&[], |diagnostics| &diagnostics.violations)
    }

    /// Returns the top-level keys that JSON-RPC does not define; they are allowed.
    pub fn notes(&self) -> &[String] {
        self.0.fields.diagnostics.as_ref().map_or(&[], |diagnostics| &diagnostics.notes)
    }

    fn field(&self, range: ByteRange) -> Option<Json<'_>> {
        if !range.is_some() {
            return None;
        }
        let bytes = &self.0.bytes;
        let range = range.to_range();
        let index = self.0.index.get_or_init(|| NodeIndex::build(bytes, range.clone()));
        Some(match index.nodes_at(range.start) {
            [] => Json::trusted(&bytes[range]),
            nodes => Json::indexed(bytes, nodes),
        })
    }
}

impl ByteRange {
    fn is_some(self) -> bool {
        self.end > self.start
    }

    fn to_range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A parsed frame is never longer than 4 GiB, so its offsets fit into 32 bits.
impl From<std::ops::Range<usize>> for ByteRange {
    fn from(range: std::ops::Range<usize>) -> Self {
        ByteRange { start: range.start as u32, end: range.end as u32 }
    }
}

/// Two frames are equal if their bytes are equal.
impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.0.bytes == other.0.bytes
    }
}

impl Eq for Frame {}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Frame::{:?}({})", self.kind(), self.text())
    }
}
