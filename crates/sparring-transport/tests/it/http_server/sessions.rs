//! Sessions: started by `initialize`, identified by an id, ended by the client, after a
//! timeout, or with the server.

use std::time::Duration;

use http::{Request, StatusCode};
use serde_json::json;
use sparring_transport::http::HttpOptions;
use sparring_wire::Revision;

use super::fixture::{TestServer, options, until};
use super::requests::{
    bare, call, get_in, initialize, post, post_builder, post_in, request, with, within,
};

fn delete_request(session: &str) -> Request<http_body_util::Full<bytes::Bytes>> {
    let delete = Request::delete("/mcp").header("host", "localhost");
    bare(delete.header("mcp-session-id", session))
}

#[tokio::test]
async fn a_session_starts_and_ends_in_every_revision() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    for revision in Revision::ALL.into_iter().filter(|revision| !revision.is_modern()) {
        let id = connection.begin(revision).await;
        assert!(id.len() >= 22 && id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
        assert_eq!(test_server.http.session_count(), 1);
        let versioned = post_builder()
            .header("mcp-session-id", &id)
            .header("mcp-protocol-version", revision.name());
        let answer = connection.ask(with(versioned, call(2, "echo").to_string())).await;
        assert_eq!(answer.status, StatusCode::OK, "{revision}");
        assert_eq!(answer.json()["result"]["content"][0]["text"], "hi", "{revision}");
        let failed = connection.ask(post_in(&id, &call(3, "fly"))).await;
        assert_eq!((failed.status, failed.code()), (StatusCode::OK, -32602), "{revision}");
        let unspoken = post_builder()
            .header("mcp-session-id", &id)
            .header("mcp-protocol-version", "1999-01-01");
        let refused = connection.ask(with(unspoken, call(4, "echo").to_string())).await;
        assert_eq!((refused.status, refused.code()), (StatusCode::BAD_REQUEST, -32022));

        assert_eq!(connection.ask(delete_request(&id)).await.status, StatusCode::NO_CONTENT);
        for request in [post_in(&id, &call(5, "echo")), bare(get_in(&id)), delete_request(&id)] {
            assert_eq!(connection.ask(request).await.status, StatusCode::NOT_FOUND);
        }
        assert_eq!(test_server.http.session_count(), 0);
    }
}

#[tokio::test]
async fn a_failed_handshake_starts_no_session() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let answer = connection.ask(post(&request("initialize", json!({})))).await;
    assert_eq!((answer.status, answer.code()), (StatusCode::OK, -32602));
    assert_eq!(answer.header("mcp-session-id"), "");
    assert_eq!(test_server.http.session_count(), 0);
}

#[tokio::test]
async fn a_second_handshake_in_a_session_is_an_error() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    let again = connection.ask(post_in(&id, &initialize(Revision::LATEST_LEGACY))).await;
    assert_eq!(again.code(), -32600);
    assert_eq!(test_server.http.session_count(), 1);
}

#[tokio::test]
async fn the_server_limits_the_number_of_sessions() {
    let test_server = TestServer::with(HttpOptions { max_sessions: 2, ..options() }).await;
    let mut connection = test_server.connect().await;
    let first = connection.begin(Revision::LATEST_LEGACY).await;
    let second = connection.begin(Revision::LATEST_LEGACY).await;
    // A session with a running request keeps its place.
    let (mut waiting, mut also) = (test_server.connect().await, test_server.connect().await);
    let _first_call = waiting.listen(post_in(&first, &call(2, "steps"))).await;
    let _second_call = also.listen(post_in(&second, &call(2, "steps"))).await;
    let refused = connection.ask(post(&initialize(Revision::LATEST_LEGACY))).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.header("retry-after"), "1");
    connection.ask(delete_request(&first)).await;
    connection.begin(Revision::LATEST_LEGACY).await;
}

#[tokio::test]
async fn a_new_session_takes_the_place_of_the_longest_idle_one() {
    let test_server = TestServer::with(HttpOptions { max_sessions: 2, ..options() }).await;
    let mut connection = test_server.connect().await;
    let first = connection.begin(Revision::LATEST_LEGACY).await;
    let second = connection.begin(Revision::LATEST_LEGACY).await;
    connection.ask(post_in(&first, &call(2, "echo"))).await;
    let third = connection.begin(Revision::LATEST_LEGACY).await;
    assert_eq!(test_server.http.session_count(), 2);
    for (session, status) in
        [(&first, StatusCode::OK), (&second, StatusCode::NOT_FOUND), (&third, StatusCode::OK)]
    {
        assert_eq!(connection.ask(post_in(session, &call(3, "echo"))).await.status, status);
    }
}

