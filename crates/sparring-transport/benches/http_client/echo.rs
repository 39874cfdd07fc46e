//! The echo server: axum only, in its own process.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The running echo server. Dropping it stops it.
pub(crate) struct Echo {
    pub(crate) url: String,
    process: Child,
}

impl Echo {
    pub(crate) fn start() -> Echo {
        let program = std::env::current_exe().expect("this program has a path");
        let mut process = Command::new(program)
            .arg("serve-echo")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the echo starts");
        let mut url = String::new();
        let output = process.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut url).expect("it prints its address");
        Echo { url: url.trim_end().to_owned(), process }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) async fn serve() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("http://{}/mcp", listener.local_addr().expect("an address"));
    let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
        let _ = stream.set_nodelay(true);
    });
    let router = Router::new().route("/mcp", post(answer));
    axum::serve(listener, router).await.expect("it serves");
}

/// The part of a request that is needed to answer it.
#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
}

async fn answer(body: Bytes) -> Response {
    let request: Request<'_> = serde_json::from_slice(&body).expect("a frame");
    let Some(id) = request.id else { return StatusCode::ACCEPTED.into_response() };
    let result = match request.method {
        "initialize" => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}"#
        }
        "server/discover" => {
            r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#
        }
        _ => {
            r#"{"content":[{"type":"text","text":"hello"}],"isError":false,"resultType":"complete"}"#
        }
    };
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
