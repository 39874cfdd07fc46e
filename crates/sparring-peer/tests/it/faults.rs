//! Every way in which a reply can go wrong, told at once or as soon as it can
//! be known, and never to the wrong request.

use crate::stage::{Stage, ms};
use sparring_peer::client::Error;
use sparring_peer::client::core::Unclaimed;
use sparring_peer::{Cause, Incoming};
use sparring_wire::Id;

/// A reply of this text, with `ID` for the id, fails the request at once.
#[track_caller]
fn fails_at_once(text: &str, message: &str) {
    let mut stage = Stage::connected();
    let id = stage.request("tools/call");
    let other = stage.request("tools/list");
    stage.receive(&text.replace("ID", &id.to_string()));
    let error = stage.error();
    assert!(error.to_string().contains(message), "{error}");
    assert!(error.to_string().contains("tools/call"), "{error}");
    assert_eq!(stage.core.in_flight(), 1, "the other request lives");
    stage.receive(&format!(r#"{{"jsonrpc":"2.0","id":{other},"result":{{}}}}"#));
    assert!(stage.settled().unwrap().unwrap().success());
}

/// Something that belongs to nobody fails what is in flight after the grace.
#[track_caller]
fn fails_after_the_grace(text: &str, message: &str) {
    let mut stage = Stage::connected();
    stage.request("tools/call");
    stage.receive(text);
    stage.pass(ms(999));
    assert!(stage.settled().is_none(), "within the grace the answer may still come");
    stage.pass(ms(1));
    let error = stage.error();
    assert!(error.to_string().contains(message), "{error}");
    assert!(error.to_string().contains("tools/call"), "{error}");

    // The right answer within the grace makes it good.
    let mut stage = Stage::connected();
    let id = stage.request("tools/call");
    stage.receive(text);
    stage.pass(ms(900));
    stage.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    assert!(stage.settled().unwrap().unwrap().success());
    stage.pass(ms(60_000));
    assert!(stage.settled().is_none());
}

#[test]
fn reports_garbage_after_the_grace() {
    fails_after_the_grace("Segmentation fault", "Segmentation fault");
    fails_after_the_grace("17", "not-an-object");
}

#[test]
fn noise_before_the_first_frame_is_never_fatal() {
    let mut stage = Stage::new(sparring_peer::Protocol::Only(sparring_wire::Revision::V2025_11_25));
    let id = stage.sent_one().id().cloned().unwrap();
    stage.receive("Welcome to my server!");
    assert_eq!(stage.unclaimed(), Some(Unclaimed::Noise));
    stage.pass(ms(20_000));
    assert!(stage.event().is_none());
    stage.receive(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    ));
    assert!(stage.connection().unwrap().is_ok());
}

#[test]
fn reports_a_truncated_reply_at_once_when_it_shows_whose_it_is() {
    fails_at_once(r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"ty"#, "not-json");
}

#[test]
fn reports_a_truncated_reply_that_is_nobodys_after_the_grace() {
    fails_after_the_grace(r#"{"jsonrpc":"2.0","resu"#, "not-json");
}

#[test]
fn reports_a_reply_with_a_foreign_id_after_the_grace() {
    fails_after_the_grace(r#"{"jsonrpc":"2.0","id":9999,"result":{}}"#, "9999");
    fails_after_the_grace(r#"{"jsonrpc":"2.0","id":"abc","result":{}}"#, "\"abc\"");
}

#[test]
fn reports_a_reply_with_the_id_in_another_type() {
    fails_at_once(r#"{"jsonrpc":"2.0","id":"ID","result":{}}"#, "id \"2\"");
}

#[test]
fn reports_a_wrong_jsonrpc() {
    fails_at_once(r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#, "\"1.0\"");
    fails_at_once(r#"{"id":ID,"result":{}}"#, "wrong-jsonrpc");
}

#[test]
fn reports_a_reply_with_both_result_and_error() {
    fails_at_once(
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"m"}}"#,
        "result-and-error",
    );
}

#[test]
fn reports_a_reply_with_neither_result_nor_error() {
    fails_at_once(r#"{"jsonrpc":"2.0","id":ID}"#, "nothing-inside");
}

#[test]
fn reports_a_request_that_is_never_answered() {
    let mut stage = Stage::connected();
    let id = stage.request("tools/call");
    stage.pass(ms(29_999));
    assert!(stage.settled().is_none());
    stage.pass(ms(1));
    let error = stage.error();
    assert_eq!(error.to_string(), "no answer to tools/call within 30s");
    let cancelled = stage.sent_one();
    assert_eq!(cancelled.method(), Some("notifications/cancelled"));
    assert_eq!(cancelled.params().unwrap().get("requestId").and_then(Id::read), Some(id));
}

#[test]
fn a_late_reply_is_recorded_and_never_delivered() {
    let mut stage = Stage::connected();
    let id = stage.request("tools/call");
    stage.pass(ms(30_000));
    stage.error();
    let next = stage.core.request(
        stage.now,
        sparring_peer::client::core::Request::new("ping", None),
        "ping",
    );
    stage.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"late":true}}}}"#));
    assert_eq!(stage.unclaimed(), Some(Unclaimed::Late));
    stage.pass(ms(1_500));
    assert!(stage.settled().is_none(), "a late reply casts no suspicion on others");
    stage.receive(&format!(r#"{{"jsonrpc":"2.0","id":{next},"result":{{}}}}"#));
    assert!(stage.settled().unwrap().unwrap().result().unwrap().get("late").is_none());
}

#[test]
fn a_duplicate_reply_is_recorded_and_never_delivered() {
    let mut stage = Stage::connected();
    let id = stage.request("tools/call");
    let reply = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    stage.receive(&reply);
    assert!(stage.settled().unwrap().is_ok());
    stage.request("ping");
    stage.receive(&reply);
    assert_eq!(stage.unclaimed(), Some(Unclaimed::Duplicate));
    stage.pass(ms(5_000));
    assert!(stage.settled().is_none());
}

#[test]
fn an_error_without_an_id_fails_what_is_in_flight_after_the_grace() {
    fails_after_the_grace(
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"cannot read"}}"#,
        "cannot read",
    );
    fails_after_the_grace(
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"cannot read"}}"#,
        "cannot read",
    );
}

#[test]
fn notifications_and_a_foreign_reply_before_the_answer_do_no_harm() {
    let mut stage = Stage::connected();
    let id = stage.request("tools/call");
    for _ in 0..50 {
        stage.receive(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#);
    }
    stage.receive(r#"{"jsonrpc":"2.0","id":777,"result":{}}"#);
    stage.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
    assert!(stage.settled().unwrap().unwrap().success());
}

#[test]
fn progress_of_a_request_clears_the_suspicion_on_it() {
    let mut stage = Stage::connected();
    let mut request = sparring_peer::client::core::Request::new("tools/call", None);
    request.progress = true;
    let id = stage.core.request(stage.now, request, "tools/call");
    stage.receive("stray line");
    stage.pass(ms(500));
    stage.receive(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#
    ));
    stage.pass(ms(5_000));
    assert!(stage.settled().is_none());
}

#[test]
fn the_end_of_the_link_fails_everything_at_once_with_its_cause() {
    let mut stage = Stage::connected();
    stage.request("tools/call");
    stage.request("tools/list");
    let cause = Cause::Broken("exit status 3".to_owned());
    stage.core.receive(stage.now, Incoming::Closed(cause));
    let messages: Vec<String> = (0..2).map(|_| stage.error().to_string()).collect();
    assert!(
        messages.iter().all(|message| message.ends_with("has no answer: exit status 3")),
        "{messages:?}"
    );
    stage.core.request(stage.now, sparring_peer::client::core::Request::new("ping", None), "ping");
    assert!(matches!(stage.error(), Error::Closed { .. }));
    assert!(stage.core.poll_action().is_none(), "nothing is sent on a link that has ended");
}

#[test]
fn a_message_shows_only_the_beginning_of_a_long_line() {
    let mut stage = Stage::connected();
    stage.request("tools/call");
    stage.receive(&"x".repeat(100_000));
    stage.pass(ms(1_000));
    let message = stage.error().to_string();
    assert!(message.len() < 500 && message.contains("100000 bytes"), "{message}");
}

#[test]
fn a_foreign_reply_on_a_stream_of_its_own_is_held_against_that_request_only() {
    let mut stage = Stage::discovered(sparring_peer::LinkKind::Streams);
    let mut request = |method| {
        let request = sparring_peer::client::core::Request::new(method, None);
        stage.core.request(stage.now, request, method)
    };
    let (one, _other) = (request("a"), request("b"));
    let frame = sparring_wire::Frame::parse(r#"{"jsonrpc":"2.0","id":999,"result":{}}"#);
    let stream = sparring_peer::Stream::Request(one);
    stage.core.receive(stage.now, Incoming::Frame { frame, stream, envelope: None });
    stage.pass(ms(1_000));
    assert!(stage.error().to_string().contains("no answer to a "));
    assert!(stage.settled().is_none());
}

#[test]
fn an_id_of_the_callers_own_is_never_given_to_another_request() {
    let mut stage = Stage::connected();
    let raw = sparring_wire::Frame::parse(r#"{"jsonrpc":"2.0","id":3,"method":"raw"}"#);
    stage.core.request_frame(stage.now, raw.clone(), None, "raw").unwrap();
    let again = stage.core.request_frame(stage.now, raw, None, "again").unwrap_err();
    assert!(again.1.contains("in flight"), "{}", again.1);
    stage.sent();
    let ids = [stage.request("a"), stage.request("b")];
    assert!(!ids.contains(&Id::Integer(3)), "{ids:?}");
    assert_eq!(stage.core.in_flight(), 3);
}

#[test]
fn progress_in_one_batch_with_the_answer_is_told_before_it() {
    let mut stage = Stage::connected();
    let mut request = sparring_peer::client::core::Request::new("tools/call", None);
    request.progress = true;
    let id = stage.core.request(stage.now, request, "tools/call");
    stage.receive(&format!(
        r#"[{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}},{{"jsonrpc":"2.0","id":{id},"result":{{}}}}]"#
    ));
    let Some(sparring_peer::client::core::Event::Progress { id: told, .. }) = stage.event() else {
        panic!("no progress");
    };
    assert_eq!(stage.core.waiter(&told).copied(), Some("tools/call"), "its owner can be told");
}

#[test]
fn a_late_reply_to_a_raw_request_never_settles_another() {
    let mut stage = Stage::connected();
    let raw = sparring_wire::Frame::parse(r#"{"jsonrpc":"2.0","id":2,"method":"raw"}"#);
    stage.core.request_frame(stage.now, raw, Some(ms(10)), "raw").unwrap();
    stage.sent();
    stage.pass(ms(10));
    stage.error();
    stage.sent();
    let next = stage.request("next");
    assert_ne!(next, Id::Integer(2));
    stage.receive(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert_eq!(stage.unclaimed(), Some(Unclaimed::Late));
}

#[test]
fn a_batch_in_a_batch_is_noise() {
    let mut stage = Stage::connected();
    stage.request("a");
    stage.receive(r#"[[{"jsonrpc":"2.0","id":2,"result":{}}]]"#);
    assert_eq!(stage.unclaimed(), Some(Unclaimed::Noise));
}
