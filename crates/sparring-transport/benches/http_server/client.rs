//! The client for all servers: hyper's, with reused connections.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

const MODERN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

pub(crate) type Sender = SendRequest<Full<Bytes>>;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Modern,
    Session,
}

/// Makes calls, each on a connection that no other call uses meanwhile.
pub(crate) struct Caller {
    address: SocketAddr,
    path: &'static str,
    session: Option<String>,
    free: Mutex<Vec<Sender>>,
    next: std::sync::atomic::AtomicU64,
}

impl Caller {
    pub(crate) async fn new(address: SocketAddr, path: &'static str, era: Era) -> Self {
        let session = match era {
            Era::Modern => None,
            Era::Session => Some(begin(address, &mut connect(address).await).await),
        };
        Caller { address, path, session, free: Mutex::default(), next: 1.into() }
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<Sender>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl super::measure::Contestant for Caller {
    async fn call(&self) {
        let free = self.free().pop().filter(|sender| !sender.is_closed());
        let mut sender = match free {
            Some(sender) => sender,
            None => connect(self.address).await,
        };
        let request = match &self.session {
            None => post_to(self.path, self.address)
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", "tools/call")
                .header("mcp-name", "echo")
                .body(Full::from(MODERN)),
            Some(session) => {
                let id = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                post_to(self.path, self.address)
                    .header("mcp-protocol-version", "2025-11-25")
                    .header("mcp-session-id", session)
                    .body(Full::from(call(id, "echo")))
            }
        };
        let body = ask(&mut sender, request.expect("a request")).await;
        assert!(body.windows(5).any(|part| part == b"hello"), "{body:?}");
        self.free().push(sender);
    }
}

pub(crate) fn call(id: u64, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"message":"hello"}}}}}}"#
    )
}

pub(crate) async fn connect(address: SocketAddr) -> Sender {
    let stream = TcpStream::connect(address).await.expect("the server listens");
    stream.set_nodelay(true).expect("a socket");
    let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("a connection");
    // It ends with its sender, or with its server.
    tokio::spawn(connection);
    sender
}

/// Starts a session and returns its id.
pub(crate) async fn begin(address: SocketAddr, sender: &mut Sender) -> String {
    let request = post(address).body(Full::from(INITIALIZE)).expect("a request");
    let response = send(sender, request).await;
    let id = response.headers()["mcp-session-id"].to_str().expect("an id").to_owned();
    response.into_body().collect().await.expect("a handshake");
    let ready = post(address)
        .header("mcp-protocol-version", "2025-11-25")
        .header("mcp-session-id", &id)
        .body(Full::from(READY));
    ask(sender, ready.expect("a request")).await;
    id
}

pub(crate) fn post(address: SocketAddr) -> http::request::Builder {
    post_to("/mcp", address)
}

fn post_to(path: &str, address: SocketAddr) -> http::request::Builder {
    Request::post(path)
        .header("host", address.to_string())
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
}

pub(crate) async fn ask(sender: &mut Sender, request: Request<Full<Bytes>>) -> Bytes {
    let response = send(sender, request).await;
    assert!(response.status().is_success(), "{response:?}");
    response.into_body().collect().await.expect("a body").to_bytes()
}

pub(crate) async fn send(sender: &mut Sender, request: Request<Full<Bytes>>) -> Response<Incoming> {
    sender.ready().await.expect("the connection stands");
    sender.send_request(request).await.expect("an answer")
}
