//! Requests to a server, with and without a link.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_peer::server::{Counts, Session};
use sparring_peer::{Cause, LinkKind, MemoryTransport, Server, memory};
use sparring_wire::{Checker, Frame, Id, RawJson, Revision, Side};

use crate::fixture::{TEST_TIMEOUT, TestServer, within};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

async fn ask(session: &mut Session<TestServer>, text: &str) -> Value {
    let response = within(session.process_request(Frame::parse(text))).await.expect("a response");
    serde_json::from_slice(response.bytes()).unwrap()
}

/// Returns a session without a link, after its handshake.
async fn initialized_session() -> Session<TestServer> {
    let mut session = Server::new(TestServer::default()).session();
    ask(&mut session, INITIALIZE).await;
    session
}

fn modern(method: &str, params: &Value) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut params = params.clone();
    params["_meta"] = meta;
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

async fn error_code(session: &mut Session<TestServer>, text: &str) -> i64 {
    let response = ask(session, text).await;
    response["error"]["code"].as_i64().unwrap_or_else(|| panic!("{text}: {response}"))
}

#[tokio::test]
async fn one_request_in_gives_one_response_out_without_a_link() {
    let mut session = initialized_session().await;
    let listed = ask(&mut session, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    assert_eq!(listed["id"], 1);
    assert_eq!(listed["result"]["tools"][0]["name"], "echo");
    let notification = Frame::parse(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(within(session.process_request(notification)).await, None);
}

#[tokio::test]
async fn the_handshake_answers_with_the_version_asked_for_or_its_newest() {
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let mut session = Server::new(TestServer::default()).session();
        let answer = ask(&mut session, &INITIALIZE.replace("2025-11-25", asked)).await;
        assert_eq!(answer["result"]["protocolVersion"], given, "asked {asked}");
        assert_eq!(
            answer["result"]["serverInfo"],
            json!({"name": "test_server", "version": "2.0"})
        );
        assert!(answer["result"]["capabilities"]["tools"].is_object());
    }
}

#[tokio::test]
async fn every_list_has_the_format_of_its_revision() {
    for revision in Revision::ALL {
        for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
            let mut session = Server::new(TestServer::default()).session();
            let request = match revision.is_modern() {
                true => modern(method, &json!({})),
                false => {
                    ask(&mut session, &INITIALIZE.replace("2025-11-25", revision.name())).await;
                    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#)
                }
            };
            let response = within(session.process_request(Frame::parse(request))).await.unwrap();
            let violations =
                Checker::for_revision(revision).check(&response, Side::Server, Some(method));
            assert_eq!(violations, [], "{revision} {method}");
        }
    }
}

