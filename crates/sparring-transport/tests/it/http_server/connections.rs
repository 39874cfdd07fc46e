//! Connections: their number, clients that do not read, invalid heads, and pipelined requests.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use serde_json::Value;
use sparring_transport::http::HttpOptions;
use sparring_transport::http::server::Listener;
use sparring_wire::Revision;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::fixture::{TestServer, controlled_server, options, until};
use super::requests::{Connection, call, modern, modern_body, raw, within};

/// A modern request, as bytes.
fn render_request(body: Value) -> String {
    let body = modern_body(body);
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body["params"]["name"].as_str().unwrap(),
        body.to_string().len(),
    )
}

/// Reads until this text has arrived.
async fn read_until(stream: &mut TcpStream, wanted: &str) {
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(wanted) {
        assert_ne!(within(stream.read_buf(&mut read)).await.unwrap(), 0, "the end, too early");
    }
}

#[tokio::test]
async fn the_server_disconnects_a_client_that_does_not_read() {
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let write_timeout = Duration::from_millis(50);
    let test_server = TestServer::with(HttpOptions { write_timeout, ..options() }).await;
    let before = tasks();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = within(socket.connect(test_server.serving.address().unwrap())).await.unwrap();
    let mut body = call(1, "echo");
    body["params"]["arguments"]["message"] = "x".repeat(7_000_000).into();
    stream.write_all(render_request(body).as_bytes()).await.unwrap();
    until("the connection is served", || tasks() > before).await;
    until("the connection is given up", || tasks() == before).await;
    drop(stream);
}

#[tokio::test]
async fn a_connection_above_the_limit_waits() {
    let test_server = TestServer::with(HttpOptions { max_connections: 1, ..options() }).await;
    let address = test_server.serving.address().unwrap();
    let mut first = test_server.connect().await;
    assert_eq!(first.ask(modern(call(1, "echo"))).await.status, StatusCode::OK);
    let second = tokio::spawn(async move {
        Connection::to(address).await.ask(modern(call(2, "echo"))).await.status
    });
    for id in 3..50 {
        assert_eq!(first.ask(modern(call(id, "echo"))).await.status, StatusCode::OK);
    }
    assert!(!second.is_finished());
    drop(first);
    assert_eq!(within(second).await.unwrap(), StatusCode::OK);
}

#[tokio::test]
async fn an_incomplete_pipelined_request_delays_no_answer() {
    let mut test_server = TestServer::open().await;
    let mut stream = TcpStream::connect(test_server.serving.address().unwrap()).await.unwrap();
    let whole = render_request(call(1, "echo"));
    let (half, rest) = whole.split_at(20);
    stream.write_all(format!("{whole}{half}").as_bytes()).await.unwrap();
    read_until(&mut stream, "\"id\":1,").await;
    stream.write_all(rest.as_bytes()).await.unwrap();
    read_until(&mut stream, "\"id\":1,").await;

    // Frames before an answer are not delayed either.
    stream
        .write_all(format!("{}{half}", render_request(call(2, "steps"))).as_bytes())
        .await
        .unwrap();
    assert_eq!(test_server.next().await, "begun");
    read_until(&mut stream, "\"number\":1").await;
    test_server.release_call();
    read_until(&mut stream, "\"id\":2,").await;
}

#[tokio::test]
async fn refuses_an_invalid_head() {
    let test_server = TestServer::open().await;
    let address = test_server.serving.address().unwrap();
    let many: String = (0..200).map(|number| format!("X-{number}: y\r\n")).collect();
    let host = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
    for (head, status) in [
        (format!("{host}{many}\r\n"), "431"),
        (format!("{host}Content-Length: x\r\n\r\n"), "400"),
        (format!("{host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), "400"),
        ("hello\r\n\r\n".to_owned(), "400"),
    ] {
        let answer = raw(address, head.as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {answer}");
    }
}

/// A listener with many connections that break before they are accepted.
struct BreakingListener {
    listener: TcpListener,
    broken: AtomicUsize,
}

impl Listener for BreakingListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<TcpStream> {
        if self.broken.fetch_add(1, Ordering::Relaxed) < 1_000 {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Listener::accept(&self.listener).await
    }

    fn address(&self) -> Option<SocketAddr> {
        self.listener.address()
    }
}

#[tokio::test]
async fn connections_that_break_early_do_not_delay_others() {
    let (http, _happened) = controlled_server(&Revision::ALL, options());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let serving = http.serve(BreakingListener { listener, broken: AtomicUsize::new(0) });
    let mut connection = Connection::to(serving.address().unwrap()).await;
    assert_eq!(connection.ask(modern(call(1, "echo"))).await.status, StatusCode::OK);
}
