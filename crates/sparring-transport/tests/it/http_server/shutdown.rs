//! Shutdown: running requests finish, standing streams end, and nothing is left behind.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use sparring_wire::Revision;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixListener, UnixStream};

use super::fixture::{TestServer, controlled_server, options, until};
use super::requests::{
    Connection, Events, bare, call, get_in, modern, post_in, read_all, request, within,
};

const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(20);
/// Longer than any test waits.
const LONGER_THAN_ANY_TEST: Duration = Duration::from_secs(1_000);

#[tokio::test]
async fn a_shutdown_finishes_a_running_request_and_refuses_new_ones() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let mut test_server = TestServer::open().await;
        let address = test_server.serving.address().unwrap();
        let mut connection = test_server.connect().await;
        let body = call(2, "wait");
        let request = match revision.is_modern() {
            true => modern(body),
            false => post_in(&connection.begin(revision).await, &body),
        };
        let asked = tokio::spawn(async move { connection.ask(request).await });
        assert_eq!(test_server.next().await, "begun");

        let TestServer { http, serving, .. } = test_server;
        let stopped = tokio::spawn(serving.stop(SHUTDOWN_TIMEOUT));
        match revision.is_modern() {
            true => while TcpStream::connect(address).await.is_ok() {},
            // A client may have to answer a question; other requests are refused.
            false => while is_served(address).await {},
        }
        assert!(!stopped.is_finished() && !asked.is_finished());
        http.server().handler().release_call();
        let answer = within(asked).await.unwrap();
        assert_eq!(answer.json()["result"]["content"][0]["text"], "waited", "{revision}");
        within(stopped).await.unwrap();
        assert_eq!(http.session_count(), 0);
    }
}

/// Returns true if a new request is served.
async fn is_served(address: std::net::SocketAddr) -> bool {
    let answer = Connection::to(address).await.ask(modern(call(9, "echo"))).await;
    assert!([StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE].contains(&answer.status));
    answer.status == StatusCode::OK
}

/// Returns the answer to the question that a call of `ask` sends on its stream.
async fn answer_of(events: &mut Events) -> serde_json::Value {
    let asked = loop {
        let frame = events.frame().await;
        if frame["method"] == "elicitation/create" {
            break frame["id"].clone();
        }
    };
    let result = json!({"action": "accept", "content": {"name": "ann"}});
    json!({"jsonrpc": "2.0", "id": asked, "result": result})
}