#[tokio::test]
async fn invalid_json_gets_its_code_and_the_connection_lives_on() {
    let (transport, link) = MemoryTransport::new();
    let _running = Server::new(TestServer::default()).spawn(link);
    for (text, code) in [
        ("{nonsense", -32700),
        ("[1", -32700),
        ("\u{1}", -32700),
        (r#"{"jsonrpc":"2.0","id":1"#, -32700),
        (r#"{"jsonrpc":"2.0","id":1,"meth"#, -32700),
        ("\u{feff}{broken", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600),
        ("17", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
    ] {
        transport.queue_incoming(text);
        let error = transport
            .wait_sent(TEST_TIMEOUT)
            .await
            .unwrap_or_else(|| panic!("no answer to {text}"));
        assert_eq!(error.error_object().unwrap().code, code, "{text}");
    }
    transport.queue_incoming(INITIALIZE);
    assert!(transport.wait_sent(TEST_TIMEOUT).await.unwrap().result().is_some());
}

#[tokio::test]
async fn an_unreadable_request_is_answered_without_an_id_or_with_null() {
    for (version, expected) in [("2025-06-18", Some(Value::Null)), ("2025-11-25", None)] {
        let mut session = Server::new(TestServer::default()).session();
        ask(&mut session, &INITIALIZE.replace("2025-11-25", version)).await;
        let answer = ask(&mut session, "{broken").await;
        assert_eq!(answer.get("id").cloned(), expected, "{version}");
    }
}

#[tokio::test]
async fn wrong_requests_get_the_codes_of_the_revision() {
    let mut session = Server::new(TestServer::default()).session();
    // Before the handshake.
    assert_eq!(
        error_code(&mut session, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await,
        -32600
    );
    let ping = ask(&mut session, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    assert_eq!(ping["result"], json!({}));
    assert_eq!(
        error_code(&mut session, r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#)
            .await,
        -32602
    );
    ask(&mut session, INITIALIZE).await;
    // After it.
    for (text, code) in [
        (INITIALIZE, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such/method"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[]}}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":1}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{}}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{}}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///none"}}"#,
            -32002,
        ),
    ] {
        assert_eq!(error_code(&mut session, text).await, code, "{text}");
    }
}

#[tokio::test]
async fn wrong_modern_requests_get_the_codes_of_the_revision() {
    let mut session = Server::new(TestServer::default()).session();
    assert_eq!(error_code(&mut session, &modern("ping", &json!({}))).await, -32601);
    assert_eq!(
        error_code(&mut session, &modern("resources/read", &json!({"uri": "x:y"}))).await,
        -32602
    );
    assert_eq!(error_code(&mut session, &modern("subscriptions/listen", &json!({}))).await, -32602);
    let bare = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    assert_eq!(error_code(&mut session, bare).await, -32602, "capabilities are missing");
    let old =
        ask(&mut session, &modern("tools/list", &json!({})).replace("2026-07-28", "1900-01-01"))
            .await;
    assert_eq!(old["error"]["code"], -32022);
    assert_eq!(old["error"]["data"]["requested"], "1900-01-01");
    assert_eq!(old["error"]["data"]["supported"][0], "2026-07-28");
    let level = modern("tools/list", &json!({}))
        .replace(r#""_meta":{"#, r#""_meta":{"io.modelcontextprotocol/logLevel":"loud","#);
    assert_eq!(error_code(&mut session, &level).await, -32602);

    let only_modern = Server::with_revisions(TestServer::default(), &[Revision::V2026_07_28]);
    let mut session = only_modern.session();
    let hello = ask(&mut session, INITIALIZE).await;
    assert_eq!(hello["error"]["code"], -32022);
    assert_eq!(hello["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(
        error_code(&mut session, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await,
        -32602
    );
}

#[tokio::test]
async fn both_eras_are_served_on_one_connection() {
    let mut session = initialized_session().await;
    let legacy = ask(&mut session, r#"{"jsonrpc":"2.0","id":5,"method":"prompts/list"}"#).await;
    let modern = ask(&mut session, &modern("prompts/list", &json!({}))).await;
    assert!(legacy["result"].get("resultType").is_none());
    assert_eq!(modern["result"]["resultType"], "complete");
    assert_eq!(
        modern["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "test_server"
    );
    assert_eq!(
        (&modern["result"]["ttlMs"], &modern["result"]["cacheScope"]),
        (&json!(0), &json!("private"))
    );
}

#[tokio::test]
async fn the_server_does_not_answer_unknown_notifications() {
    let mut session = initialized_session().await;
    for text in [
        r#"{"jsonrpc":"2.0","method":"notifications/whatever"}"#,
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
    ] {
        assert_eq!(within(session.process_request(Frame::parse(text))).await, None, "{text}");
    }
}

#[tokio::test]
async fn a_handler_that_panics_is_an_internal_error_and_the_next_request_is_served() {
    let mut session = initialized_session().await;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panic"}}"#;
    let answer = ask(&mut session, call).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(answer["error"]["message"].as_str().unwrap().contains("as asked"));
    ask(&mut session, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
}

#[tokio::test]
async fn processes_exactly_one_message_and_says_whether_there_was_one() {
    let (transport, link) = MemoryTransport::new();
    let server = Server::new(TestServer::default());
    let mut session = server.session();
    let none = within(session.process_one_message(Duration::ZERO)).await;
    assert!(none.is_err(), "there is no link yet");
    session.set_link(link);
    assert_eq!(within(session.process_one_message(Duration::ZERO)).await, Ok(false));
    transport.queue_incoming(INITIALIZE);
    transport.queue_incoming(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert_eq!(within(session.process_one_message(Duration::ZERO)).await, Ok(true));
    assert_eq!(transport.all_sent().len(), 1);
    assert_eq!(transport.last_sent().unwrap().id(), Some(&Id::Integer(0)));
    assert_eq!(within(session.process_one_message(Duration::ZERO)).await, Ok(true));
    assert_eq!(transport.last_sent().unwrap().id(), Some(&Id::Integer(1)));
    transport.close();
    assert_eq!(within(session.process_one_message(TEST_TIMEOUT)).await, Ok(false));
}

#[tokio::test]
async fn the_foreground_ends_at_the_end_of_input_and_answers_what_is_in_flight() {
    let (transport, link) = MemoryTransport::new();
    transport.queue_incoming(INITIALIZE);
    transport.queue_incoming(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    transport.close();
    let cause = within(Server::new(TestServer::default()).serve(link)).await;
    assert_eq!(cause, Cause::EndOfInput);
    assert_eq!(transport.all_sent().len(), 2);
}

#[tokio::test]
async fn the_foreground_ends_after_so_many_requests() {
    let (transport, link) = MemoryTransport::new();
    for id in 1..=5 {
        transport.queue_incoming(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    }
    let server = Server::new(TestServer::default());
    let mut session = server.session_on(link);
    within(session.serve_requests(1)).await.unwrap();
    assert!(!transport.all_sent().is_empty());
    within(session.serve_requests(4)).await.unwrap();
    assert_eq!(transport.all_sent().len(), 5);
}

#[tokio::test]
async fn the_background_never_blocks_its_caller_and_can_be_stopped() {
    let (transport, link) = MemoryTransport::new();
    let running = Server::new(TestServer::default()).spawn(link);
    assert!(running.is_running());
    transport.queue_incoming(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert!(transport.wait_sent(TEST_TIMEOUT).await.is_some());
    assert_eq!(within(running.stop()).await, Cause::ClosedLocally);
    assert_eq!(transport.wait_sent(TEST_TIMEOUT).await, None, "the link is closed");
}

#[tokio::test]
async fn counts_requests_responses_and_errors() {
    let server = Server::new(TestServer::default());
    let mut session = server.session();
    assert_eq!(server.counts(), Counts::default());
    ask(&mut session, INITIALIZE).await;
    ask(&mut session, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    ask(&mut session, r#"{"jsonrpc":"2.0","id":2,"method":"nope"}"#).await;
    ask(&mut session, "garbage").await;
    within(session.process_request(Frame::parse(
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    )))
    .await;
    let expected = Counts { requests: 4, responses: 4, errors: 2, notifications: 1 };
    assert_eq!(server.counts(), expected);
}

#[tokio::test]
async fn requests_in_flight_run_concurrently() {
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let (here, there) = memory(LinkKind::Shared);
    let _running = Server::new(TestServer { waiting: Some(sender) }).spawn(there);
    let client = within(sparring_peer::Client::connect(here)).await.unwrap();
    let slow: Vec<_> =
        (0..3).map(|_| client.call_tool("wait", RawJson::empty_object()).start()).collect();
    for _ in 0..3 {
        assert_eq!(within(events.recv()).await, Some("started"));
    }
    let quick =
        within(client.call_tool("echo", json!({"message": "quick"})).into_future()).await.unwrap();
    assert_eq!(quick.content(), "quick!");
    drop(slow);
    for _ in 0..3 {
        assert_eq!(within(events.recv()).await, Some("dropped"));
    }
}

#[tokio::test]
async fn an_id_in_use_is_refused() {
    let (transport, link) = MemoryTransport::new();
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let _running = Server::new(TestServer { waiting: Some(sender) }).spawn(link);
    transport.queue_incoming(INITIALIZE);
    transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    let call = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"wait"}}"#;
    transport.queue_incoming(call);
    within(events.recv()).await.unwrap();
    transport.queue_incoming(call);
    let refused = transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    assert_eq!(refused.error_object().unwrap().code, -32600);
}

#[tokio::test]
async fn an_observer_sees_every_request_with_its_response() {
    let server = Server::new(TestServer::default());
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel();
    server.on_request(move |request| {
        let (method, sender) = (request.method().unwrap().to_owned(), sender.clone());
        move |response: &Frame| {
            let code = response.error_object().map(|error| error.code);
            sender.send((method, code)).unwrap();
        }
    });
    // Only the first observer is used.
    server.on_request(|_| |_: &Frame| unreachable!("it is the second"));
    let mut session = server.session();
    ask(&mut session, INITIALIZE).await;
    ask(&mut session, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    ask(&mut session, r#"{"jsonrpc":"2.0","id":2,"method":"nope"}"#).await;
    ask(&mut session, r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#).await;
    let mut all = Vec::new();
    while let Ok(each) = seen.try_recv() {
        all.push(each);
    }
    let expected = [
        ("initialize", None),
        ("tools/list", None),
        ("nope", Some(-32601)),
        ("ping", Some(-32600)),
    ];
    assert_eq!(all, expected.map(|(method, code)| (method.to_owned(), code)));
}
