//! Requests without a session: statuses, streams and cancellation.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use sparring_transport::http::HttpOptions;
use sparring_wire::Revision;

use super::fixture::{TestServer, options};
use super::requests::{call, modern, modern_body, modern_post, post_builder, request, with};

#[tokio::test]
async fn an_answer_alone_is_json_with_its_length() {
    let test_server = TestServer::open().await;
    let answer = test_server.connect().await.ask(modern(call(7, "echo"))).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("content-length"), answer.bytes.len().to_string());
    assert_eq!(answer.header("mcp-session-id"), "");
    let json = answer.json();
    assert_eq!((&json["id"], &json["result"]["content"][0]["text"]), (&json!(7), &json!("hi")));
}

#[tokio::test]
async fn refusals_have_the_status_that_the_specification_gives_them() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let list = || modern_body(request("tools/list", json!({})));
    let without = |mut body: Value, field: &str| {
        body["params"]["_meta"].as_object_mut().unwrap().remove(field);
        body
    };
    let version = "io.modelcontextprotocol/protocolVersion";
    let valid_post = |body: &Value| with(modern_post(body), body.to_string());
    let version_of = |body: &Value, header: &str| {
        let builder = post_builder().header("mcp-protocol-version", header);
        with(builder.header("mcp-method", "tools/list"), body.to_string())
    };
    let mut unknown = list();
    unknown["params"]["_meta"][version] = "v999".into();
    let echo = modern_body(call(1, "echo"));
    let mut regional = echo.clone();
    regional["params"]["arguments"]["region"] = "eu".into();
    let header = |name: &str, value: &str| {
        let builder = post_builder().header("mcp-protocol-version", Revision::LATEST.name());
        let builder = builder.header("mcp-method", "tools/call");
        with(builder.header(name, value), echo.to_string())
    };
    let twice = modern_post(&list()).header("mcp-method", "tools/call");
    for (what, request, status, code) in [
        ("no meta at all", valid_post(&request("tools/list", json!({}))), 400, -32602),
        ("no version", valid_post(&without(list(), version)), 400, -32602),
        (
            "no capabilities",
            valid_post(&without(list(), "io.modelcontextprotocol/clientCapabilities")),
            400,
            -32602,
        ),
        ("unknown version", version_of(&unknown, "v999"), 400, -32022),
        ("another version", version_of(&unknown, Revision::LATEST.name()), 400, -32020),
        (
            "no version header",
            with(post_builder().header("mcp-method", "tools/list"), list().to_string()),
            400,
            -32020,
        ),
        ("no name header", header("x", "y"), 400, -32020),
        ("wrong name header", header("mcp-name", "other"), 400, -32020),
        ("no parameter header", valid_post(&regional), 400, -32020),
        ("a header twice", with(twice, list().to_string()), 400, -32020),
        ("unknown method", valid_post(&modern_body(request("no/such", json!({})))), 404, -32601),
        ("a method of before", valid_post(&modern_body(request("ping", json!({})))), 404, -32601),
        ("the handshake", valid_post(&modern_body(request("initialize", json!({})))), 404, -32601),
        ("unknown tool", valid_post(&modern_body(call(1, "fly"))), 200, -32602),
    ] {
        let answer = connection.ask(request).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (status, code), "{what}: {answer:?}");
        assert_eq!(answer.json()["id"], 1, "{what}");
    }
    let regional =
        with(modern_post(&regional).header("mcp-param-region", "eu"), regional.to_string());
    assert_eq!(connection.ask(regional).await.status, StatusCode::OK);
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let answer = with(
        post_builder().header("mcp-protocol-version", Revision::LATEST.name()),
        answer.to_string(),
    );
    assert_eq!(connection.ask(answer).await.status, StatusCode::BAD_REQUEST);
    let note = modern_body(json!({"jsonrpc": "2.0", "method": "notifications/x"}));
    let accepted = connection.ask(modern(note)).await;
    assert_eq!((accepted.status, accepted.bytes.len()), (StatusCode::ACCEPTED, 0));
}

#[tokio::test]
async fn notifications_before_the_answer_make_it_a_stream() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let mut events = connection.listen(modern(call(1, "many"))).await;
    let first = events.next().await.unwrap();
    assert_eq!((first.id, first.retry), (None, None), "such streams cannot be resumed");
    let rest = events.rest().await;
    assert_eq!(rest.len(), 50);
    assert_eq!(rest[49]["result"]["content"][0]["text"], "said");
}

#[tokio::test]
async fn an_answer_that_takes_long_becomes_a_stream_with_comments() {
    let keep_alive = Duration::from_millis(5);
    let mut test_server = TestServer::with(HttpOptions { keep_alive, ..options() }).await;
    let mut connection = test_server.connect().await;
    let mut events = connection.listen(modern(call(1, "wait"))).await;
    assert_eq!(test_server.next().await, "begun");
    while events.comments < 2 {
        assert!(events.more().await);
    }
    test_server.release_call();
    assert_eq!(events.frame().await["result"]["content"][0]["text"], "waited");
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn closing_the_stream_cancels_the_request() {
    let mut test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let mut events = connection.listen(modern(call(1, "steps"))).await;
    assert_eq!(events.frame().await["method"], "notifications/said");
    assert_eq!(test_server.next().await, "begun");
    drop((events, connection));
    assert_eq!(test_server.next().await, "dropped");
}

#[tokio::test]
async fn closing_the_connection_before_an_answer_cancels_the_request() {
    let mut test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let (mut asked, request) =
        (Box::pin(connection.send(modern(call(1, "wait")))), test_server.next());
    tokio::select! {
        _ = &mut asked => panic!("the call was not released"),
        begun = request => assert_eq!(begun, "begun"),
    }
    drop(asked);
    drop(connection);
    assert_eq!(test_server.next().await, "dropped");
}

#[tokio::test]
async fn a_subscription_receives_changes() {
    let test_server = TestServer::open().await;
    let listen =
        request("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let mut connection = test_server.connect().await;
    let mut events = connection.listen(modern(listen)).await;
    let acknowledged = events.frame().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    test_server.http.server().tools_changed();
    assert_eq!(events.frame().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_server_request_is_the_result_of_the_call() {
    let test_server = TestServer::open().await;
    let answer = test_server.connect().await.ask(modern(call(1, "ask"))).await;
    assert_eq!(answer.json()["result"]["resultType"], "input_required");
}
