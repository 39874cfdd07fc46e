//! Renders the traffic of a test: one line for each frame, and the last exchange.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Frame, Sender, Test, format, truncate};

/// The prefix of the names that the protocol defines in `_meta`.
const PROTOCOL_META_PREFIX: &str = "io.modelcontextprotocol/";

/// A request and its response.
pub(crate) struct Exchange<'a> {
    pub(crate) request: &'a Frame,
    pub(crate) response: Option<&'a Frame>,
}

/// Renders a frame in one line with its direction, and each violation in a line below.
fn render_frame(frame: &Frame, max_bytes: usize) -> Vec<String> {
    let direction = match frame.from {
        Sender::Client => "->",
        Sender::Server => "<-",
    };
    let status = frame.status.map(|status| format!("(HTTP {status}) ")).unwrap_or_default();
    let text = truncate::one_line(&frame.text, max_bytes);
    let violations = render_violations(frame, max_bytes).into_iter();
    std::iter::once(format!("{direction} {status}{text}"))
        .chain(violations.map(|violation| format!("   ! {violation}")))
        .collect()
}

/// Renders the violations of a frame in one line each.
pub(crate) fn render_violations(frame: &Frame, max_bytes: usize) -> Vec<String> {
    let rendered = frame.violations.iter().map(|it| {
        let section = if it.section.is_empty() { "" } else { &format!(" ({})", it.section) };
        let text = format!("{} at {}: {}{section}", it.rule, it.path, it.message);
        truncate::one_line(&text, max_bytes)
    });
    rendered.collect()
}

/// Renders the last frames of a test.
pub(crate) fn render_last_frames(test: &Test, max_frames: usize, max_bytes: usize) -> Vec<String> {
    let first = test.frames.len().saturating_sub(max_frames);
    let omitted = first + test.frames_left_out;
    let shared = "   [includes frames of tests that ran at the same time]".to_owned();
    let shared = (test.frames_shared && !test.frames.is_empty()).then_some(shared);
    let note = (omitted > 0).then(|| format!("   [{} omitted]", format::count(omitted, "frame")));
    let frames = test.frames[first..].iter().flat_map(|frame| render_frame(frame, max_bytes));
    shared.into_iter().chain(note).chain(frames).collect()
}

/// Returns the last request of the client and its response. A frame that is not JSON also
/// counts as a request: the test sent it deliberately. Returns `None` if the frames include
/// those of other tests.
pub(crate) fn last_exchange(test: &Test) -> Option<Exchange<'_>> {
    let is_request = |frame: &Frame| match JsonFields::parse(&frame.text) {
        Some(fields) => fields.get("method").is_some() && fields.get("id").is_some(),
        None => true,
    };
    if test.frames_shared {
        return None;
    }
    let index = test.frames.iter().rposition(|it| it.from == Sender::Client && is_request(it))?;
    let request = &test.frames[index];
    let id = JsonFields::parse(&request.text).and_then(|fields| fields.get("id"));
    let is_response = |frame: &&Frame| match JsonFields::parse(&frame.text) {
        Some(fields) => fields.get("method").is_none() && fields.get("id") == id,
        None => true,
    };
    let after = test.frames[index..].iter().filter(|frame| frame.from == Sender::Server);
    Some(Exchange { request, response: after.into_iter().find(is_response) })
}

/// Renders a request or a response without the parts that all of them have. A frame with a
/// violation is rendered completely.
pub(crate) fn summarize_frame(frame: &Frame, max_bytes: usize) -> String {
    let status = frame.status.filter(|status| *status != 200);
    let status = status.map(|status| format!("HTTP {status} ")).unwrap_or_default();
    let summary = summarize_text(&frame.text).filter(|_| frame.violations.is_empty());
    let text = match &summary {
        Some((title, body)) => format!("{status}{title} {body}"),
        None => format!("{status}{}", frame.text),
    };
    truncate::one_line(text.trim_end(), max_bytes)
}

/// Returns the title and the JSON of a frame without the parts that all frames have. Returns
/// `None` if the frame is not exactly one request, notification or response.
pub(crate) fn summarize_text(text: &str) -> Option<(String, String)> {
    JsonFields::parse(text).and_then(|fields| summarize_content(&fields))
}

/// Returns the method with its params, the result or the error of a frame.
fn summarize_content(frame: &JsonFields<'_>) -> Option<(String, String)> {
    let body = |name| frame.get(name).map(strip_protocol_meta);
    match (frame.get("method"), body("result"), body("error")) {
        (Some(method), None, None) => {
            Some((method.trim_matches('"').to_owned(), body("params").unwrap_or_default()))
        }
        (None, Some(result), None) => Some(("result".to_owned(), result)),
        (None, None, Some(error)) => Some(("error".to_owned(), error)),
        _ => None,
    }
}

