//! What of a request stands in headers as well, and what a client does when a
//! server does not find there what its tools ask for (2026-07-28).

use serde_json::json;
use sparring_peer::client::Error;
use sparring_peer::client::core::Request;
use sparring_peer::{Cause, Incoming, LinkKind, Outgoing, Stream};
use sparring_wire::{Frame, Headers, Id, RawJson};

use crate::stage::{Stage, ms};

const REFUSAL: &str = r#""error":{"code":-32020,"message":"Mcp-Param-Region is missing"}"#;

/// What was sent: on which stream, and with which headers.
struct Sent {
    id: Id,
    frame: Frame,
    headers: Headers,
}

fn sent(stage: &mut Stage) -> Option<Sent> {
    loop {
        match stage.core.poll_action()? {
            Outgoing::Send { frame, stream: Stream::Request(id), headers, .. } => {
                return Some(Sent { id, frame, headers });
            }
            Outgoing::Abort(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

fn call(stage: &mut Stage) -> Sent {
    let params = RawJson::from(json!({"name": "q", "arguments": {"region": "ü"}}));
    stage.core.request(stage.now, Request::new("tools/call", Some(params)), "call");
    sent(stage).expect("the call")
}

/// An answer on the stream of its request, which ends with it, as over HTTP.
fn answer(stage: &mut Stage, id: &Id, answer: &str) {
    let frame = Frame::parse(format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#));
    let stream = Stream::Request(id.clone());
    let incoming = Incoming::Frame { frame, stream: stream.clone(), envelope: None };
    stage.core.receive(stage.now, incoming);
    stage.core.receive(stage.now, Incoming::StreamEnded { stream, cause: Cause::EndOfInput });
}

fn tools(header: &str, cursor: &str) -> String {
    format!(
        r#""result":{{"resultType":"complete","ttlMs":0,"cacheScope":"private",{cursor}"tools":[{{"name":"q","inputSchema":{{"type":"object","properties":{{"region":{{"type":"string"{header}}}}}}}}}]}}"#
    )
}

const REGION: &str = r#","x-mcp-header":"Region""#;

#[test]
fn a_listed_tool_says_which_arguments_stand_in_headers() {
    let mut stage = Stage::discovered(LinkKind::Streams);
    let before = call(&mut stage);
    assert_eq!(before.headers.get("mcp-method"), Some("tools/call"));
    assert_eq!(before.headers.get("mcp-name"), Some("q"));
    assert_eq!(before.headers.get("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(before.headers.get("mcp-param-region"), None);
    for (header, expected) in [(REGION, Some("=?base64?w7w=?=")), ("", None)] {
        stage.core.request(stage.now, Request::new("tools/list", None), "list");
        let list = sent(&mut stage).expect("the list");
        answer(&mut stage, &list.id, &tools(header, ""));
        assert_eq!(call(&mut stage).headers.get("mcp-param-region"), expected);
    }
}

#[test]
fn nothing_stands_in_headers_where_all_share_one_channel() {
    let mut stage = Stage::discovered(LinkKind::Shared);
    stage.core.request(stage.now, Request::new("tools/list", None), "list");
    let Some(Outgoing::Send { headers, .. }) = stage.core.poll_action() else { panic!("nothing") };
    assert!(headers.is_empty());
}

#[test]
fn a_call_refused_for_its_headers_is_made_again_after_a_look_at_the_tools() {
    let mut stage = Stage::discovered(LinkKind::Streams);
    let first = call(&mut stage);
    answer(&mut stage, &first.id, REFUSAL);
    let page = sent(&mut stage).expect("the list");
    assert_eq!(page.frame.method(), Some("tools/list"));
    answer(&mut stage, &page.id, &tools("", r#""nextCursor":"2","#));
    let page = sent(&mut stage).expect("the next page");
    let cursor = page.frame.params().and_then(|params| params.get("cursor"));
    assert_eq!(cursor.map(|cursor| cursor.text().into_owned()).as_deref(), Some(r#""2""#));
    answer(&mut stage, &page.id, &tools(REGION, ""));
    let again = sent(&mut stage).expect("the call again");
    assert_ne!(again.id, first.id);
    assert_eq!(again.headers.get("mcp-param-region"), Some("=?base64?w7w=?="));
    answer(&mut stage, &again.id, r#""result":{"resultType":"complete","content":[]}"#);
    assert!(stage.settled().expect("settled").is_ok_and(|response| response.error().is_none()));
    assert_eq!(stage.core.in_flight(), 0);
}

#[test]
fn it_is_made_again_only_once() {
    let mut stage = Stage::discovered(LinkKind::Streams);
    let first = call(&mut stage);
    answer(&mut stage, &first.id, REFUSAL);
    let page = sent(&mut stage).expect("the list");
    answer(&mut stage, &page.id, &tools(REGION, ""));
    let again = sent(&mut stage).expect("the call again");
    answer(&mut stage, &again.id, REFUSAL);
    let response = stage.settled().expect("settled").expect("an answer");
    assert_eq!(response.error().map(|error| error.code), Some(-32020));
    assert!(sent(&mut stage).is_none());
}

#[test]
fn the_refusal_is_given_when_the_tools_say_nothing_new_or_nothing() {
    for page in
        [Some(tools("", "")), Some(r#""error":{"code":-32603,"message":"no"}"#.into()), None]
    {
        let mut stage = Stage::discovered(LinkKind::Streams);
        let first = call(&mut stage);
        answer(&mut stage, &first.id, REFUSAL);
        let list = sent(&mut stage).expect("the list");
        match page {
            Some(page) => answer(&mut stage, &list.id, &page),
            None => stage.pass(ms(30_000)),
        }
        let response = stage.settled().expect("settled").expect("an answer");
        assert_eq!(response.error().map(|error| error.code), Some(-32020));
    }
}

#[test]
fn made_again_a_call_has_the_time_that_it_had_at_first() {
    // Thirty seconds for all of it.
    let mut stage = Stage::discovered(LinkKind::Streams);
    let first = call(&mut stage);
    stage.pass(ms(10_000));
    answer(&mut stage, &first.id, REFUSAL);
    let page = sent(&mut stage).expect("the list");
    stage.pass(ms(10_000));
    answer(&mut stage, &page.id, &tools(REGION, ""));
    sent(&mut stage).expect("the call again");
    stage.pass(ms(9_999));
    assert!(stage.settled().is_none());
    stage.pass(ms(1));
    let error = stage.error();
    assert!(matches!(error, Error::Timeout { after, .. } if after == ms(30_000)), "{error}");

    // No page takes longer than the call, and none is left behind.
    let first = call(&mut stage);
    stage.pass(ms(10_000));
    answer(&mut stage, &first.id, REFUSAL);
    let page = sent(&mut stage).expect("the list");
    stage.pass(ms(20_000));
    let response = stage.settled().expect("settled").expect("the refusal");
    assert_eq!(response.error().map(|error| error.code), Some(-32020));
    assert_eq!(stage.core.in_flight(), 0);
    assert_eq!(stage.core.poll_action(), Some(Outgoing::Abort(Stream::Request(page.id))));
}

#[test]
fn a_call_that_is_given_up_meanwhile_is_not_made_again() {
    let mut stage = Stage::discovered(LinkKind::Streams);
    let first = call(&mut stage);
    answer(&mut stage, &first.id, REFUSAL);
    let page = sent(&mut stage).expect("the list");
    stage.core.cancel(&first.id, None);
    assert!(matches!(stage.error(), Error::Cancelled { .. }));
    answer(&mut stage, &page.id, &tools(REGION, r#""nextCursor":"2","#));
    assert!(sent(&mut stage).is_none() && stage.settled().is_none());
    assert_eq!(stage.core.in_flight(), 0);
}

#[test]
fn a_server_that_lists_for_ever_is_not_followed_for_ever() {
    let mut stage = Stage::discovered(LinkKind::Streams);
    let first = call(&mut stage);
    answer(&mut stage, &first.id, REFUSAL);
    let mut pages = 0;
    while let Some(page) = sent(&mut stage) {
        pages += 1;
        assert!(pages <= 100, "it goes on and on");
        answer(&mut stage, &page.id, &tools("", r#""nextCursor":"2","#));
    }
    assert!(stage.settled().expect("settled").is_ok());
}

#[test]
fn the_stream_of_a_wrong_answer_is_closed() {
    for wrong in
        [r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#, r#"{"jsonrpc":"2.0","id":"ID","result":{}}"#]
    {
        let mut stage = Stage::discovered(LinkKind::Streams);
        let call = call(&mut stage);
        let frame = Frame::parse(wrong.replace("ID", &call.id.to_string()));
        let stream = Stream::Request(call.id);
        let incoming = Incoming::Frame { frame, stream: stream.clone(), envelope: None };
        stage.core.receive(stage.now, incoming);
        stage.error();
        assert_eq!(stage.core.poll_action(), Some(Outgoing::Abort(stream)));
    }
}
