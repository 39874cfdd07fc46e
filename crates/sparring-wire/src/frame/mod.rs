//! A frame: one JSON-RPC message in its exact bytes, with what could be read
//! of it and what is wrong with it.
//!
//! Parsing never fails. Whether a frame fits a protocol revision is not asked
//! here; that is the checker's work.

mod build;
mod parse;

use std::sync::{Arc, OnceLock};

use crate::error::ErrorObject;
use crate::id::Id;
use crate::json::Json;
use crate::json::tape::Tape;
use crate::revision::known_method;
use crate::violation::Violation;

/// One message as it stood, or will stand, on the wire. Cheap to clone.
#[derive(Clone)]
pub struct Frame(Arc<Inner>);

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// A method with an id: expects a response.
    Request,
    /// A method without an id.
    Notification,
    /// A response with a result.
    Result,
    /// A response with an error.
    Error,
    /// Several frames in one array.
    Batch,
    /// None of these; the violations say why.
    Other,
}

/// How much of a frame is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes that are looked into, at most 4 GiB; a longer frame is kept
    /// unread.
    pub max_bytes: usize,
    /// The deepest nesting that is followed, at most 256.
    pub max_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_bytes: u32::MAX as usize, max_depth: 128 }
    }
}

#[derive(Debug)]
struct Inner {
    bytes: Vec<u8>,
    read: Read,
    /// Of the part that was read, or that somebody looked into, first, and
    /// mostly the only one.
    tape: OnceLock<Tape>,
}

impl Inner {
    fn new(bytes: Vec<u8>, read: Read) -> Self {
        Inner { bytes, read, tape: OnceLock::new() }
    }

    fn of_text(bytes: Vec<u8>, limits: Limits) -> Self {
        let (read, tape) = parse::read(&bytes, limits);
        let tape = if tape.is_empty() { OnceLock::new() } else { OnceLock::from(tape) };
        Inner { bytes, read, tape }
    }
}

/// What was read of a frame's bytes.
#[derive(Debug)]
struct Read {
    kind: FrameKind,
    id: Option<Id>,
    method: Method,
    params: Span,
    result: Span,
    error: Span,
    /// The array, where the frame is a batch.
    batch: Span,
    /// Whether the text broke off inside something other than a response.
    broken_elsewhere: bool,
    /// Most frames deserve none.
    remarks: Option<Box<Remarks>>,
}

/// What is to be said about a frame.
#[derive(Debug, Default)]
struct Remarks {
    violations: Vec<Violation>,
    notes: Vec<String>,
}

impl Read {
    fn new(kind: FrameKind) -> Self {
        Read {
            kind,
            id: None,
            method: Method::None,
            params: Span::default(),
            result: Span::default(),
            error: Span::default(),
            batch: Span::default(),
            broken_elsewhere: false,
            remarks: None,
        }
    }

    fn remarks(&mut self) -> &mut Remarks {
        self.remarks.get_or_insert_default()
    }
}

#[derive(Debug)]
enum Method {
    None,
    /// There, and not a string.
    Malformed,
    /// One that some revision has.
    Known(&'static str),
    /// Any other.
    Own(Box<str>),
}

impl From<&str> for Method {
    fn from(name: &str) -> Self {
        match known_method(name.as_bytes()) {
            Some(known) => Method::Known(known),
            None => Method::Own(name.into()),
        }
    }
}

/// A range of the frame's bytes; an empty one is none.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl Frame {
    /// Reads a frame from the wire, with default limits.
    pub fn parse(bytes: impl Into<Vec<u8>>) -> Frame {
        Frame::parse_within(bytes, Limits::default())
    }

    /// Reads a frame from the wire. Whatever the bytes are, there is a frame.
    pub fn parse_within(bytes: impl Into<Vec<u8>>, limits: Limits) -> Frame {
        Frame(Arc::new(Inner::of_text(bytes.into(), limits)))
    }

    /// The beginning of a frame that was longer than `limit`; the rest was
    /// never kept.
    pub fn cut_off(beginning: impl Into<Vec<u8>>, limit: usize) -> Frame {
        let mut inner = Inner::of_text(beginning.into(), Limits::default());
        inner.read.kind = FrameKind::Other;
        inner.read.remarks().violations = vec![parse::too_large(limit)];
        Frame(Arc::new(inner))
    }

    /// The exact bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// The bytes as text; invalid UTF-8 is replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0.bytes)
    }

    /// What the frame is.
    pub fn kind(&self) -> FrameKind {
        self.0.read.kind
    }

    /// The id, where there is one that can be an id.
    pub fn id(&self) -> Option<&Id> {
        self.0.read.id.as_ref()
    }

    /// The method, where there is one.
    pub fn method(&self) -> Option<&str> {
        match &self.0.read.method {
            Method::None | Method::Malformed => None,
            Method::Known(name) => Some(name),
            Method::Own(name) => Some(name),
        }
    }

    /// The params, where there are any, whatever their type.
    pub fn params(&self) -> Option<Json<'_>> {
        self.span(self.0.read.params)
    }

    /// The result, where there is one, whatever its type.
    pub fn result(&self) -> Option<Json<'_>> {
        self.span(self.0.read.result)
    }

    /// The error as it was spelled, where there is one.
    pub fn error(&self) -> Option<Json<'_>> {
        self.span(self.0.read.error)
    }

    /// The error, read leniently, where there is one.
    pub fn error_object(&self) -> Option<ErrorObject> {
        self.error().map(ErrorObject::read)
    }

    /// The frames of a batch; none for other kinds.
    pub fn batch(&self) -> impl Iterator<Item = Frame> + '_ {
        let batch = self.span(self.0.read.batch).unwrap_or(Json::EMPTY_OBJECT);
        batch.items().map(|item| Frame::parse(item.bytes()))
    }

    /// Whether the frame is a response, or was meant as one: it has a result,
    /// an error or an id, and no method, and if it breaks off, it does so
    /// inside its result or error.
    pub fn is_response_like(&self) -> bool {
        let read = &self.0.read;
        matches!(read.method, Method::None)
            && !read.broken_elsewhere
            && (read.id.is_some() || read.result.is_some() || read.error.is_some())
    }

    /// What is wrong with the frame in every revision; empty for a clean one.
    pub fn violations(&self) -> &[Violation] {
        self.0.read.remarks.as_ref().map_or(&[], |remarks| &remarks.violations)
    }

    /// What is unusual but allowed: top-level keys that JSON-RPC does not know.
    pub fn notes(&self) -> &[String] {
        self.0.read.remarks.as_ref().map_or(&[], |remarks| &remarks.notes)
    }

    fn span(&self, span: Span) -> Option<Json<'_>> {
        if !span.is_some() {
            return None;
        }
        let bytes = &self.0.bytes;
        let range = span.range();
        let tape = self.0.tape.get_or_init(|| Tape::of(bytes, range.clone()));
        Some(match tape.at(range.start) {
            [] => Json::trusted(&bytes[range]),
            nodes => Json::noted(bytes, nodes),
        })
    }
}

impl Span {
    fn is_some(self) -> bool {
        self.end > self.start
    }

    fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Only made for frames that were read, which are never longer than this holds.
impl From<std::ops::Range<usize>> for Span {
    fn from(range: std::ops::Range<usize>) -> Self {
        Span { start: range.start as u32, end: range.end as u32 }
    }
}

/// Two frames are equal when their bytes are.
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
