//! The Inspector's command line against our HTTP server, in both eras. Each run is one
//! connection with one request.

use std::process::Stdio;

use serde_json::{Value, json};
use sparring_wire::Revision;
use tokio::process::Command;

use super::example_server::ExampleServer;
use super::peer_connection::within;
use super::{installed, legacy};

/// The Inspector, which negotiates within an era, and our server with these revisions.
struct Meeting<'a> {
    path: &'a str,
    era: &'a str,
    ours: &'a [Revision],
    /// The Inspector keeps files in the home folder.
    home: tempfile::TempDir,
}

impl Meeting<'_> {
    /// Returns the Inspector's output for one request, if it is installed.
    async fn ask(&self, method: &str, args: &[&str]) -> Option<Value> {
        let target = installed::node22("inspector/clients/cli/build/index.js")?;
        // A transcript records one conversation.
        let server = ExampleServer::with_revisions(self.ours).await;
        let mut command = Command::new(&target.program);
        command.args(&target.args).arg(server.url(self.path));
        command.args(["--protocol-era", self.era, "--format", "json", "--method", method]);
        command.args(args).env("HOME", self.home.path());
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output = within(command.output()).await.unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(output.status.success(), "{} at {}, {method}: {text}", self.era, self.path);
        let response: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
        server.close().await;
        Some(response["result"].clone())
    }
}

/// Checks that the Inspector uses our server in the expected revision.
async fn check(path: &str, era: &str, ours: &[Revision], expected: Revision) {
    let meeting = Meeting { path, era, ours, home: tempfile::tempdir().unwrap() };
    let call = ["--tool-name", "add", "--tool-args-json", r#"{"a": 2, "b": 3}"#];
    let results = tokio::join!(
        meeting.ask("initialize", &[]),
        meeting.ask("tools/list", &[]),
        meeting.ask("tools/call", &call),
        meeting.ask("resources/read", &["--uri", "desk://note"]),
        meeting.ask("prompts/get", &["--prompt-name", "greet"]),
    );
    let (Some(hello), Some(tools), Some(sum), Some(note), Some(prompt)) = results else { return };
    let name = format!("{era} at {path}, {expected}");
    assert_eq!(hello["serverInfo"]["name"], "desk", "{name}");
    assert_eq!(hello["protocolVersion"], expected.name(), "{name}");
    let tools: Vec<_> = tools["tools"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(tools, ["echo", "add", "progress", "ask"], "{name}");
    assert_eq!(sum["content"], json!([{"type": "text", "text": "5"}]), "{name}");
    assert_eq!(note["contents"][0]["text"], "water the plants", "{name}");
    assert_eq!(prompt["messages"][0]["content"]["text"], "Say hello.", "{name}");
}

#[tokio::test]
async fn the_inspector_uses_our_server_in_every_revision() {
    for revision in legacy() {
        check("/mcp", "legacy", &[revision], revision).await;
    }
    check("/mcp", "modern", &[Revision::LATEST], Revision::LATEST).await;
}

#[tokio::test]
async fn the_inspector_finds_the_newest_revision_of_our_server() {
    check("/mcp", "auto", &legacy(), Revision::LATEST_LEGACY).await;
    check("/mcp", "auto", &Revision::ALL, Revision::LATEST).await;
}

#[tokio::test]
async fn the_inspector_uses_our_server_over_http_and_sse() {
    check("/sse", "legacy", &[Revision::V2024_11_05], Revision::V2024_11_05).await;
    check("/sse", "legacy", &Revision::ALL, Revision::LATEST_LEGACY).await;
}
