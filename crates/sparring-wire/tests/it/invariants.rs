//! What holds for any bytes whatever, shared with the fuzz target.

use serde::de::IgnoredAny;
use serde_json::Value;
use sparring_wire::{
    Checker, ErrorObject, Frame, FrameKind, Id, Json, JsonKind, RawJson, Referee, Revision, Rule,
    Side,
};

/// The most violations that one frame can have.
const MOST: usize = 64;

/// Reads bytes as a frame, checks all that must be true of it, and judges it
/// by one revision. Panics if something is not true.
pub(crate) fn hold_for_frame(bytes: &[u8], revision: Revision, from: Side) {
    let frame = Frame::parse(bytes);
    assert_eq!(frame.bytes(), bytes, "bytes change");
    same_in_every_accessor(&frame, &Frame::parse(frame.bytes()));
    agrees_with_serde(&frame);
    for json in [frame.params(), frame.result(), frame.error()] {
        json.into_iter().for_each(|json| can_be_walked(json, 0));
    }
    let _ = (frame.text(), frame.error_object(), frame.is_response_like());
    if frame.kind() == FrameKind::Other {
        assert!(!frame.violations().is_empty(), "nothing readable, nothing wrong");
    }
    built_frames_are_like_parsed_ones(&frame);
    let answers = revision.requests(from.other()).first().map(|rule| rule.name);
    for answers in [None, answers] {
        judge(&frame, revision, from, answers);
    }
}

/// Feeds a conversation to a referee.
pub(crate) fn hold_for_conversation<'a>(frames: impl Iterator<Item = (Side, &'a [u8])>) {
    let mut referee = Referee::new();
    for (from, bytes) in frames {
        let frame = Frame::parse(bytes);
        let found = referee.observe(from, &frame);
        assert!(found.len() <= MOST, "too many violations");
        assert!(found.iter().all(|it| it.path.starts_with('$')), "{found:?}");
        assert!(
            frame.violations().is_empty() || !found.is_empty(),
            "a broken frame is passed over: {frame:?}"
        );
    }
    let _ = referee.revision();
}

fn judge(frame: &Frame, revision: Revision, from: Side, answers: Option<&str>) {
    let checker = Checker::of(revision);
    let found = checker.check(frame, from, answers);
    assert!(found.len() <= MOST, "too many violations");
    for (found, own) in found.iter().zip(frame.violations()) {
        assert_eq!((found.rule, &found.path), (own.rule, &own.path));
    }
    assert!(found.len() >= frame.violations().len().min(MOST));
    for violation in &found {
        assert!(violation.path.starts_with('$'), "{violation:?}");
        assert!(violation.section.starts_with(revision.name()), "{violation:?}");
    }
}

fn same_in_every_accessor(one: &Frame, other: &Frame) {
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
    assert!(one.batch().eq(other.batch()), "{one:?}");
}

/// `serde_json` is the second opinion on what is JSON. It has no limit of
/// depth here, and does not mind lone surrogates, the size of numbers or
/// strings that are no UTF-8, none of which is a matter of JSON's grammar.
fn agrees_with_serde(frame: &Frame) {
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
        let part = part.map(|part| part.to::<Value>().unwrap());
        assert_eq!(part.as_ref(), members.get(name), "{frame:?}");
    }
    let method = members.get("method").and_then(Value::as_str);
    assert_eq!(frame.method(), method, "{frame:?}");
    let id = members.get("id");
    match frame.id() {
        Some(Id::Integer(number)) => assert_eq!(id.and_then(Value::as_i64), Some(*number)),
        Some(Id::String(text)) => assert_eq!(id.and_then(Value::as_str), Some(&**text)),
        Some(Id::BigInteger(_)) => assert!(id.is_some_and(Value::is_number)),
        None => assert!(!id.is_some_and(|id| id.is_string() || id.is_i64()), "{frame:?}"),
    }
}

fn can_be_walked(json: Json<'_>, depth: usize) {
    assert!(depth <= 256, "deeper than any limit");
    match json.kind() {
        JsonKind::Object => {
            for (key, value) in json.members() {
                // A name that is no UTF-8 cannot be asked for.
                let name = key.name();
                assert!(name.contains('\u{fffd}') || json.get(&name).is_some());
                can_be_walked(value, depth + 1);
            }
        }
        JsonKind::Array => json.items().for_each(|item| can_be_walked(item, depth + 1)),
        JsonKind::String => assert!(json.as_str().is_some()),
        JsonKind::Integer | JsonKind::Number => assert!(json.as_f64().is_some()),
        JsonKind::Boolean => assert!(json.as_bool().is_some()),
        JsonKind::Null => assert_eq!(json.bytes(), b"null"),
    }
    assert!(!json.text().is_empty());
}

/// What we write reads the same as what others write.
fn built_frames_are_like_parsed_ones(frame: &Frame) {
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
        built.push(Frame::result_of(&id, result.view(), &[]));
    }
    if let Some(error) = frame.error_object() {
        built.push(Frame::error_of(Some(&id), false, &error));
        built.push(Frame::error_of(None, false, &error));
        built.push(Frame::error_of(None, true, &ErrorObject::new(error.code, "m")));
    }
    for frame in &built {
        let parsed = Frame::parse(frame.bytes());
        // Params that are no object are wrong in what we write as well, and
        // only reading notices.
        match parsed.violations().is_empty() {
            true => same_in_every_accessor(frame, &parsed),
            false => assert_eq!((frame.kind(), frame.id()), (parsed.kind(), parsed.id())),
        }
    }
    let batch = Frame::batch_of(&built);
    // A batch is one level deeper than what is in it.
    let too_deep = batch.violations().iter().any(|it| it.rule == Rule::TooDeep);
    if !built.is_empty() && !too_deep {
        assert_eq!(batch.kind(), FrameKind::Batch);
        assert!(batch.batch().eq(built.into_iter()));
    }
}