#[tokio::test]
async fn a_client_can_answer_a_running_request_during_the_shutdown() {
    let test_server = TestServer::open().await;
    let address = test_server.serving.address().unwrap();
    let mut connection = test_server.connect().await;
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    let mut events = connection.listen(post_in(&id, &call(2, "ask"))).await;
    events.next().await.unwrap();
    let answer = answer_of(&mut events).await;

    let TestServer { http, serving, .. } = test_server;
    let stopped = tokio::spawn(serving.stop(SHUTDOWN_TIMEOUT));
    while is_served(address).await {}
    let mut other = Connection::to(address).await;
    let new = other.ask(post_in(&id, &call(3, "echo"))).await;
    assert_eq!(new.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(new.json()["id"], 3);
    assert_eq!(other.ask(post_in("another", &answer)).await.status.as_u16(), 503);
    // The same for an answer in pieces.
    let mut slow = TcpStream::connect(address).await.unwrap();
    let (head, body) = render_request(&id, &answer);
    slow.write_all(head.as_bytes()).await.unwrap();
    tokio::task::yield_now().await;
    slow.write_all(body.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    within(slow.read_exact(&mut status)).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 202");
    let rest = events.rest().await;
    assert_eq!(rest[0]["result"]["content"][0]["text"], "ann", "{rest:?}");
    within(stopped).await.unwrap();
    assert_eq!(http.session_count(), 0);
    assert!(TcpStream::connect(address).await.is_err());
}

/// Returns a frame posted in a session, head and body.
fn render_request(id: &str, frame: &serde_json::Value) -> (String, String) {
    let body = frame.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nMcp-Session-Id: {id}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    (head, body)
}

#[tokio::test]
async fn a_shutdown_drops_a_request_after_the_timeout() {
    let mut test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let asked = tokio::spawn(async move {
        let mut events = connection.listen(modern(call(2, "steps"))).await;
        events.rest().await.len()
    });
    assert_eq!(test_server.next().await, "begun");
    within(test_server.serving.stop(Duration::from_millis(10))).await;
    assert_eq!(test_server.events.recv().await, Some("dropped"));
    assert_eq!(within(asked).await.unwrap(), 1);
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_half_a_request() {
    let test_server = TestServer::open().await;
    let address = test_server.serving.address().unwrap();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\
                Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n";
    let mut half_a_head = TcpStream::connect(address).await.unwrap();
    half_a_head.write_all(b"POST /mcp HT").await.unwrap();
    let mut body = TcpStream::connect(address).await.unwrap();
    body.write_all(head.as_bytes()).await.unwrap();
    // The server now waits for the body.
    let mut go_on = [0; 25];
    within(body.read_exact(&mut go_on)).await.unwrap();
    let mut connection = test_server.connect().await;
    assert_eq!(connection.ask(modern(call(1, "echo"))).await.status, StatusCode::OK);
    within(test_server.serving.stop(LONGER_THAN_ANY_TEST)).await;
    assert!(read_all(&mut body).await.starts_with("HTTP/1.1 503 "));
    assert_eq!(read_all(&mut half_a_head).await, "");
}

#[tokio::test]
async fn a_shutdown_ends_subscriptions_and_standing_streams_normally() {
    let test_server = TestServer::open().await;
    let (mut connection, mut other) = (test_server.connect().await, test_server.connect().await);
    let listen =
        request("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let mut subscription = connection.listen(modern(listen)).await;
    subscription.next().await.unwrap();
    let id = other.begin(Revision::LATEST_LEGACY).await;
    let mut standing = other.listen(bare(get_in(&id))).await;
    standing.next().await.unwrap();

    let stopped = tokio::spawn(test_server.serving.stop(SHUTDOWN_TIMEOUT));
    let rest = subscription.rest().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["result"]["resultType"], "complete");
    assert_eq!(standing.next().await, None);
    within(stopped).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_dropped_leaves_nothing_running() {
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let mut test_server = TestServer::open().await;
    let address = test_server.serving.address().unwrap();
    let (mut connection, mut other) = (test_server.connect().await, test_server.connect().await);
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    let mut standing = connection.listen(bare(get_in(&id))).await;
    standing.next().await.unwrap();
    let mut events = other.listen(post_in(&id, &call(2, "steps"))).await;
    assert_eq!(test_server.next().await, "begun");
    let TestServer { http, serving, events: mut call_events } = test_server;
    drop((http, serving));
    assert_eq!(within(call_events.recv()).await, Some("dropped"));
    assert_eq!(standing.next().await, None);
    while events.next().await.is_some() {}
    assert!(TcpStream::connect(address).await.is_err());
    drop((connection, other));
    until("no task is left", || tasks() == before).await;
}

#[tokio::test]
async fn the_server_removes_its_unix_socket_when_it_stops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let (http, _happened) = controlled_server(&Revision::ALL, options());
    let serving = http.serve(UnixListener::bind(&path).unwrap());
    assert_eq!(serving.address(), None);
    let mut connection = Connection::over(UnixStream::connect(&path).await.unwrap()).await;
    assert_eq!(connection.ask(modern(call(1, "echo"))).await.status, StatusCode::OK);
    within(serving.stop(SHUTDOWN_TIMEOUT)).await;
    assert!(!path.exists());
}

#[tokio::test]
async fn a_server_behind_other_routes_can_be_drained() {
    let (http, _happened) = controlled_server(&Revision::ALL, options());
    let listen =
        request("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let response = http.handle(modern(listen)).await;
    let mut body = response.into_body();
    use http_body_util::BodyExt as _;
    assert!(body.frame().await.is_some());
    http.drain();
    let rest = within(body.collect()).await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&rest).contains("\"result\""), "{rest:?}");
    http.stop_sessions(SHUTDOWN_TIMEOUT).await;
    let late = http.handle(modern(call(1, "echo"))).await;
    assert_eq!(late.status(), StatusCode::SERVICE_UNAVAILABLE);
}