#[tokio::test]
async fn an_idle_session_ends() {
    let session_idle = Duration::from_millis(20);
    let mut test_server = TestServer::with(HttpOptions { session_idle, ..options() }).await;
    let mut connection = test_server.connect().await;
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    // A running request counts as use.
    let mut events = connection.listen(post_in(&id, &call(2, "steps"))).await;
    assert_eq!(test_server.next().await, "begun");
    events.next().await.unwrap();
    assert_eq!(test_server.http.session_count(), 1);
    test_server.release_call();
    while events.next().await.is_some() {}
    drop(events);
    until("the session ends", || test_server.http.session_count() == 0).await;
    let answer = connection.ask(post_in(&id, &call(3, "echo"))).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_server_only_acknowledges_notifications_and_responses() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    for body in [
        json!({"jsonrpc": "2.0", "method": "notifications/x"}),
        json!({"jsonrpc": "2.0", "id": 9, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "no"}}),
    ] {
        let answer = connection.ask(post_in(&id, &body)).await;
        assert_eq!((answer.status, answer.bytes.len()), (StatusCode::ACCEPTED, 0), "{body}");
    }
    for body in [json!({"jsonrpc": "2.0"}), json!("text"), json!([]), json!([call(1, "echo")])] {
        let answer = connection.ask(post_in(&id, &body)).await;
        assert_eq!((answer.status, answer.code()), (StatusCode::BAD_REQUEST, -32600), "{body}");
    }
}

#[tokio::test]
async fn the_server_answers_a_batch_by_a_batch_in_2025_03_26() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let id = connection.begin(Revision::V2025_03_26).await;
    let note = json!({"jsonrpc": "2.0", "method": "notifications/x"});
    let answer =
        connection.ask(post_in(&id, &json!([note, call(1, "echo"), call(2, "fly")]))).await;
    assert_eq!(answer.status, StatusCode::OK);
    let answers = answer.json();
    assert_eq!(answers.as_array().map(Vec::len), Some(2), "{answers}");
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!(1), &json!(2)));
    let notes = connection.ask(post_in(&id, &json!([note, note]))).await;
    assert_eq!(notes.status, StatusCode::ACCEPTED);
    let mut events =
        connection.listen(post_in(&id, &json!([call(3, "many"), call(4, "echo")]))).await;
    let frames = events.rest().await;
    assert_eq!(frames.len(), 51);
    assert_eq!(frames[50].as_array().map(Vec::len), Some(2));
}

fn cancel_notification(request: u64) -> serde_json::Value {
    let params = json!({"requestId": request});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

#[tokio::test]
async fn a_cancelled_request_of_a_batch_is_missing_from_the_answer() {
    let mut test_server = TestServer::open().await;
    let (mut connection, mut other) = (test_server.connect().await, test_server.connect().await);
    let id = connection.begin(Revision::V2025_03_26).await;
    let both = post_in(&id, &json!([call(1, "wait"), call(2, "wait")]));
    let asked = tokio::spawn(async move { (connection.ask(both).await, connection) });
    assert_eq!((test_server.next().await, test_server.next().await), ("begun", "begun"));
    other.ask(post_in(&id, &cancel_notification(1))).await;
    assert_eq!(test_server.next().await, "dropped");
    test_server.release_call();
    let (answer, mut connection) = within(asked).await.unwrap();
    let answers = answer.json();
    assert_eq!(answers.as_array().map(Vec::len), Some(1), "{answers}");
    assert_eq!(answers[0]["id"], 2);

    let both = post_in(&id, &json!([call(1, "wait"), call(2, "wait")]));
    let asked = tokio::spawn(async move { connection.ask(both).await });
    assert_eq!((test_server.next().await, test_server.next().await), ("begun", "begun"));
    other.ask(post_in(&id, &cancel_notification(2))).await;
    other.ask(post_in(&id, &cancel_notification(1))).await;
    assert_eq!(within(asked).await.unwrap().bytes.len(), 0, "the session has ended");
    assert_eq!((test_server.next().await, test_server.next().await), ("dropped", "dropped"));

    // A batch cancels a request too.
    let mut connection = test_server.connect().await;
    let one = post_in(&id, &call(3, "wait"));
    let asked = tokio::spawn(async move { connection.ask(one).await });
    assert_eq!(test_server.next().await, "begun");
    other.ask(post_in(&id, &json!([cancel_notification(3), call(4, "echo")]))).await;
    assert_eq!(within(asked).await.unwrap().bytes.len(), 0);
}

#[tokio::test]
async fn the_server_answers_batches_of_at_most_1000_messages() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let id = connection.begin(Revision::V2025_03_26).await;
    let ping = |id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let mut many: Vec<_> = (0..1_000).map(ping).collect();
    let answer = connection.ask(post_in(&id, &json!(many))).await;
    assert_eq!(answer.json().as_array().map(Vec::len), Some(many.len()));
    many.push(ping(1_000));
    let refused = connection.ask(post_in(&id, &json!(many))).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(message, "the batch has more than 1000 messages");
}

