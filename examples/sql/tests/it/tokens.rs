//! The program over HTTP: without a token, with a wrong one, and with the right one.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;
use sparring::{Client, Credentials, HttpTarget, Revision};

use crate::fixture::{rows, shop};

/// The running program, which ends with the test.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sql-server"));
        command.args(["--http", "127.0.0.1:0", "--token-env", "SHOP_TOKEN", "--init", &shop()]);
        command.env("SHOP_TOKEN", "right").stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect(&line).to_owned();
        Served { child, url }
    }

    /// Sends a request with this header, and returns the status and the challenge.
    async fn ask(&self, authorization: Option<&str>) -> (u16, Option<String>) {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "by hand", "version": "1"}}});
        let mut request = reqwest::Client::new().post(&self.url);
        request = request.header("accept", "application/json, text/event-stream");
        request = request.header("content-type", "application/json").body(body.to_string());
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        let response = request.send().await.unwrap();
        let challenge = response.headers().get("www-authenticate");
        let challenge = challenge.map(|value| value.to_str().unwrap().to_owned());
        (response.status().as_u16(), challenge)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn answers_401_without_a_token_403_to_a_wrong_one_and_serves_the_right_one() {
    let served = Served::start();
    let challenge = |text: &str| Some(text.to_owned());
    assert_eq!(served.ask(None).await, (401, challenge("Bearer")));
    let basic = served.ask(Some("Basic cmlnaHQ6cmlnaHQ=")).await;
    assert_eq!(basic, (401, challenge("Bearer")));
    for wrong in ["Bearer wrong", "Bearer righ", "Bearer rightt", "Bearer RIGHT"] {
        let invalid = challenge("Bearer error=\"invalid_token\"");
        assert_eq!(served.ask(Some(wrong)).await, (403, invalid), "{wrong}");
    }
    assert_eq!(served.ask(Some("Bearer right")).await, (200, None));
}

#[tokio::test]
async fn a_client_with_the_token_is_served_in_every_revision() {
    let served = Served::start();
    for revision in Revision::ALL {
        let mut target = HttpTarget::new(&served.url);
        target.credentials = Some(Credentials::Bearer("right".into()));
        if revision == Revision::V2024_11_05 {
            target.url = target.url.replace("/mcp", "/sse");
            target.transport = sparring::transport::http::HttpTransport::Sse;
        }
        let client = Client::builder().revision(revision).connect(target).await.unwrap();
        assert_eq!(rows(&client, "select count(*) from orders").await, json!([[3]]));
        assert_eq!(client.transcript().violations(), [], "{revision}");
        client.close().await;
    }
    let mut target = HttpTarget::new(&served.url);
    target.credentials = Some(Credentials::Bearer("wrong".into()));
    let error = Client::connect(target).await.unwrap_err().to_string();
    assert!(error.contains("credentials rejected"), "{error}");
    assert!(!error.contains("wrong"), "the error contains the token: {error}");
}

#[tokio::test]
async fn a_signal_ends_the_program_with_0_and_reports_an_address_in_use() {
    let mut served = Served::start();
    let address = served.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let mut second = Command::new(env!("CARGO_BIN_EXE_sql-server"));
    second.args(["--http", &address, "--token-env", "SHOP_TOKEN"]).env("SHOP_TOKEN", "right");
    let output = second.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with(&format!("error: {address} cannot be listened on: ")), "{stderr}");
    let id = served.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
}
