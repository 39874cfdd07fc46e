//! Clients of other projects against the example `stdio_server`, which reports the client's
//! violations at the end.

use std::process::Stdio;

use serde_json::{Value, json};
use sparring_transport::ChildTarget;
use sparring_wire::Revision;
use tokio::process::Command;

use super::peer_connection::within;
use super::{installed, legacy};

/// Runs a client against our server with these revisions, and checks the client's results and
/// frames.
async fn check(client: ChildTarget, ours: &[Revision], expected: Revision, name: &str) {
    let mut command = Command::new(&client.program);
    command.args(&client.args).arg(installed::example("stdio_server"));
    command.args(ours.iter().map(|revision| revision.name()));
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = within(command.output()).await.unwrap();
    let (stdout, stderr) =
        [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it)).into();
    assert!(output.status.success(), "{expected}: {stdout}{stderr}");
    assert_eq!(stderr, "ended: the other side closed the connection; 0 violations\n", "{expected}");
    let found: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(found, expected_results(expected, name), "{expected}");
}

/// Returns the expected results of a client with this name.
pub(crate) fn expected_results(expected: Revision, name: &str) -> Value {
    // Elicitation came with 2025-06-18.
    let ask = if expected >= Revision::V2025_06_18 {
        json!(format!("hello {name}"))
    } else {
        json!(-32600)
    };
    json!({
        "version": expected.name(),
        "tools": ["echo", "add", "progress", "ask"],
        "resources": ["desk://note"],
        "prompts": ["greet"],
        "note": {"uri": "desk://note", "text": "water the plants"},
        "prompt": "Say hello.",
        "echo": "a\n😀",
        "add": "5",
        "failed": true,
        "counted": "done",
        "ask": ask,
        "missing": -32602,
        "progress": [1.0, 2.0, 3.0],
    })
}

pub(crate) fn python_sdk(mode: &str) -> Option<ChildTarget> {
    installed::python(&[&installed::script("clients/sdk.py"), mode])
}

pub(crate) fn rmcp(revision: &str) -> ChildTarget {
    ChildTarget::new(installed::example("rmcp_client")).args([revision])
}

#[tokio::test]
async fn the_python_sdks_client_uses_our_server_in_every_revision() {
    // It requests the newest revision and accepts the server's offer.
    for revision in legacy() {
        let Some(client) = python_sdk("legacy") else { return };
        check(client, &[revision], revision, "Guido").await;
    }
    for ours in [&Revision::ALL[..], &[Revision::LATEST]] {
        let Some(client) = python_sdk(Revision::LATEST.name()) else { return };
        check(client, ours, Revision::LATEST, "Guido").await;
    }
}

#[tokio::test]
async fn the_python_sdks_client_finds_the_newest_revision_of_our_server() {
    for newest in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let Some(client) = python_sdk("auto") else { return };
        let ours: Vec<_> = Revision::ALL.into_iter().filter(|it| *it <= newest).collect();
        check(client, &ours, newest, "Guido").await;
    }
}

#[tokio::test]
async fn rmcps_client_uses_our_server_in_every_revision() {
    for revision in Revision::ALL {
        check(rmcp(revision.name()), &Revision::ALL, revision, "Ferris").await;
    }
}

#[tokio::test]
async fn rmcps_client_finds_the_newest_revision_of_our_server() {
    for newest in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let ours: Vec<_> = Revision::ALL.into_iter().filter(|it| *it <= newest).collect();
        check(rmcp("auto"), &ours, newest, "Ferris").await;
    }
}