#[tokio::test]
async fn a_session_limits_its_concurrent_requests() {
    let mut test_server = TestServer::open().await;
    let id = test_server.connect().await.begin(Revision::LATEST_LEGACY).await;
    // Requests continue without their clients.
    let mut refused = None;
    for number in 1..=1_001 {
        let mut connection = test_server.connect().await;
        let asked = connection.ask(post_in(&id, &call(number, "wait")));
        tokio::select! {
            answer = asked => refused = Some((number, answer.status)),
            begun = test_server.next() => assert_eq!(begun, "begun"),
        }
    }
    assert_eq!(refused, Some((1_001, StatusCode::SERVICE_UNAVAILABLE)));
    test_server.release_call();
    let mut connection = test_server.connect().await;
    let mut answer = connection.ask(post_in(&id, &call(2_000, "echo"))).await;
    while answer.status == StatusCode::SERVICE_UNAVAILABLE {
        answer = connection.ask(post_in(&id, &call(2_000, "echo"))).await;
    }
    assert_eq!(answer.json()["result"]["content"][0]["text"], "hi");
}

#[tokio::test]
async fn an_id_in_use_is_refused_and_a_cancelled_request_is_not_answered() {
    let mut test_server = TestServer::open().await;
    let (mut connection, mut other) = (test_server.connect().await, test_server.connect().await);
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    let mut waiting = Box::pin(connection.listen(post_in(&id, &call(2, "wait"))));
    let begun = tokio::select! {
        _ = &mut waiting => panic!("the call was not released"),
        begun = test_server.next() => begun,
    };
    assert_eq!(begun, "begun");
    let again = other.ask(post_in(&id, &call(2, "echo"))).await;
    assert_eq!((again.status, again.code()), (StatusCode::BAD_REQUEST, -32600));
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}});
    assert_eq!(other.ask(post_in(&id, &cancel)).await.status, StatusCode::ACCEPTED);
    assert_eq!(waiting.await.next().await, None);
    assert_eq!(test_server.next().await, "dropped");
    let free = other.ask(post_in(&id, &call(2, "echo"))).await;
    assert_eq!(free.status, StatusCode::OK);
}

#[tokio::test]
async fn a_server_request_arrives_on_the_stream_of_its_cause() {
    let test_server = TestServer::open().await;
    let (mut connection, mut other) = (test_server.connect().await, test_server.connect().await);
    let id = connection.begin(Revision::V2025_06_18).await;
    let mut events = connection.listen(post_in(&id, &call(2, "ask"))).await;
    let question = events.frame().await;
    assert_eq!(question["method"], "elicitation/create");
    let result = json!({"action": "accept", "content": {"name": "ann"}});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    assert_eq!(other.ask(post_in(&id, &answer)).await.status, StatusCode::ACCEPTED);
    assert_eq!(events.rest().await[0]["result"]["content"][0]["text"], "ann");
}

#[tokio::test]
async fn two_thousand_sessions_leave_nothing_behind() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    connection.ask(post(&request("ping", json!({})))).await;
    let before = tasks();
    let mut ids = Vec::new();
    for _ in 0..2_000 {
        let answer = connection.ask(post(&initialize(Revision::LATEST_LEGACY))).await;
        ids.push(answer.header("mcp-session-id").to_owned());
    }
    assert_eq!(test_server.http.session_count(), 2_000);
    assert_eq!(tasks(), before + 2_000);
    for id in ids {
        assert_eq!(connection.ask(delete_request(&id)).await.status, StatusCode::NO_CONTENT);
    }
    assert_eq!(test_server.http.session_count(), 0);
    until("all tasks end", || tasks() == before).await;
}
