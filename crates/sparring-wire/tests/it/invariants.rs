//! Invariants that hold for any bytes, shared with the fuzz target.

use serde::de::IgnoredAny;
use serde_json::Value;
use sparring_wire::{
    Checker, ConnectionChecker, ErrorObject, Frame, FrameKind, Id, Json, JsonKind, RawJson,
    Revision, Rule, Side,
};

/// The maximum number of violations of one frame: the limit of broken requirements and that of
/// warnings together.
const MAX_VIOLATIONS: usize = 2 * 64;

/// Parses bytes as a frame, checks all invariants, and checks the frame against one
/// revision. Panics if an invariant does not hold.
pub(crate) fn check_frame_invariants(bytes: &[u8], revision: Revision, from: Side) {
    let frame = Frame::parse(bytes);
    assert_eq!(frame.bytes(), bytes, "bytes change");
    assert_same_fields(&frame, &Frame::parse(frame.bytes()));
    assert_agrees_with_serde(&frame);
    for json in [frame.params(), frame.result(), frame.error()] {
        json.into_iter().for_each(|json| assert_navigable(json, 0));
    }
    let _ = (frame.text(), frame.error_object(), frame.is_response_like());
    if frame.kind() == FrameKind::Other {
        assert!(!frame.violations().is_empty(), "an unreadable frame has no violation");
    }
    assert_built_frames_equal_parsed_ones(&frame);
    let answers = revision.requests(from.other()).first().map(|rule| rule.name);
    for answers in [None, answers] {
        check_violations(&frame, revision, from, answers);
    }
}

/// Checks all frames of a connection in order.
pub(crate) fn check_connection_invariants<'a>(frames: impl Iterator<Item = (Side, &'a [u8])>) {
    let mut checker = ConnectionChecker::new();
    for (from, bytes) in frames {
        let frame = Frame::parse(bytes);
        let found = checker.check(from, &frame);
        assert!(found.len() <= MAX_VIOLATIONS, "too many violations");
        assert!(found.iter().all(|it| it.path.starts_with('$')), "{found:?}");
        assert!(
            frame.violations().is_empty() || !found.is_empty(),
            "a frame with violations passes: {frame:?}"
        );
    }
    let _ = checker.revision();
}

fn check_violations(frame: &Frame, revision: Revision, from: Side, answers: Option<&str>) {
    let checker = Checker::for_revision(revision);
    let found = checker.check(frame, from, answers);
    assert!(found.len() <= MAX_VIOLATIONS, "too many violations");
    for (found, own) in found.iter().zip(frame.violations()) {
        assert_eq!((found.rule, &found.path), (own.rule, &own.path));
    }
    assert!(found.len() >= frame.violations().len().min(MAX_VIOLATIONS));
    for violation in &found {
        assert!(violation.path.starts_with('$'), "{violation:?}");
        assert!(violation.section.starts_with(revision.name()), "{violation:?}");
    }
}

fn assert_same_fields(one: &Frame, other: &Frame) {
    assert_eq!(one.kind(), other.kind(), "{one:?}");
    assert_eq!(one.id(), other.id(), "{one:?}");
    assert_eq!(one.method(), other.method(), "{one:?}");
    assert_eq!(one.params(), other.params(), "{one:?}");
    assert_eq!(one.result(), other.result(), "{one:?}");
    assert_eq!(one.error(), other.error(), "{one:?}");
    assert_eq!(one.error_object(), other.error_object(), "{one:?}");
    assert_eq!(one.violations(), other.violations(), "{one:?}");
    assert_eq!(one.notes(), other.notes(), "{one:?}");
    assert_eq!(one.is_response_like(), other.is_response_like(), "{one:?}");
    assert!(one.batch_items().eq(other.batch_items()), "{one:?}");
}

