//! Builds frames. Each frame is written once, in one line, and not parsed again: the
//! writer records the byte range of every field.

use std::sync::Arc;

use super::{ByteRange, Frame, FrameData, FrameFields, FrameKind, Method, parse};
use crate::error::ErrorObject;
use crate::id::Id;
use crate::json::object::{add_members, added_length};
use crate::json::scanner::write_string;
use crate::json::{Json, RawJson};
use crate::violation::Violation;

impl Frame {
    /// Builds a request.
    pub fn request(id: &Id, method: &str, params: Option<&RawJson>) -> Frame {
        let mut writer = FrameWriter::new(FrameKind::Request, 64 + method.len() + length(params));
        writer.id(Some(id));
        writer.method(method);
        writer.fields.params =
            writer.field("params", params.map(|params| params.text().as_bytes()));
        writer.finish()
    }

    /// Builds a notification.
    pub fn notification(method: &str, params: Option<&RawJson>) -> Frame {
        let mut writer =
            FrameWriter::new(FrameKind::Notification, 48 + method.len() + length(params));
        writer.method(method);
        writer.fields.params =
            writer.field("params", params.map(|params| params.text().as_bytes()));
        writer.finish()
    }

    /// Builds a response with a result, and adds members to the result. The result
    /// must not have these members already.
    pub fn result_response(id: &Id, result: Json<'_>, added: &[(&str, Json<'_>)]) -> Frame {
        let members = || added.iter().copied();
        let length = result.bytes().len() + added_length(members());
        let mut writer = FrameWriter::new(FrameKind::Result, 48 + length);
        writer.id(Some(id));
        let range = writer.field("result", Some(result.bytes()));
        if !added.is_empty() {
            add_members(&mut writer.bytes, range.to_range().start, members());
        }
        writer.fields.result = (range.to_range().start..writer.bytes.len()).into();
        writer.finish()
    }

    /// Builds a response with an error. Without an id it answers an unreadable message;
    /// `null_id` then writes the id as `null`, as JSON-RPC requires in revisions up to
    /// 2025-06-18.
    pub fn error_response(id: Option<&Id>, null_id: bool, error: &ErrorObject) -> Frame {
        let text =
            serde_json::to_vec(error).expect("an error object can always be written as JSON");
        let mut writer = FrameWriter::new(FrameKind::Error, 48 + text.len());
        match id {
            None if null_id => writer.bytes.extend_from_slice(b",\"id\":null"),
            id => writer.id(id),
        }
        writer.fields.error = writer.field("error", Some(&text));
        writer.finish()
    }

    /// Builds a batch of frames.
    pub fn from_batch(frames: &[Frame]) -> Frame {
        let mut bytes = vec![b'['];
        for (index, frame) in frames.iter().enumerate() {
            if index > 0 {
                bytes.push(b',');
            }
            bytes.extend_from_slice(frame.bytes());
        }
        bytes.push(b']');
        Frame::parse(bytes)
    }
}

fn length(params: Option<&RawJson>) -> usize {
    params.map_or(0, |params| params.text().len())
}

/// Replaces line breaks by spaces, because on some links a line is a frame. Strings in
/// JSON have no raw line breaks.
fn replace_line_breaks(json: &mut [u8]) {
    let mut position = 0;
    while let Some(next) = memchr::memchr2(b'\n', b'\r', &json[position..]) {
        position += next;
        json[position] = b' ';
    }
}

type BuildViolation = fn(Json<'_>) -> Violation;

struct FrameWriter {
    bytes: Vec<u8>,
    fields: FrameFields,
}

impl FrameWriter {
    fn new(kind: FrameKind, capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.extend_from_slice(br#"{"jsonrpc":"2.0""#);
        FrameWriter { bytes, fields: FrameFields::new(kind) }
    }

    fn id(&mut self, id: Option<&Id>) {
        let Some(id) = id else { return };
        self.bytes.extend_from_slice(b",\"id\":");
        id.write_json(&mut self.bytes);
        self.fields.id = Some(id.clone());
    }

    fn method(&mut self, method: &str) {
        self.bytes.extend_from_slice(b",\"method\":");
        write_string(method, &mut self.bytes);
        self.fields.method = Method::from(method);
    }

    fn field(&mut self, name: &str, text: Option<&[u8]>) -> ByteRange {
        let Some(text) = text else {
            return ByteRange::default();
        };
        self.bytes.extend_from_slice(b",\"");
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(b"\":");
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text);
        replace_line_breaks(&mut self.bytes[start..]);
        (start..self.bytes.len()).into()
    }

    /// Adds the violations that the parser would add, so that built and received frames
    /// are checked alike.
    fn finish(mut self) -> Frame {
        self.bytes.push(b'}');
        let (params, result) = (self.fields.params, self.fields.result);
        for (range, build_violation) in
            [(params, parse::params_violation as BuildViolation), (result, parse::result_violation)]
        {
            if range.is_some() && self.bytes[range.to_range().start] != b'{' {
                let violation = build_violation(Json::trusted(&self.bytes[range.to_range()]));
                self.fields.diagnostics().violations.push(violation);
            }
        }
        Frame(Arc::new(FrameData::new(self.bytes, self.fields)))
    }
}
