//! HTTP+SSE of 2024-11-05: used as a fallback, or on request.

use std::sync::{Arc, Mutex};

use serde_json::json;
use sparring_peer::{Cause, Client};
use sparring_transport::http::{HttpTarget, HttpTransport};
use sparring_wire::Revision;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::scripted_server::{ReceivedRequest, Reply, ScriptedServer, call, connect, within};

/// A server of 2024-11-05 with one client: posted messages are answered on the stream.
struct HttpSseServer {
    url: String,
    ended: Arc<Notify>,
}

impl HttpSseServer {
    /// `endpoint` is the data of the first event; `{}` in it becomes the address.
    async fn new(endpoint: &'static str) -> HttpSseServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let ended = Arc::new(Notify::new());
        let (end, endpoint) = (Arc::clone(&ended), endpoint.replace("{}", &address));
        let stream: Arc<tokio::sync::Mutex<Option<OwnedWriteHalf>>> = Arc::default();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let (endpoint, stream) = (endpoint.clone(), Arc::clone(&stream));
                let end = Arc::clone(&end);
                tokio::spawn(serve(connection, endpoint, stream, end));
            }
        });
        HttpSseServer { url: format!("http://{address}/x/sse"), ended }
    }

    fn target(&self, transport: HttpTransport) -> HttpTarget {
        HttpTarget { transport, ..HttpTarget::new(&self.url) }
    }
}

async fn serve(
    mut connection: TcpStream,
    endpoint: String,
    stream: Arc<tokio::sync::Mutex<Option<OwnedWriteHalf>>>,
    end: Arc<Notify>,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = connection.read(&mut bytes).await {
        let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
        if text.starts_with("GET /x/sse ") {
            assert!(!text.to_lowercase().contains("mcp-protocol-version"), "{text}");
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            let first = format!("{head}event: endpoint\ndata: {endpoint}\n\n");
            let (_read, mut write) = connection.into_split();
            write.write_all(first.as_bytes()).await.unwrap();
            *stream.lock().await = Some(write);
            end.notified().await;
            stream.lock().await.take();
            return;
        }
        let status = match text.starts_with("POST /x/messages?id=1 ") {
            true => {
                let body = text.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned();
                let asked = ReceivedRequest { body, ..ReceivedRequest::default() };
                if let Some(answer) = answer(&asked) {
                    let event = format!("event: message\ndata: {answer}\n\n");
                    let mut stream = stream.lock().await;
                    stream.as_mut().unwrap().write_all(event.as_bytes()).await.unwrap();
                }
                "202 Accepted"
            }
            false => "404 Not Found",
        };
        // Many servers refuse every unknown request.
        let body = match status {
            "202 Accepted" => "",
            _ => r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"not here"}}"#,
        };
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json");
        let reply = format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}");
        connection.write_all(reply.as_bytes()).await.unwrap();
    }
}

fn answer(asked: &ReceivedRequest) -> Option<String> {
    match &*asked.what() {
        "initialize" => Some(asked.result(json!({"protocolVersion": "2024-11-05",
            "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "1"}}))),
        "tools/call" => Some(super::scripted_server::done(asked)),
        _ => None,
    }
}

#[tokio::test]
async fn a_revision_without_http_sse_names_the_reason() {
    let json = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"not here"}}"#;
    let without_id = r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"not here"}}"#;
    let plain: &'static [(&str, &str)] = &[];
    let of_json: &'static [(&str, &str)] = &[("content-type", "application/json")];
    for (status, headers, body) in [
        ("404 Not Found", plain, "nothing here"),
        ("404 Not Found", of_json, json),
        ("405 Method Not Allowed", of_json, without_id),
    ] {
        let server = ScriptedServer::new(move |_| Reply::of(status, headers, body)).await;
        let builder = Client::builder().revision(Revision::V2026_07_28);
        let error = connect(builder, &server.target()).await.unwrap_err().to_string();
        assert!(error.contains("to server/discover: 2026-07-28 needs Streamable HTTP"), "{error}");
        assert!(error.contains("SSE server, use an earlier revision"), "{error}");
    }
}

#[tokio::test]
async fn it_is_found_last_or_taken_at_once_wherever_the_endpoint_is() {
    for endpoint in ["/x/messages?id=1", "messages?id=1", "http://{}/x/messages?id=1"] {
        for transport in [HttpTransport::Auto, HttpTransport::Sse] {
            let old = HttpSseServer::new(endpoint).await;
            let client = connect(Client::builder(), &old.target(transport)).await.unwrap();
            assert_eq!(client.revision(), Some(Revision::V2024_11_05));
            assert_eq!(within(call(&client)).await.unwrap().content(), "done");
            assert!(
                client.transcript().violations().is_empty(),
                "{:?}",
                client.transcript().violations()
            );
            within(client.close()).await;
        }
    }
}

#[tokio::test]
async fn refuses_an_endpoint_of_another_origin() {
    let old = HttpSseServer::new("http://elsewhere.example/messages").await;
    let error = connect(Client::builder(), &old.target(HttpTransport::Sse)).await;
    let error = error.expect_err("another origin").to_string();
    assert!(error.contains("another origin, http://elsewhere.example"), "{error}");
}

#[tokio::test]
async fn reports_the_end_of_the_stream() {
    let old = HttpSseServer::new("/x/messages?id=1").await;
    let client = connect(Client::builder(), &old.target(HttpTransport::Sse)).await.unwrap();
    old.ended.notify_one();
    let cause = within(client.closed()).await;
    assert!(matches!(&cause, Cause::Broken(why) if why.contains("event stream")), "{cause}");
}

#[tokio::test]
async fn a_message_that_is_refused_fails_its_request() {
    let old = HttpSseServer::new("/x/nowhere").await;
    let error = connect(Client::builder(), &old.target(HttpTransport::Sse)).await;
    let error = error.expect_err("nothing is there").to_string();
    assert!(error.contains("/x/nowhere answered 404 Not Found"), "{error}");
}

#[tokio::test]
async fn reports_both_responses_of_a_server_without_http_sse() {
    let server = ScriptedServer::new(|asked| {
        Reply::of("404 Not Found", &[], &format!("no {}", asked.method))
    });
    let error = server.await.connect().await.expect_err("nothing is there").to_string();
    assert!(error.contains("404 Not Found to Streamable HTTP; HTTP+SSE failed too"), "{error}");
    let first = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&first);
    let server = ScriptedServer::new(move |asked| {
        seen.lock().unwrap().push_str(&asked.method);
        Reply::events("data: hello\n\n")
    });
    let target = HttpTarget { transport: HttpTransport::Sse, ..server.await.target() };
    let error = connect(Client::builder(), &target).await.expect_err("no endpoint").to_string();
    assert!(error.contains("refused") || error.contains("first event is \"message\""), "{error}");
}