/// Compares the scanner with `serde_json`, which has no depth limit here. It accepts lone
/// surrogates, numbers of any size and invalid UTF-8 in strings, none of which is part of
/// JSON's grammar.
fn assert_agrees_with_serde(frame: &Frame) {
    let has = |rule| frame.violations().iter().any(|it| it.rule == rule);
    if has(Rule::TooDeep) {
        return;
    }
    let bytes = frame.bytes();
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let serde = serde_json::from_slice::<IgnoredAny>(bytes);
    assert_eq!(!has(Rule::NotJson), serde.is_ok(), "{frame:?}: {serde:?}");
    let Ok(Value::Object(members)) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    for (name, part) in
        [("params", frame.params()), ("result", frame.result()), ("error", frame.error())]
    {
        let part = part.map(|part| part.deserialize::<Value>().unwrap());
        assert_eq!(part.as_ref(), members.get(name), "{frame:?}");
    }
    let method = members.get("method").and_then(Value::as_str);
    assert_eq!(frame.method(), method, "{frame:?}");
    let id = members.get("id");
    match frame.id() {
        // `serde_json` reads `-0` as a float.
        Some(Id::Integer(0)) => assert_eq!(id.and_then(Value::as_f64), Some(0.0)),
        Some(Id::Integer(number)) => assert_eq!(id.and_then(Value::as_i64), Some(*number)),
        Some(Id::String(text)) => assert_eq!(id.and_then(Value::as_str), Some(&**text)),
        Some(Id::BigInteger(_)) => assert!(id.is_some_and(Value::is_number)),
        None => assert!(!id.is_some_and(|id| id.is_string() || id.is_i64()), "{frame:?}"),
    }
}

fn assert_navigable(json: Json<'_>, depth: usize) {
    assert!(depth <= 256, "deeper than any limit");
    match json.kind() {
        JsonKind::Object => {
            for (key, value) in json.members() {
                // A name that is not UTF-8 cannot be looked up.
                let name = key.name();
                assert!(name.contains('\u{fffd}') || json.get(&name).is_some());
                assert_navigable(value, depth + 1);
            }
        }
        JsonKind::Array => json.items().for_each(|item| assert_navigable(item, depth + 1)),
        JsonKind::String => assert!(json.as_str().is_some()),
        JsonKind::Integer | JsonKind::Number => assert!(json.as_f64().is_some()),
        JsonKind::Boolean => assert!(json.as_bool().is_some()),
        JsonKind::Null => assert_eq!(json.bytes(), b"null"),
    }
    assert!(!json.text().is_empty());
}

/// Checks that a built frame has the same fields as its parsed bytes.
fn assert_built_frames_equal_parsed_ones(frame: &Frame) {
    if std::str::from_utf8(frame.bytes()).is_err() {
        return;
    }
    let part = |json: Option<Json<'_>>| json.map(RawJson::from);
    let id = frame.id().cloned().unwrap_or(Id::Integer(1));
    let mut built = Vec::new();
    if let Some(method) = frame.method() {
        let params = part(frame.params());
        built.push(Frame::request(&id, method, params.as_ref()));
        built.push(Frame::notification(method, params.as_ref()));
    }
    if let Some(result) = part(frame.result()) {
        built.push(Frame::result_response(&id, result.view(), &[]));
    }
    if let Some(error) = frame.error_object() {
        built.push(Frame::error_response(Some(&id), false, &error));
        built.push(Frame::error_response(None, false, &error));
        built.push(Frame::error_response(None, true, &ErrorObject::new(error.code, "m")));
    }
    for frame in &built {
        let parsed = Frame::parse(frame.bytes());
        // Only parsing reports some violations of a built frame.
        match parsed.violations().is_empty() {
            true => assert_same_fields(frame, &parsed),
            false => assert_eq!((frame.kind(), frame.id()), (parsed.kind(), parsed.id())),
        }
    }
    let batch = Frame::from_batch(&built);
    // A batch is one level deeper than its frames.
    let too_deep = batch.violations().iter().any(|it| it.rule == Rule::TooDeep);
    if !built.is_empty() && !too_deep {
        assert_eq!(batch.kind(), FrameKind::Batch);
        assert!(batch.batch_items().eq(built.into_iter()));
    }
}
