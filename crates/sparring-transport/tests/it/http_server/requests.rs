//! Raw HTTP requests: connections, requests and responses.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::request::Builder;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use sparring_transport::http::sse::{Event, Parser};
use sparring_wire::Revision;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// Waits with a timeout.
pub(super) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("an answer in time")
}

/// One connection; closed when dropped.
pub(super) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    task: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Connection {
    pub(super) async fn to(address: SocketAddr) -> Self {
        Connection::over(TcpStream::connect(address).await.unwrap()).await
    }

    pub(super) async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        let task = tokio::spawn(async move {
            let _ = connection.await;
        });
        Connection { sender, task }
    }

    /// Sends a request and returns the head of its response.
    pub(super) async fn send(&mut self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        within(async {
            self.sender.ready().await.unwrap();
            self.sender.send_request(request).await.unwrap()
        })
        .await
    }

    /// Sends a request and returns the whole response.
    pub(super) async fn ask(&mut self, request: Request<Full<Bytes>>) -> WholeResponse {
        let (head, body) = self.send(request).await.into_parts();
        let bytes = within(body.collect()).await.unwrap().to_bytes();
        WholeResponse { status: head.status, headers: head.headers, bytes }
    }

    /// Sends a request that is answered with events.
    pub(super) async fn listen(&mut self, request: Request<Full<Bytes>>) -> Events {
        let response = self.send(request).await;
        assert_eq!(response.status(), StatusCode::OK);
        let header = |name: &str| response.headers()[name].to_str().unwrap();
        assert_eq!(header("content-type"), "text/event-stream");
        assert_eq!(header("cache-control"), "no-cache");
        assert_eq!(header("x-accel-buffering"), "no");
        let parser = Parser::new(1 << 24);
        Events { body: response.into_body(), parser, come: VecDeque::new(), comments: 0 }
    }

    /// Starts a session and returns its id.
    pub(super) async fn begin(&mut self, revision: Revision) -> String {
        let answer = self.ask(post(&initialize(revision))).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.json()["result"]["protocolVersion"], revision.name());
        let id = answer.headers["mcp-session-id"].to_str().unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let accepted = self.ask(post_in(&id, &ready)).await;
        assert_eq!((accepted.status, accepted.bytes.len()), (StatusCode::ACCEPTED, 0));
        id
    }
}

/// A complete response.
#[derive(Debug)]
pub(super) struct WholeResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) bytes: Bytes,
}

impl WholeResponse {
    pub(super) fn json(&self) -> Value {
        assert_eq!(self.headers["content-type"], "application/json", "{self:?}");
        serde_json::from_slice(&self.bytes).unwrap()
    }

    pub(super) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_default()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// Events as they arrive.
pub(super) struct Events {
    body: Incoming,
    parser: Parser,
    come: VecDeque<Event>,
    pub(super) comments: usize,
}

impl Events {
    /// Returns the next event, or `None` at the end of the stream.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.come.pop_front() {
                return Some(event);
            }
            if !self.more().await {
                return None;
            }
        }
    }

    /// Reads once; returns false at the end.
    pub(super) async fn more(&mut self) -> bool {
        let Some(Ok(piece)) = within(self.body.frame()).await else { return false };
        let bytes = piece.into_data().unwrap();
        self.comments += usize::from(&*bytes == b":\n\n");
        self.parser.feed(&bytes, |event| self.come.push_back(event)).unwrap();
        true
    }

    /// Returns the next event as a frame.
    pub(super) async fn frame(&mut self) -> Value {
        frame(&self.next().await.expect("one more event"))
    }

    /// Returns the remaining frames, without a priming event.
    pub(super) async fn rest_of_frames(&mut self) -> Vec<Value> {
        let mut frames = Vec::new();
        while let Some(event) = self.next().await {
            if event.data.as_deref() != Some(b"") {
                frames.push(frame(&event));
            }
        }
        frames
    }

    /// Returns the remaining frames.
    pub(super) async fn rest(&mut self) -> Vec<Value> {
        let mut frames = Vec::new();
        while let Some(event) = self.next().await {
            frames.push(frame(&event));
        }
        frames
    }
}

pub(super) fn frame(event: &Event) -> Value {
    serde_json::from_slice(event.data.as_deref().unwrap()).unwrap()
}

pub(super) fn initialize(revision: Revision) -> Value {
    request(
        "initialize",
        json!({
            "protocolVersion": revision.name(),
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "hand", "version": "1"},
        }),
    )
}

pub(super) fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

pub(super) fn call(id: u64, tool: &str) -> Value {
    let params = json!({"name": tool, "arguments": {"message": "hi"}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// Creates a POST whose headers are valid for any body.
pub(super) fn post_builder() -> Builder {
    Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
}

pub(super) fn post(body: &Value) -> Request<Full<Bytes>> {
    with(post_builder(), body.to_string())
}

pub(super) fn post_in(session: &str, body: &Value) -> Request<Full<Bytes>> {
    with(post_builder().header("mcp-session-id", session), body.to_string())
}

pub(super) fn get_in(session: &str) -> Builder {
    Request::get("/mcp")
        .header("host", "localhost")
        .header("accept", "text/event-stream")
        .header("mcp-session-id", session)
}

pub(super) fn with(builder: Builder, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    builder.body(Full::new(body.into())).unwrap()
}

pub(super) fn bare(builder: Builder) -> Request<Full<Bytes>> {
    with(builder, "")
}

/// Adds the fields that make a body modern.
pub(super) fn modern_body(mut body: Value) -> Value {
    let name = "io.modelcontextprotocol";
    body["params"]["_meta"][format!("{name}/protocolVersion")] = Revision::LATEST.name().into();
    body["params"]["_meta"][format!("{name}/clientCapabilities")] = json!({"elicitation": {}});
    body
}

/// Creates a POST with the headers of a modern body.
pub(super) fn modern_post(body: &Value) -> Builder {
    let builder = post_builder()
        .header("mcp-protocol-version", Revision::LATEST.name())
        .header("mcp-method", body["method"].as_str().unwrap());
    match body["params"]["name"].as_str() {
        Some(name) => builder.header("mcp-name", name),
        None => builder,
    }
}

pub(super) fn modern(body: Value) -> Request<Full<Bytes>> {
    let body = modern_body(body);
    with(modern_post(&body), body.to_string())
}

/// Sends raw bytes, closes the sending half, and returns everything that is received.
pub(super) async fn raw(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    read_all(&mut stream).await
}

pub(super) async fn read_all(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    within(stream.read_to_end(&mut read)).await.unwrap();
    String::from_utf8(read).unwrap()
}
