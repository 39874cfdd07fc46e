//! Broken responses: reported at once or as soon as they can be recognized, and
//! never for the wrong request.

use crate::core_fixture::{CoreFixture, ms};
use sparring_peer::client::Error;
use sparring_peer::client::core::UnclaimedReason;
use sparring_peer::{Cause, Incoming};
use sparring_wire::Id;

/// Checks that a response with this text, with `ID` for the id, fails the request
/// at once.
#[track_caller]
fn fails_at_once(text: &str, message: &str) {
    let mut fixture = CoreFixture::connected();
    let id = fixture.request("tools/call");
    let other = fixture.request("tools/list");
    fixture.receive(&text.replace("ID", &id.to_string()));
    let error = fixture.error();
    assert!(error.to_string().contains(message), "{error}");
    assert!(error.to_string().contains("tools/call"), "{error}");
    assert_eq!(fixture.core.in_flight(), 1, "the other request lives");
    fixture.receive(&format!(r#"{{"jsonrpc":"2.0","id":{other},"result":{{}}}}"#));
    assert!(fixture.completed().unwrap().unwrap().success());
}

/// Checks that a frame that belongs to no request fails the requests in flight
/// after the grace period.
#[track_caller]
fn fails_after_the_grace(text: &str, message: &str) {
    let mut fixture = CoreFixture::connected();
    fixture.request("tools/call");
    fixture.receive(text);
    fixture.pass(ms(999));
    assert!(fixture.completed().is_none(), "within the grace the answer may still come");
    fixture.pass(ms(1));
    let error = fixture.error();
    assert!(error.to_string().contains(message), "{error}");
    assert!(error.to_string().contains("tools/call"), "{error}");

    // The right response within the grace period prevents the failure.
    let mut fixture = CoreFixture::connected();
    let id = fixture.request("tools/call");
    fixture.receive(text);
    fixture.pass(ms(900));
    fixture.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    assert!(fixture.completed().unwrap().unwrap().success());
    fixture.pass(ms(60_000));
    assert!(fixture.completed().is_none());
}

#[test]
fn reports_garbage_after_the_grace() {
    fails_after_the_grace("Segmentation fault", "Segmentation fault");
    fails_after_the_grace("17", "wire/not-an-object");
}

#[test]
fn noise_before_the_first_frame_is_never_fatal() {
    let mut fixture =
        CoreFixture::new(sparring_peer::Protocol::Only(sparring_wire::Revision::V2025_11_25));
    let id = fixture.sent_one().id().cloned().unwrap();
    fixture.receive("Welcome to my server!");
    assert_eq!(fixture.unclaimed(), Some(UnclaimedReason::Noise));
    fixture.pass(ms(20_000));
    assert!(fixture.event().is_none());
    fixture.receive(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    ));
    assert!(fixture.connection().unwrap().is_ok());
}

#[test]
fn reports_a_truncated_reply_at_once_when_it_shows_its_id() {
    fails_at_once(r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"ty"#, "wire/not-json");
}

#[test]
fn reports_a_truncated_reply_without_an_id_after_the_grace() {
    fails_after_the_grace(r#"{"jsonrpc":"2.0","resu"#, "wire/not-json");
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
    fails_at_once(r#"{"id":ID,"result":{}}"#, "wire/wrong-jsonrpc");
}

#[test]
fn reports_a_reply_with_both_result_and_error() {
    fails_at_once(
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"m"}}"#,
        "wire/result-and-error",
    );
}

#[test]
fn reports_a_reply_with_neither_result_nor_error() {
    fails_at_once(r#"{"jsonrpc":"2.0","id":ID}"#, "wire/empty-message");
}

#[test]
fn reports_a_request_that_is_never_answered() {
    let mut fixture = CoreFixture::connected();
    let id = fixture.request("tools/call");
    fixture.pass(ms(29_999));
    assert!(fixture.completed().is_none());
    fixture.pass(ms(1));
    let error = fixture.error();
    assert_eq!(error.to_string(), "no answer to tools/call within 30s");
    let cancelled = fixture.sent_one();
    assert_eq!(cancelled.method(), Some("notifications/cancelled"));
    assert_eq!(cancelled.params().unwrap().get("requestId").and_then(Id::from_json), Some(id));
}

#[test]
fn a_late_reply_is_recorded_and_never_delivered() {
    let mut fixture = CoreFixture::connected();
    let id = fixture.request("tools/call");
    fixture.pass(ms(30_000));
    fixture.error();
    let next = fixture.core.request(
        fixture.now,
        sparring_peer::client::core::Request::new("ping", None),
        "ping",
    );
    fixture.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"late":true}}}}"#));
    assert_eq!(fixture.unclaimed(), Some(UnclaimedReason::Late));
    fixture.pass(ms(1_500));
    assert!(fixture.completed().is_none(), "a late reply casts no suspicion on others");
    fixture.receive(&format!(r#"{{"jsonrpc":"2.0","id":{next},"result":{{}}}}"#));
    assert!(fixture.completed().unwrap().unwrap().result().unwrap().get("late").is_none());
}

#[test]
fn a_duplicate_reply_is_recorded_and_never_delivered() {
    let mut fixture = CoreFixture::connected();
    let id = fixture.request("tools/call");
    let reply = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    fixture.receive(&reply);
    assert!(fixture.completed().unwrap().is_ok());
    fixture.request("ping");
    fixture.receive(&reply);
    assert_eq!(fixture.unclaimed(), Some(UnclaimedReason::Duplicate));
    fixture.pass(ms(5_000));
    assert!(fixture.completed().is_none());
}

#[test]
fn an_error_without_an_id_fails_requests_in_flight_after_the_grace() {
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
    let mut fixture = CoreFixture::connected();
    let id = fixture.request("tools/call");
    for _ in 0..50 {
        fixture.receive(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#);
    }
    fixture.receive(r#"{"jsonrpc":"2.0","id":777,"result":{}}"#);
    fixture.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
    assert!(fixture.completed().unwrap().unwrap().success());
}

#[test]
fn progress_of_a_request_clears_its_deferred_failure() {
    let mut fixture = CoreFixture::connected();
    let mut request = sparring_peer::client::core::Request::new("tools/call", None);
    request.progress = true;
    let id = fixture.core.request(fixture.now, request, "tools/call");
    fixture.receive("stray line");
    fixture.pass(ms(500));
    fixture.receive(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#
    ));
    fixture.pass(ms(5_000));
    assert!(fixture.completed().is_none());
}

#[test]
fn the_end_of_the_link_fails_everything_at_once_with_its_cause() {
    let mut fixture = CoreFixture::connected();
    fixture.request("tools/call");
    fixture.request("tools/list");
    let cause = Cause::Broken("exit status 3".to_owned());
    fixture.core.receive(fixture.now, Incoming::Closed(cause));
    let messages: Vec<String> = (0..2).map(|_| fixture.error().to_string()).collect();
    assert!(
        messages.iter().all(|message| message.starts_with("no answer to tools/")
            && message.ends_with(": exit status 3")),
        "{messages:?}"
    );
    fixture.core.request(
        fixture.now,
        sparring_peer::client::core::Request::new("ping", None),
        "ping",
    );
    assert!(matches!(fixture.error(), Error::Closed { .. }));
    assert!(fixture.core.poll_action().is_none(), "nothing is sent on a link that has ended");
}

#[test]
fn a_message_shows_only_the_beginning_of_a_long_line() {
    let mut fixture = CoreFixture::connected();
    fixture.request("tools/call");
    fixture.receive(&"x".repeat(100_000));
    fixture.pass(ms(1_000));
    let message = fixture.error().to_string();
    assert!(message.len() < 500 && message.contains("100000 bytes"), "{message}");
}

#[test]
fn a_foreign_reply_on_a_stream_fails_only_its_request() {
    let mut fixture = CoreFixture::discovered(sparring_peer::LinkKind::Streams);
    let mut request = |method| {
        let request = sparring_peer::client::core::Request::new(method, None);
        fixture.core.request(fixture.now, request, method)
    };
    let (one, _other) = (request("a"), request("b"));
    let frame = sparring_wire::Frame::parse(r#"{"jsonrpc":"2.0","id":999,"result":{}}"#);
    let stream = sparring_peer::Stream::Request(one);
    fixture.core.receive(fixture.now, Incoming::Frame { frame, stream, envelope: None });
    fixture.pass(ms(1_000));
    assert!(fixture.error().to_string().contains("no answer to a "));
    assert!(fixture.completed().is_none());
}

#[test]
fn the_client_never_reuses_an_id_of_the_caller() {
    let mut fixture = CoreFixture::connected();
    let raw = sparring_wire::Frame::parse(r#"{"jsonrpc":"2.0","id":3,"method":"raw"}"#);
    fixture.core.request_frame(fixture.now, raw.clone(), None, "raw").unwrap();
    let again = fixture.core.request_frame(fixture.now, raw, None, "again").unwrap_err();
    assert!(again.1.contains("in flight"), "{}", again.1);
    fixture.sent();
    let ids = [fixture.request("a"), fixture.request("b")];
    assert!(!ids.contains(&Id::Integer(3)), "{ids:?}");
    assert_eq!(fixture.core.in_flight(), 3);
}

#[test]
fn progress_in_a_batch_is_reported_before_the_response() {
    let mut fixture = CoreFixture::connected();
    let mut request = sparring_peer::client::core::Request::new("tools/call", None);
    request.progress = true;
    let id = fixture.core.request(fixture.now, request, "tools/call");
    fixture.receive(&format!(
        r#"[{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}},{{"jsonrpc":"2.0","id":{id},"result":{{}}}}]"#
    ));
    let Some(sparring_peer::client::core::Event::Progress { id: reported, .. }) = fixture.event()
    else {
        panic!("no progress");
    };
    assert_eq!(
        fixture.core.waiter(&reported).copied(),
        Some("tools/call"),
        "its owner is still known"
    );
}

#[test]
fn a_late_reply_to_a_raw_request_never_completes_another() {
    let mut fixture = CoreFixture::connected();
    let raw = sparring_wire::Frame::parse(r#"{"jsonrpc":"2.0","id":2,"method":"raw"}"#);
    fixture.core.request_frame(fixture.now, raw, Some(ms(10)), "raw").unwrap();
    fixture.sent();
    fixture.pass(ms(10));
    fixture.error();
    fixture.sent();
    let next = fixture.request("next");
    assert_ne!(next, Id::Integer(2));
    fixture.receive(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert_eq!(fixture.unclaimed(), Some(UnclaimedReason::Late));
}

#[test]
fn a_batch_in_a_batch_is_noise() {
    let mut fixture = CoreFixture::connected();
    fixture.request("a");
    fixture.receive(r#"[[{"jsonrpc":"2.0","id":2,"result":{}}]]"#);
    assert_eq!(fixture.unclaimed(), Some(UnclaimedReason::Noise));
}
