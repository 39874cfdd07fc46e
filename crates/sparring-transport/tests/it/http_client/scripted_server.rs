//! An HTTP server on a real port whose responses are scripted byte by byte.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sparring_peer::client::Error;
use sparring_peer::{Client, ClientBuilder, Response};
use sparring_transport::http::{HttpLink, HttpTarget};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The longest wait in a test.
pub(super) const TEST_TIMEOUT: Duration = Duration::from_secs(20);

/// A request that the server received.
#[derive(Debug, Clone, Default)]
pub(super) struct ReceivedRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) head: String,
    pub(super) body: String,
}

impl ReceivedRequest {
    /// Returns the value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the method of the frame in the body, or of the HTTP request.
    pub(super) fn what(&self) -> String {
        let frame: Value = serde_json::from_str(&self.body).unwrap_or_default();
        let method = frame["method"].as_str().map(str::to_owned);
        method.unwrap_or_else(|| self.method.clone())
    }

    fn id(&self) -> Value {
        serde_json::from_str::<Value>(&self.body).unwrap_or_default()["id"].clone()
    }

    /// Returns a result for the frame in the body.
    pub(super) fn result(&self, result: Value) -> String {
        json!({"jsonrpc": "2.0", "id": self.id(), "result": result}).to_string()
    }
}

/// A scripted response.
pub(super) struct Reply {
    bytes: Vec<u8>,
    then: Then,
}

enum Then {
    /// Waits for the next request on the same connection.
    Keep,
    /// Closes the connection.
    Close,
    /// Neither sends anything more nor closes the connection.
    Hang,
}

impl Reply {
    /// Sends exactly these bytes.
    pub(super) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Reply { bytes: bytes.into(), then: Then::Keep }
    }

    pub(super) fn then_close(mut self) -> Self {
        self.then = Then::Close;
        self
    }

    pub(super) fn then_hang(mut self) -> Self {
        self.then = Then::Hang;
        self
    }

    /// Sends a complete response.
    pub(super) fn of(status: &str, headers: &[(&str, &str)], body: &str) -> Self {
        let mut text = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        Reply::raw(format!("{text}\r\n{body}"))
    }

    pub(super) fn json(body: &str) -> Self {
        Reply::of("200 OK", &[("content-type", "application/json")], body)
    }

    /// Sends the head of an endless event stream and its first bytes.
    pub(super) fn events(events: &str) -> Self {
        Reply::raw(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{events}"))
            .then_close()
    }
}

/// The server. Dropping it stops it.
pub(super) struct ScriptedServer {
    pub(super) url: String,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
    connections: Arc<Mutex<usize>>,
    task: JoinHandle<()>,
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ScriptedServer {
    pub(super) async fn new(
        answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> ScriptedServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (asked, connections): (Arc<Mutex<Vec<ReceivedRequest>>>, Arc<Mutex<usize>>) =
            Default::default();
        let (request_log, counted, answer) =
            (Arc::clone(&asked), Arc::clone(&connections), Arc::new(answer));
        let task = tokio::spawn(async move {
            let mut serving = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                *counted.lock().unwrap() += 1;
                serving.spawn(serve(stream, Arc::clone(&request_log), Arc::clone(&answer)));
            }
        });
        ScriptedServer { url, asked, connections, task }
    }

    /// Creates a server of 2026-07-28 that answers tool calls with `answer`.
    pub(super) async fn calling(
        answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> ScriptedServer {
        ScriptedServer::new(move |asked| match &*asked.what() {
            "server/discover" => Reply::json(&discovered(asked)),
            _ => answer(asked),
        })
        .await
    }

    /// Returns all requests so far.
    pub(super) fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the number of connections so far.
    pub(super) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }

    pub(super) fn target(&self) -> HttpTarget {
        HttpTarget::new(&self.url)
    }

    pub(super) async fn connect(&self) -> Result<Client, Error> {
        connect(Client::builder(), &self.target()).await
    }

    /// Connects and calls a tool.
    pub(super) async fn call(&self) -> Result<Response, Error> {
        let client = self.connect().await?;
        within(call(&client)).await
    }
}

pub(super) async fn call(client: &Client) -> Result<Response, Error> {
    client.call_tool("echo", json!({"message": "hi"})).await
}

pub(super) async fn connect(builder: ClientBuilder, target: &HttpTarget) -> Result<Client, Error> {
    within(builder.connect(HttpLink::new(target).unwrap())).await
}

pub(super) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(TEST_TIMEOUT, future).await.expect("nothing takes that long")
}

/// Returns the discovery result of a server of 2026-07-28.
pub(super) fn discovered(asked: &ReceivedRequest) -> String {
    asked.result(json!({
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "site", "version": "1"}},
    }))
}

/// Returns a tool result that is valid in every revision.
pub(super) fn done(asked: &ReceivedRequest) -> String {
    asked.result(json!({"content": [{"type": "text", "text": "done"}], "resultType": "complete"}))
}

/// Serves one connection.
pub(super) async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request_log: Arc<Mutex<Vec<ReceivedRequest>>>,
    answer: Arc<impl Fn(&ReceivedRequest) -> Reply>,
) {
    while let Ok(Some(asked)) = read(&mut stream).await {
        request_log.lock().unwrap().push(asked.clone());
        let reply = answer(&asked);
        if stream.write_all(&reply.bytes).await.is_err() || stream.flush().await.is_err() {
            return;
        }
        match reply.then {
            Then::Keep => {}
            Then::Close => return drop(stream.shutdown().await),
            Then::Hang => std::future::pending().await,
        }
    }
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<ReceivedRequest>> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
        // Answers TLS like a server that does not support it.
        if bytes[0] == 0x16 {
            return Ok(Some(ReceivedRequest::default()));
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut first = text.split(' ');
    let mut asked = ReceivedRequest {
        method: first.next().unwrap_or_default().to_owned(),
        path: first.next().unwrap_or_default().to_owned(),
        head: text.clone(),
        body: String::new(),
    };
    let length = asked.header("content-length").map_or(0, |length| length.parse().unwrap());
    while bytes.len() < head + length {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
    asked.body = String::from_utf8_lossy(&bytes[head..head + length]).into_owned();
    Ok(Some(asked))
}