/// Removes the names of the protocol from the `_meta` of an object, and `_meta` if it has no
/// others.
fn strip_protocol_meta(object: &str) -> String {
    let Some(fields) = JsonFields::parse(object) else { return object.to_owned() };
    if fields.get("_meta").is_none() {
        return object.to_owned();
    }
    let members = fields.0.iter().filter_map(|(name, value)| {
        let meta = JsonFields::parse(value.get()).filter(|_| name == "_meta");
        match meta {
            None => Some(render_member(name, value.get())),
            Some(meta) => {
                let others = meta.0.iter();
                let others = others.filter(|(name, _)| !name.starts_with(PROTOCOL_META_PREFIX));
                let others: Vec<String> =
                    others.map(|(name, value)| render_member(name, value.get())).collect();
                let is_left = !others.is_empty() || meta.0.is_empty();
                is_left.then(|| render_member(name, &format!("{{{}}}", others.join(","))))
            }
        }
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// Renders a member of a JSON object.
pub(crate) fn render_member(name: &str, json: &str) -> String {
    format!("{}:{json}", serde_json::json!(name))
}

/// The fields of a JSON object, in order and with their original spelling.
pub(crate) struct JsonFields<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

/// A name, borrowed if it has no escape.
#[derive(serde::Deserialize, PartialEq, Eq, Hash)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> JsonFields<'a> {
    /// Parses an object; returns `None` if the text is not one.
    pub(crate) fn parse(text: &'a str) -> Option<JsonFields<'a>> {
        serde_json::from_str(text).ok()
    }

    /// Returns the JSON of a field in its original spelling.
    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.get())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for JsonFields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((FieldName(name), value)) = map.next_entry::<FieldName<'de>, _>()? {
                    fields.push((name, value));
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(ObjectVisitor).map(JsonFields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(from: Sender, text: &str) -> Frame {
        let (text, bytes) = (text.to_owned(), text.len());
        Frame { at_ms: 0.0, from, text, bytes, status: None, violations: Vec::new() }
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(summarize_frame(&frame(Sender::Server, text), 1_000), expected);
    }

    #[test]
    fn a_summary_keeps_the_original_spelling() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n":1.50,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
            r#"tools/call {"name":"a","n":1.50}"#,
        );
        check(
            r#"{"result":{"n":123456789012345678901234567890,"_meta":{"mine":1}},"id":1}"#,
            r#"result {"n":123456789012345678901234567890,"_meta":{"mine":1}}"#,
        );
        check(
            r#"{"id":1,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{},"mine":1.0}}}"#,
            r#"result {"_meta":{"mine":1.0}}"#,
        );
        check(r#"{"id":1,"error":{"code":1}}"#, r#"error {"code":1}"#);
        check(r#"{"id":1,"method":"ping"}"#, "ping");
    }

    #[test]
    fn the_last_request_has_the_response_with_its_id() {
        let (ask, answer) = (Sender::Client, Sender::Server);
        let mut test = crate::sample_run::test("a", crate::Outcome::Failed);
        test.frames = vec![
            frame(ask, r#"{"id":1,"method":"a"}"#),
            frame(answer, r#"{"id":1,"result":{}}"#),
            frame(ask, r#"{"id":2,"method":"b"}"#),
            frame(answer, r#"{"id":2,"method":"sampling/createMessage"}"#),
            frame(answer, r#"{"id":1,"result":{"late":true}}"#),
            frame(answer, r#"{"id":2,"result":{"n":1}}"#),
            frame(ask, r#"{"id":2,"result":{}}"#),
            frame(ask, r#"{"method":"notifications/cancelled"}"#),
        ];
        let summary = |test: &Test| {
            let it = last_exchange(test)?;
            Some((
                summarize_frame(it.request, 99),
                it.response.map(|frame| summarize_frame(frame, 99)),
            ))
        };
        let response = r#"result {"n":1}"#.to_owned();
        assert_eq!(summary(&test), Some(("b".to_owned(), Some(response))));
        test.frames.truncate(5);
        assert_eq!(summary(&test), Some(("b".to_owned(), None)));
        test.frames_shared = true;
        assert_eq!(summary(&test), None);
    }

    #[test]
    fn an_ambiguous_frame_is_shown_completely() {
        for text in ["nonsense", "{\"id\":1", r#"{"id":1,"result":{},"error":{}}"#, "[]", ""] {
            check(text, text);
        }
    }
}
