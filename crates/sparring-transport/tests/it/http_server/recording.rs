//! The server's transcript contains every frame and every exchange, with or without a frame.

use http::{Request, StatusCode};
use serde_json::json;
use sparring_transport::http::{Auth, HttpOptions};
use sparring_wire::{Exchange, Revision, Transcript};

use super::fixture::{TestServer, controlled_server, options, until};
use super::requests::{bare, call, modern, post_in, within};

#[tokio::test]
async fn the_transcript_has_all_frames_even_those_that_reach_no_peer() {
    let transcript = Transcript::default();
    let options = HttpOptions { transcript: Some(transcript.clone()), ..options() };
    let test_server = TestServer::with(options).await;
    let mut connection = test_server.connect().await;
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    connection.ask(post_in(&id, &call(2, "echo"))).await;
    connection.ask(post_in(&id, &json!({"jsonrpc": "2.0"}))).await;
    connection.ask(modern(call(3, "echo"))).await;
    // Two frames for the handshake, one notification, and two for each other request.
    assert_eq!(transcript.entries().len(), 9);
    let wrong: Vec<_> = transcript.violations().iter().map(|it| it.message.clone()).collect();
    assert_eq!(wrong, ["the message has none of `method`, `result` and `error`"]);
}

#[tokio::test]
async fn each_client_is_checked_separately() {
    let transcript = Transcript::default();
    let options = HttpOptions { transcript: Some(transcript.clone()), ..options() };
    let mut test_server = TestServer::with(options).await;
    let (mut one, mut other) = (test_server.connect().await, test_server.connect().await);
    let (first, second) =
        (one.begin(Revision::V2025_11_25).await, other.begin(Revision::V2025_06_18).await);
    one.ask(post_in(&first, &call(2, "echo"))).await;
    other.ask(post_in(&second, &call(2, "echo"))).await;
    // Both at once, with the same id.
    let waiting = modern(call(2, "wait"));
    let asked = tokio::spawn(async move { one.ask(waiting).await.status });
    assert_eq!(test_server.next().await, "begun");
    other.ask(modern(call(2, "echo"))).await;
    test_server.release_call();
    assert_eq!(within(asked).await.unwrap(), StatusCode::OK);
    assert_eq!(transcript.violations(), []);

    // Violations are found even if no peer receives the frame.
    let mut one = test_server.connect().await;
    one.ask(post_in(&first, &call(2, "echo"))).await;
    let waiting = post_in(&second, &call(3, "wait"));
    let asked = tokio::spawn(async move { one.ask(waiting).await.status });
    assert_eq!(test_server.next().await, "begun");
    let refused = other.ask(post_in(&second, &call(3, "echo"))).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    test_server.release_call();
    within(asked).await.unwrap();
    let wrong: Vec<_> = transcript.violations().iter().map(|it| it.message.clone()).collect();
    let expected =
        ["id 2 belongs to an earlier request of this session", "id 3 belongs to a pending request"];
    assert_eq!(wrong, expected);
}

#[tokio::test]
async fn every_exchange_is_recorded_with_its_end_and_without_secrets() {
    let transcript = Transcript::default();
    let auth = Auth::default().bearer("hunter2");
    let mut test_server =
        TestServer::with(HttpOptions { auth, transcript: Some(transcript.clone()), ..options() })
            .await;
    let bearing = |token: &str| {
        let mut request = modern(call(1, "steps"));
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        request
    };
    let mut connection = test_server.connect().await;
    let wrong = connection.ask(bearing("hunter3")).await;
    assert_eq!(wrong.status, StatusCode::FORBIDDEN);
    let nowhere = Request::get("/nowhere?token=hunter2").header("host", "localhost");
    assert_eq!(connection.ask(bare(nowhere)).await.status, StatusCode::NOT_FOUND);

    let mut events = connection.listen(bearing("hunter2")).await;
    assert_eq!(test_server.next().await, "begun");
    test_server.release_call();
    assert_eq!(events.rest().await.len(), 3);

    let mut events = connection.listen(bearing("hunter2")).await;
    events.next().await.unwrap();
    assert_eq!(test_server.next().await, "begun");
    drop((events, connection));
    assert_eq!(test_server.next().await, "dropped");
    until("the last is at its end", || transcript.exchanges().len() == 4).await;

    let all = transcript.exchanges();
    let seen = |it: &Exchange| (it.method, it.url.to_string(), it.status, it.error.is_some());
    let url = "http://localhost/mcp".to_owned();
    let expected = [
        ("POST", url.clone(), Some(403), false),
        ("GET", "http://localhost/nowhere?…".to_owned(), Some(404), false),
        ("POST", url.clone(), Some(200), false),
        ("POST", url, Some(200), true),
    ];
    assert_eq!(all.iter().map(seen).collect::<Vec<_>>(), expected);
    assert_eq!(all[0].request_headers.get("authorization"), Some("(hidden)"));
    assert_eq!(all[2].response_headers.get("content-type"), Some("text/event-stream"));
    assert!(all.iter().all(|it| it.first_byte.is_some_and(|first| first <= it.total)));
    assert!(all.is_sorted_by_key(|it| it.at));
    assert!(!all.iter().any(|it| it.request_headers.iter().any(|(_, it)| it.contains("hunter"))));
}

#[tokio::test]
async fn a_client_that_leaves_before_its_answer_is_recorded_too() {
    let transcript = Transcript::default();
    let options = HttpOptions { transcript: Some(transcript.clone()), ..options() };
    let mut test_server = TestServer::with(options).await;
    let mut connection = test_server.connect().await;
    tokio::select! {
        _ = connection.ask(modern(call(1, "wait"))) => panic!("the call was not released"),
        begun = test_server.next() => assert_eq!(begun, "begun"),
    }
    drop(connection);
    assert_eq!(test_server.next().await, "dropped");
    until("it is at its end", || transcript.exchanges().len() == 1).await;
    let exchange = &transcript.exchanges()[0];
    assert_eq!(exchange.status, None);
    assert_eq!(exchange.error.as_deref(), Some("the client left before the answer"));
}

#[tokio::test]
async fn all_times_are_relative_to_one_start() {
    let transcript = Transcript::default();
    let options = HttpOptions { transcript: Some(transcript.clone()), ..options() };
    let (http, _happened) = controlled_server(&Revision::ALL, options);
    for id in 0..9 {
        http.handle(modern(call(id, "echo"))).await;
    }
    assert_eq!((transcript.entries().len(), transcript.exchanges().len()), (18, 9));
    assert!(transcript.entries().is_sorted_by_key(|it| it.at));
    assert!(transcript.exchanges().is_sorted_by_key(|it| it.at));
}

#[tokio::test]
async fn a_request_whose_session_ends_is_recorded_once() {
    let transcript = Transcript::default();
    let options = HttpOptions { transcript: Some(transcript.clone()), ..options() };
    let mut test_server = TestServer::with(options).await;
    let (mut connection, mut other) = (test_server.connect().await, test_server.connect().await);
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    let waiting = post_in(&id, &call(2, "wait"));
    let asked = tokio::spawn(async move { connection.ask(waiting).await.status });
    assert_eq!(test_server.next().await, "begun");
    let delete = Request::delete("/mcp").header("host", "localhost");
    other.ask(bare(delete.header("mcp-session-id", &id))).await;
    assert_eq!(within(asked).await.unwrap(), StatusCode::NOT_FOUND);
    // Two frames for the handshake, one notification, the call and its refusal.
    assert_eq!(transcript.entries().len(), 5);
}
