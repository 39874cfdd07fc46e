//! Makes frames of our own. Each is written once, in one line, and never parsed
//! again: the places of its parts are known as it is written.

use std::sync::Arc;

use super::{Frame, FrameKind, Inner, Method, Read, Span, parse};
use crate::error::ErrorObject;
use crate::id::Id;
use crate::json::scan::write_string;
use crate::json::splice::{add_members, added_length};
use crate::json::{Json, RawJson};
use crate::violation::Violation;

impl Frame {
    /// A request.
    pub fn request(id: &Id, method: &str, params: Option<&RawJson>) -> Frame {
        let mut writer = Writer::new(FrameKind::Request, 64 + method.len() + length(params));
        writer.id(Some(id));
        writer.method(method);
        writer.read.params = writer.part("params", params.map(|params| params.text().as_bytes()));
        writer.finish()
    }

    /// A notification.
    pub fn notification(method: &str, params: Option<&RawJson>) -> Frame {
        let mut writer = Writer::new(FrameKind::Notification, 48 + method.len() + length(params));
        writer.method(method);
        writer.read.params = writer.part("params", params.map(|params| params.text().as_bytes()));
        writer.finish()
    }

    /// A response with a result, to which these members are added, which the
    /// caller knows that it lacks.
    pub fn result_of(id: &Id, result: Json<'_>, added: &[(&str, Json<'_>)]) -> Frame {
        let members = || added.iter().copied();
        let length = result.bytes().len() + added_length(members());
        let mut writer = Writer::new(FrameKind::Result, 48 + length);
        writer.id(Some(id));
        let span = writer.part("result", Some(result.bytes()));
        if !added.is_empty() {
            add_members(&mut writer.bytes, span.range().start, members());
        }
        writer.read.result = (span.range().start..writer.bytes.len()).into();
        writer.finish()
    }

    /// A response with an error. Without an id it answers what could not be
    /// read; `null_id` then spells that out, as revisions up to 2025-06-18
    /// expect from JSON-RPC.
    pub fn error_of(id: Option<&Id>, null_id: bool, error: &ErrorObject) -> Frame {
        let text = serde_json::to_vec(error).expect("an error object is always JSON");
        let mut writer = Writer::new(FrameKind::Error, 48 + text.len());
        match id {
            None if null_id => writer.bytes.extend_from_slice(b",\"id\":null"),
            id => writer.id(id),
        }
        writer.read.error = writer.part("error", Some(&text));
        writer.finish()
    }

    /// A batch of frames.
    pub fn batch_of(frames: &[Frame]) -> Frame {
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

/// Makes one line of JSON, since on some links a line is a frame. In its strings
/// there are no ends of lines.
fn one_line(json: &mut [u8]) {
    let mut at = 0;
    while let Some(next) = memchr::memchr2(b'\n', b'\r', &json[at..]) {
        at += next;
        json[at] = b' ';
    }
}

type Remark = fn(Json<'_>) -> Violation;

struct Writer {
    bytes: Vec<u8>,
    read: Read,
}

impl Writer {
    fn new(kind: FrameKind, capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.extend_from_slice(br#"{"jsonrpc":"2.0""#);
        Writer { bytes, read: Read::new(kind) }
    }

    fn id(&mut self, id: Option<&Id>) {
        let Some(id) = id else { return };
        self.bytes.extend_from_slice(b",\"id\":");
        id.write(&mut self.bytes);
        self.read.id = Some(id.clone());
    }

    fn method(&mut self, method: &str) {
        self.bytes.extend_from_slice(b",\"method\":");
        write_string(method, &mut self.bytes);
        self.read.method = Method::from(method);
    }

    fn part(&mut self, name: &str, text: Option<&[u8]>) -> Span {
        let Some(text) = text else {
            return Span::default();
        };
        self.bytes.extend_from_slice(b",\"");
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(b"\":");
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text);
        one_line(&mut self.bytes[start..]);
        (start..self.bytes.len()).into()
    }

    /// Notes what the parser would note, so that a frame of ours is judged as
    /// one from the wire.
    fn finish(mut self) -> Frame {
        self.bytes.push(b'}');
        let (params, result) = (self.read.params, self.read.result);
        for (span, remark) in
            [(params, parse::params_remark as Remark), (result, parse::result_remark)]
        {
            if span.is_some() && self.bytes[span.range().start] != b'{' {
                let violation = remark(Json::trusted(&self.bytes[span.range()]));
                self.read.remarks().violations.push(violation);
            }
        }
        Frame(Arc::new(Inner::new(self.bytes, self.read)))
    }
}
