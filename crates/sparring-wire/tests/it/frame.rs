//! Parsing and building frames: fields, violations and exact bytes.

use sparring_wire::{
    Checker, ErrorObject, Frame, FrameKind, Id, IdSequence, Json, Limits, RawJson, Revision, Rule,
    Side,
};

/// Parses a frame and compares the violations with `rule path` pairs.
fn check(bytes: impl Into<Vec<u8>>, expected: &str) -> Frame {
    let frame = Frame::parse(bytes);
    let found = frame.violations().iter();
    let found = found.map(|it| format!("{} {}", it.rule, it.path));
    assert_eq!(found.collect::<Vec<_>>().join(", "), expected, "{frame:?}");
    frame
}

#[test]
fn creates_a_json_rpc_request() {
    let mut ids = IdSequence::default();
    let id = ids.next_id();
    let request = Frame::request(&id, "tools/list", Some(&RawJson::empty_object()));
    assert_eq!(request.method(), Some("tools/list"));
    assert!(request.id().is_some_and(|id| ids.has_generated(id)));
    assert_eq!(request.text(), r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#);
    assert!(check(request.bytes(), "").kind() == FrameKind::Request);
}

/// Found by fuzzing: many warnings hid that the text was not JSON.
#[test]
fn warnings_do_not_displace_broken_requirements() {
    let duplicates = r#""extra":1,"#.repeat(200);
    for (text, expected) in [
        (format!(r#"{{{duplicates}"jsonrpc":"2.0","id":1,"result":{{}}:1}}"#), Rule::NotJson),
        (format!(r#"{{{duplicates}"jsonrpc":"1.0","id":1,"result":{{}}}}"#), Rule::WrongJsonrpc),
    ] {
        let frame = Frame::parse(text);
        let warnings = frame.violations().iter().filter(|it| it.is_warning()).count();
        assert!((1..=64).contains(&warnings), "{warnings}");
        assert!(frame.violations().iter().any(|it| it.rule == expected), "{expected}");
    }
    let result = format!(r#"{{"a":{{{duplicates}"b":1}},"content":[]}}"#);
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    let found = Checker::for_revision(Revision::V2025_11_25).check(
        &Frame::parse(text),
        Side::Server,
        Some("tools/list"),
    );
    assert!(found.iter().any(|it| it.rule == Rule::MissingField), "{found:?}");
    assert!(found.iter().filter(|it| it.is_warning()).count() <= 64);
}

#[test]
fn parses_a_json_rpc_response() {
    let response = check(r#"{"jsonrpc":"2.0","id":"r-9","result":{"tools":[1]}}"#, "");
    assert_eq!(response.id(), Some(&Id::from("r-9")));
    assert_eq!(response.result().unwrap().text(), r#"{"tools":[1]}"#);
    assert_eq!(response.kind(), FrameKind::Result);
    assert!(response.error().is_none());
}

#[test]
fn parses_an_error_response() {
    let text = r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no","data":[1]}}"#;
    let response = check(text, "");
    let error = response.error_object().unwrap();
    assert_eq!((error.code, error.message.as_str()), (-32601, "no"));
    assert_eq!(error.data, Some(serde_json::json!([1])));
    assert_eq!(response.kind(), FrameKind::Error);
    assert!(response.result().is_none());
}

#[test]
fn creates_a_notification() {
    let notification = Frame::notification("notifications/initialized", None);
    assert_eq!(notification.id(), None);
    assert_eq!(notification.text(), r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert!(check(notification.bytes(), "").kind() == FrameKind::Notification);
}

#[test]
fn reports_every_violation_of_the_text() {
    check("hello", "wire/not-json $");
    check("", "wire/not-json $");
    check(r#"{"jsonrpc":"2.0","id":1,"method":"a"} x"#, "wire/not-json $");
    check(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", "wire/invalid-utf8 $");
    check("\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"a\"}", "wire/byte-order-mark $");
    check(format!("{}1{}", "[".repeat(129), "]".repeat(129)), "wire/too-deep $");
    check("7", "wire/not-an-object $");
    check("[]", "wire/empty-batch $");
    check(r#"{"jsonrpc":"2.0","method":"a","method":"b"}"#, "wire/duplicate-key $.method");
    check(r#"{"jsonrpc":"2.0","method":"a","x":1,"x":2}"#, "wire/duplicate-key $.x");
}

#[test]
fn reports_every_violation_of_the_message() {
    check(r#"{"id":1,"method":"a"}"#, "wire/wrong-jsonrpc $.jsonrpc");
    check(r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, "wire/wrong-jsonrpc $.jsonrpc");
    check(r#"{"jsonrpc":2.0,"id":1,"method":"a"}"#, "wire/wrong-jsonrpc $.jsonrpc");
    check(r#"{"jsonrpc":"2.0","result":{}}"#, "wire/id-missing $.id");
    check(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, "wire/id-null $.id");
    check(r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, "wire/id-null $.id");
    check(r#"{"jsonrpc":"2.0","id":1.0,"method":"a"}"#, "wire/id-fractional $.id");
    check(r#"{"jsonrpc":"2.0","id":[1],"method":"a"}"#, "wire/id-wrong-type $.id");
    check(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "wire/method-wrong-type $.method");
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]}"#,
        "wire/params-wrong-type $.params",
    );
    check(r#"{"jsonrpc":"2.0","id":1,"result":[]}"#, "wire/result-wrong-type $.result");
    check(
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1"}}"#,
        "wire/error-malformed $.error.code, wire/error-malformed $.error.message",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
        "wire/result-and-error $",
    );
    check(r#"{"jsonrpc":"2.0","id":1}"#, "wire/empty-message $");
    check(r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#, "wire/request-and-response $");
}

#[test]
fn an_error_can_have_the_id_null() {
    let frame = check(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#, "");
    assert_eq!(frame.id(), None);
    let built = Frame::error_response(None, true, &ErrorObject::new(1, ""));
    assert_eq!(frame, built);
}

#[test]
fn a_frame_beyond_a_limit_keeps_its_bytes() {
    let limits = Limits { max_bytes: 10, max_depth: 2 };
    let long = Frame::parse_with_limits("[1,2,3,4,5,6]", limits);
    assert_eq!(long.violations()[0].rule, Rule::TooLarge);
    assert_eq!(long.bytes(), b"[1,2,3,4,5,6]");
    let deep = Frame::parse_with_limits("[[[1]]]", limits);
    assert_eq!(deep.violations()[0].rule, Rule::TooDeep);
}

#[test]
fn an_unknown_key_is_a_note_and_not_a_violation() {
    let frame = check(r#"{"jsonrpc":"2.0","id":1,"method":"a","trace":"x","z":{}}"#, "");
    assert_eq!(frame.notes(), ["trace", "z"]);
}

#[test]
fn the_text_is_kept_byte_for_byte() {
    for text in [
        r#"{"result":{"z":1.0,"a":1e2,"m":-0.0,"big":123456789012345678901234567890},"id":1,"jsonrpc":"2.0"}"#,
        " {\t\"jsonrpc\" : \"2.0\",\n\"method\":\"a\\u0062\" , \"params\" : { \"b\":1, \"a\":[ ] } } ",
        r#"{"jsonrpc":"2.0","id":"\u0031","method":"m","params":{"unknown":{"deep":[{"x":"\/"}]}}}"#,
    ] {
        let frame = check(text, "");
        assert_eq!(frame.bytes(), text.as_bytes());
    }
    let frame = check(r#"{"jsonrpc":"2.0","id":1,"result":{"n": 1.50 ,"k":[ ]}}"#, "");
    let again = Frame::result_response(&Id::Integer(1), frame.result().unwrap(), &[]);
    assert_eq!(again.result().unwrap().text(), r#"{"n": 1.50 ,"k":[ ]}"#);
}

#[test]
fn members_are_added_to_a_result_that_is_an_object() {
    for (result, expected) in [
        ("{}", r#"{"a":1,"b":{}}"#),
        ("{ }", r#"{ "a":1,"b":{}}"#),
        (r#"{"n": 1.50 }"#, r#"{"n": 1.50 ,"a":1,"b":{}}"#),
        ("[1]", "[1]"),
    ] {
        let result = RawJson::parse(result).unwrap();
        let one = RawJson::parse("1").unwrap();
        let added = [("a", one.view()), ("b", Json::EMPTY_OBJECT)];
        let frame = Frame::result_response(&Id::Integer(1), result.view(), &added);
        assert_eq!(frame.result().unwrap().text(), expected);
        assert_eq!(Frame::parse(frame.bytes()).result(), frame.result());
    }
}

#[test]
fn a_built_frame_is_one_line() {
    let spread = RawJson::parse("{\n  \"a\": [\r\n1 ,\n\n2]\r}").unwrap();
    let id = Id::Integer(1);
    let flat = r#"{   "a": [  1 ,  2] }"#;
    for frame in [
        Frame::request(&id, "a", Some(&spread)),
        Frame::notification("a", Some(&spread)),
        Frame::result_response(&id, spread.view(), &[]),
    ] {
        let part = frame.params().or(frame.result()).unwrap();
        assert_eq!(part.text(), flat);
        assert_eq!(Frame::parse(frame.bytes()).kind(), frame.kind());
        assert!(!frame.bytes().contains(&b'\n') && !frame.bytes().contains(&b'\r'));
    }
}

#[test]
fn a_truncated_response_has_its_id() {
    let whole = r#"{"jsonrpc":"2.0","id":42,"result":{"content":[{"type":"text","text":"abc"}]}}"#;
    for end in 35..whole.len() {
        let frame = check(&whole.as_bytes()[..end], "wire/not-json $");
        assert_eq!(frame.id(), Some(&Id::Integer(42)), "{frame:?}");
        assert_eq!(frame.kind(), FrameKind::Other);
        assert!(frame.is_response_like());
    }
}

#[test]
fn the_frames_of_a_batch_are_frames() {
    let batch = check(r#"[{"jsonrpc":"2.0","id":1,"method":"a"}, 7 ,{"id":2}]"#, "");
    let kinds = batch.batch_items().map(|frame| frame.kind());
    assert_eq!(kinds.collect::<Vec<_>>(), [FrameKind::Request, FrameKind::Other, FrameKind::Other]);
    assert_eq!(batch.batch_items().nth(1).unwrap().bytes(), b"7");
}

#[test]
fn ids_keep_their_type() {
    let id = |text: &str| Frame::parse(format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"a"}}"#));
    assert_eq!(id("1").id(), Some(&Id::Integer(1)));
    assert_eq!(id("\"1\"").id(), Some(&Id::from("1")));
    assert_ne!(id("1").id(), id("\"1\"").id());
    let big = id("18446744073709551616");
    assert_eq!(big.id().unwrap().to_string(), "18446744073709551616");
}

#[test]
fn a_built_frame_has_the_same_violations_as_a_parsed_one() {
    let list = RawJson::parse("[1]").unwrap();
    let five = RawJson::parse("5").unwrap();
    let id = Id::Integer(1);
    for frame in [
        Frame::request(&id, "a", Some(&list)),
        Frame::notification("a", Some(&list)),
        Frame::result_response(&id, five.view(), &[]),
    ] {
        assert_eq!(frame.violations(), Frame::parse(frame.bytes()).violations());
        assert_eq!(frame.violations().len(), 1);
    }
}

#[test]
fn text_that_ends_outside_of_a_result_is_not_a_response() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1"#,
        r#"{"jsonrpc":"2.0","id":1,"#,
        r#"{"jsonrpc":"2.0","id":1,"meth"#,
        r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
    ] {
        assert!(!Frame::parse(text).is_response_like(), "{text}");
    }
}

#[test]
fn a_frame_with_very_many_keys_is_parsed_in_linear_time() {
    let keys: Vec<String> = (0..50_000).map(|number| format!("\"k{number}\":0")).collect();
    let frame = Frame::parse(format!("{{{}}}", keys.join(",")));
    assert_eq!(frame.notes().len(), 64, "the number of notes is bounded");
}
