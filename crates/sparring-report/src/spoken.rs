//! What was said in a test, for a reader: a line a frame, and the request that
//! the test ended with.

use crate::fields::Fields;
use crate::{Frame, Side, Test, counts, cut};

/// What every name begins with that the protocol itself puts into `_meta`.
const OWN: &str = "io.modelcontextprotocol/";

/// A request and what came back.
pub(crate) struct Exchange<'a> {
    pub(crate) request: &'a Frame,
    pub(crate) response: Option<&'a Frame>,
}

/// A frame in one line, with who sent it; below it what is wrong with it.
pub(crate) fn lines(frame: &Frame, longest: usize) -> Vec<String> {
    let who = match frame.from {
        Side::Client => "->",
        Side::Server => "<-",
    };
    let status = frame.status.map(|status| format!("(HTTP {status}) ")).unwrap_or_default();
    let said = std::iter::once(format!("{who} {status}{}", cut::line(&frame.text, longest)));
    said.chain(wrong(frame, longest).into_iter().map(|it| format!("   ! {it}"))).collect()
}

/// What is wrong with a frame, a line each.
pub(crate) fn wrong(frame: &Frame, longest: usize) -> Vec<String> {
    let told = frame.violations.iter().map(|it| {
        let section = if it.section.is_empty() { "" } else { &format!(" ({})", it.section) };
        cut::line(&format!("{} at {}: {}{section}", it.rule, it.path, it.message), longest)
    });
    told.collect()
}

/// The last frames of a test, a line each.
pub(crate) fn conversation(test: &Test, most: usize, longest: usize) -> Vec<String> {
    let before = test.frames.len().saturating_sub(most);
    let left_out = before + test.frames_left_out;
    let shared = "   [frames of tests that ran at the same time are among these]".to_owned();
    let shared = (test.frames_shared && !test.frames.is_empty()).then_some(shared);
    let said = (left_out > 0).then(|| format!("   [{} left out]", counts::of(left_out, "frame")));
    let frames = test.frames[before..].iter().flat_map(|frame| lines(frame, longest));
    shared.into_iter().chain(said).chain(frames).collect()
}

/// The last request of the client, with its response if there was one. What is no
/// JSON is taken for a request too: somebody meant to send it. Nothing where frames
/// of other tests are among them.
pub(crate) fn last_exchange(test: &Test) -> Option<Exchange<'_>> {
    let is_request = |frame: &Frame| match Fields::of(&frame.text) {
        Some(fields) => fields.get("method").is_some() && fields.get("id").is_some(),
        None => true,
    };
    if test.frames_shared {
        return None;
    }
    let asked = test.frames.iter().rposition(|it| it.from == Side::Client && is_request(it))?;
    let request = &test.frames[asked];
    let id = Fields::of(&request.text).and_then(|fields| fields.get("id"));
    let is_response = |frame: &&Frame| match Fields::of(&frame.text) {
        Some(fields) => fields.get("method").is_none() && fields.get("id") == id,
        None => true,
    };
    let after = test.frames[asked..].iter().filter(|frame| frame.from == Side::Server);
    Some(Exchange { request, response: after.into_iter().find(is_response) })
}

/// A request or a response without what is the same in all of them. One that
/// breaks the protocol is shown as it is.
pub(crate) fn brief(frame: &Frame, longest: usize) -> String {
    let status = frame.status.filter(|status| *status != 200);
    let status = status.map(|status| format!("HTTP {status} ")).unwrap_or_default();
    let brief = match frame.violations.is_empty() {
        true => Fields::of(&frame.text).and_then(|fields| content(&fields)),
        false => None,
    };
    cut::line(&format!("{status}{}", brief.as_deref().unwrap_or(&frame.text)), longest)
}

/// What a frame is about; nothing where it is not one thing clearly.
fn content(frame: &Fields<'_>) -> Option<String> {
    let body = |name| frame.get(name).map(without_own_meta);
    match (frame.get("method"), body("result"), body("error")) {
        (Some(method), None, None) => {
            let method = method.trim_matches('"');
            Some(format!("{method} {}", body("params").unwrap_or_default()).trim_end().to_owned())
        }
        (None, Some(result), None) => Some(format!("result {result}")),
        (None, None, Some(error)) => Some(format!("error {error}")),
        _ => None,
    }
}

/// An object without its `_meta`, where that has only what the protocol puts
/// there.
fn without_own_meta(object: &str) -> String {
    let Some(fields) = Fields::of(object) else { return object.to_owned() };
    let is_own = |(name, value): &(_, &serde_json::value::RawValue)| {
        name == "_meta"
            && Fields::of(value.get())
                .is_some_and(|meta| meta.0.iter().all(|(name, _)| name.starts_with(OWN)))
    };
    if !fields.0.iter().any(is_own) {
        return object.to_owned();
    }
    let kept = fields.0.iter().filter(|field| !is_own(field));
    let kept = kept.map(|(name, value)| format!("{}:{}", serde_json::json!(name), value.get()));
    format!("{{{}}}", kept.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(from: Side, text: &str) -> Frame {
        let (text, bytes) = (text.to_owned(), text.len());
        Frame { at_ms: 0.0, from, text, bytes, status: None, violations: Vec::new() }
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(brief(&frame(Side::Server, text), 1_000), expected);
    }

    #[test]
    fn a_brief_frame_has_what_differs_as_it_was_spelled() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n":1.50,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
            r#"tools/call {"name":"a","n":1.50}"#,
        );
        check(
            r#"{"result":{"n":123456789012345678901234567890,"_meta":{"mine":1}},"id":1}"#,
            r#"result {"n":123456789012345678901234567890,"_meta":{"mine":1}}"#,
        );
        check(r#"{"id":1,"error":{"code":1}}"#, r#"error {"code":1}"#);
        check(r#"{"id":1,"method":"ping"}"#, "ping");
    }

    #[test]
    fn the_last_request_has_the_response_of_its_own_id() {
        let (ask, answer) = (Side::Client, Side::Server);
        let mut test = crate::example::test("a", crate::Outcome::Failed);
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
        let told = |test: &Test| {
            let it = last_exchange(test)?;
            Some((brief(it.request, 99), it.response.map(|frame| brief(frame, 99))))
        };
        let response = r#"result {"n":1}"#.to_owned();
        assert_eq!(told(&test), Some(("b".to_owned(), Some(response))));
        test.frames.truncate(5);
        assert_eq!(told(&test), Some(("b".to_owned(), None)));
        test.frames_shared = true;
        assert_eq!(told(&test), None);
    }

    #[test]
    fn what_is_no_clear_frame_is_shown_as_it_is() {
        for text in ["nonsense", "{\"id\":1", r#"{"id":1,"result":{},"error":{}}"#, "[]", ""] {
            check(text, text);
        }
    }
}
