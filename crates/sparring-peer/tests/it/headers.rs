//! Mirrored headers, and the client's retry after a header mismatch (2026-07-28).

use serde_json::json;
use sparring_peer::client::Error;
use sparring_peer::client::core::Request;
use sparring_peer::{Cause, Incoming, LinkKind, Outgoing, Stream};
use sparring_wire::{Frame, Headers, Id, RawJson};

use crate::core_fixture::{CoreFixture, ms};

const REFUSAL: &str = r#""error":{"code":-32020,"message":"Mcp-Param-Region is missing"}"#;

/// A sent frame, with its stream and headers.
struct Sent {
    id: Id,
    frame: Frame,
    headers: Headers,
}

fn sent(fixture: &mut CoreFixture) -> Option<Sent> {
    loop {
        match fixture.core.poll_action()? {
            Outgoing::Send { frame, stream: Stream::Request(id), headers, .. } => {
                return Some(Sent { id, frame, headers });
            }
            Outgoing::Abort(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

fn call(fixture: &mut CoreFixture) -> Sent {
    let params = RawJson::from(json!({"name": "q", "arguments": {"region": "ü"}}));
    fixture.core.request(fixture.now, Request::new("tools/call", Some(params)), "call");
    sent(fixture).expect("the call")
}

/// Receives a response on the stream of its request, which then ends, as over
/// HTTP.
fn answer(fixture: &mut CoreFixture, id: &Id, answer: &str) {
    let frame = Frame::parse(format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#));
    let stream = Stream::Request(id.clone());
    let incoming = Incoming::Frame { frame, stream: stream.clone(), envelope: None };
    fixture.core.receive(fixture.now, incoming);
    fixture.core.receive(fixture.now, Incoming::StreamEnded { stream, cause: Cause::EndOfInput });
}

fn tools(header: &str, cursor: &str) -> String {
    format!(
        r#""result":{{"resultType":"complete","ttlMs":0,"cacheScope":"private",{cursor}"tools":[{{"name":"q","inputSchema":{{"type":"object","properties":{{"region":{{"type":"string"{header}}}}}}}}}]}}"#
    )
}

const REGION: &str = r#","x-mcp-header":"Region""#;

#[test]
fn a_listed_tool_determines_the_mirrored_arguments() {
    let mut fixture = CoreFixture::discovered(LinkKind::Streams);
    let before = call(&mut fixture);
    assert_eq!(before.headers.get("mcp-method"), Some("tools/call"));
    assert_eq!(before.headers.get("mcp-name"), Some("q"));
    assert_eq!(before.headers.get("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(before.headers.get("mcp-param-region"), None);
    for (header, expected) in [(REGION, Some("=?base64?w7w=?=")), ("", None)] {
        fixture.core.request(fixture.now, Request::new("tools/list", None), "list");
        let list = sent(&mut fixture).expect("the list");
        answer(&mut fixture, &list.id, &tools(header, ""));
        assert_eq!(call(&mut fixture).headers.get("mcp-param-region"), expected);
    }
}

#[test]
fn a_shared_channel_has_no_headers() {
    let mut fixture = CoreFixture::discovered(LinkKind::Shared);
    fixture.core.request(fixture.now, Request::new("tools/list", None), "list");
    let Some(Outgoing::Send { headers, .. }) = fixture.core.poll_action() else {
        panic!("nothing")
    };
    assert!(headers.is_empty());
}

#[test]
fn a_call_with_a_header_mismatch_is_retried_after_listing_the_tools() {
    let mut fixture = CoreFixture::discovered(LinkKind::Streams);
    let first = call(&mut fixture);
    answer(&mut fixture, &first.id, REFUSAL);
    let page = sent(&mut fixture).expect("the list");
    assert_eq!(page.frame.method(), Some("tools/list"));
    answer(&mut fixture, &page.id, &tools("", r#""nextCursor":"2","#));
    let page = sent(&mut fixture).expect("the next page");
    let cursor = page.frame.params().and_then(|params| params.get("cursor"));
    assert_eq!(cursor.map(|cursor| cursor.text().into_owned()).as_deref(), Some(r#""2""#));
    answer(&mut fixture, &page.id, &tools(REGION, ""));
    let again = sent(&mut fixture).expect("the call again");
    assert_ne!(again.id, first.id);
    assert_eq!(again.headers.get("mcp-param-region"), Some("=?base64?w7w=?="));
    answer(&mut fixture, &again.id, r#""result":{"resultType":"complete","content":[]}"#);
    assert!(
        fixture.completed().expect("completed").is_ok_and(|response| response.error().is_none())
    );
    assert_eq!(fixture.core.in_flight(), 0);
}

#[test]
fn a_call_is_retried_only_once() {
    let mut fixture = CoreFixture::discovered(LinkKind::Streams);
    let first = call(&mut fixture);
    answer(&mut fixture, &first.id, REFUSAL);
    let page = sent(&mut fixture).expect("the list");
    answer(&mut fixture, &page.id, &tools(REGION, ""));
    let again = sent(&mut fixture).expect("the call again");
    answer(&mut fixture, &again.id, REFUSAL);
    let response = fixture.completed().expect("completed").expect("an answer");
    assert_eq!(response.error().map(|error| error.code), Some(-32020));
    assert!(sent(&mut fixture).is_none());
}

#[test]
fn the_error_is_delivered_when_the_tool_mirrors_no_arguments() {
    for page in
        [Some(tools("", "")), Some(r#""error":{"code":-32603,"message":"no"}"#.into()), None]
    {
        let mut fixture = CoreFixture::discovered(LinkKind::Streams);
        let first = call(&mut fixture);
        answer(&mut fixture, &first.id, REFUSAL);
        let list = sent(&mut fixture).expect("the list");
        match page {
            Some(page) => answer(&mut fixture, &list.id, &page),
            None => fixture.pass(ms(30_000)),
        }
        let response = fixture.completed().expect("completed").expect("an answer");
        assert_eq!(response.error().map(|error| error.code), Some(-32020));
    }
}

#[test]
fn a_retried_call_keeps_its_deadline() {
    // The whole call has thirty seconds.
    let mut fixture = CoreFixture::discovered(LinkKind::Streams);
    let first = call(&mut fixture);
    fixture.pass(ms(10_000));
    answer(&mut fixture, &first.id, REFUSAL);
    let page = sent(&mut fixture).expect("the list");
    fixture.pass(ms(10_000));
    answer(&mut fixture, &page.id, &tools(REGION, ""));
    sent(&mut fixture).expect("the call again");
    fixture.pass(ms(9_999));
    assert!(fixture.completed().is_none());
    fixture.pass(ms(1));
    let error = fixture.error();
    assert!(matches!(error, Error::Timeout { after, .. } if after == ms(30_000)), "{error}");

    // No page takes longer than the call, and none stays pending.
    let first = call(&mut fixture);
    fixture.pass(ms(10_000));
    answer(&mut fixture, &first.id, REFUSAL);
    let page = sent(&mut fixture).expect("the list");
    fixture.pass(ms(20_000));
    let response = fixture.completed().expect("completed").expect("the refusal");
    assert_eq!(response.error().map(|error| error.code), Some(-32020));
    assert_eq!(fixture.core.in_flight(), 0);
    assert_eq!(fixture.core.poll_action(), Some(Outgoing::Abort(Stream::Request(page.id))));
}

#[test]
fn a_call_cancelled_during_the_listing_is_not_retried() {
    let mut fixture = CoreFixture::discovered(LinkKind::Streams);
    let first = call(&mut fixture);
    answer(&mut fixture, &first.id, REFUSAL);
    let page = sent(&mut fixture).expect("the list");
    fixture.core.cancel(&first.id, None);
    assert!(matches!(fixture.error(), Error::Cancelled { .. }));
    answer(&mut fixture, &page.id, &tools(REGION, r#""nextCursor":"2","#));
    assert!(sent(&mut fixture).is_none() && fixture.completed().is_none());
    assert_eq!(fixture.core.in_flight(), 0);
}

#[test]
fn the_listing_before_a_retry_is_limited() {
    let mut fixture = CoreFixture::discovered(LinkKind::Streams);
    let first = call(&mut fixture);
    answer(&mut fixture, &first.id, REFUSAL);
    let mut pages = 0;
    while let Some(page) = sent(&mut fixture) {
        pages += 1;
        assert!(pages <= 100, "it goes on and on");
        answer(&mut fixture, &page.id, &tools("", r#""nextCursor":"2","#));
    }
    assert!(fixture.completed().expect("completed").is_ok());
}

#[test]
fn the_stream_of_a_wrong_answer_is_closed() {
    for wrong in
        [r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#, r#"{"jsonrpc":"2.0","id":"ID","result":{}}"#]
    {
        let mut fixture = CoreFixture::discovered(LinkKind::Streams);
        let call = call(&mut fixture);
        let frame = Frame::parse(wrong.replace("ID", &call.id.to_string()));
        let stream = Stream::Request(call.id);
        let incoming = Incoming::Frame { frame, stream: stream.clone(), envelope: None };
        fixture.core.receive(fixture.now, incoming);
        fixture.error();
        assert_eq!(fixture.core.poll_action(), Some(Outgoing::Abort(stream)));
    }
}
