//! Clients of other projects against our HTTP server: rmcp, the Python SDK and FastMCP, in
//! every revision that they and the transport support.

use std::process::Stdio;

use serde_json::Value;
use sparring_transport::ChildTarget;
use sparring_wire::Revision;
use tokio::process::Command;

use super::requests::within;
use crate::peers::example_server::ExampleServer;
use crate::peers::installed;
use crate::peers::their_clients::{expected_results, python_sdk, rmcp};

/// Runs a client against our server with these revisions, and checks the client's results and
/// frames.
async fn check(client: ChildTarget, path: &str, ours: &[Revision], expected: Revision, name: &str) {
    let server = ExampleServer::with_revisions(ours).await;
    let mut command = Command::new(&client.program);
    command.args(&client.args).arg(server.url(path));
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = within(command.output()).await.unwrap();
    let (stdout, stderr) =
        [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it)).into();
    assert!(output.status.success(), "{expected}: {stdout}{stderr}");
    let mut found: Value = serde_json::from_str(&stdout).unwrap();
    // FastMCP's client does not report it.
    if found.get("version").is_none() {
        found["version"] = expected.name().into();
    }
    assert_eq!(found, expected_results(expected, name), "{expected}");
    server.close().await;
}

/// Returns the revisions of Streamable HTTP that start with `initialize`.
fn sessions() -> Vec<Revision> {
    let since = |revision: &Revision| *revision > Revision::V2024_11_05 && !revision.is_modern();
    Revision::ALL.into_iter().filter(since).collect()
}

fn revisions_up_to(newest: Revision) -> Vec<Revision> {
    Revision::ALL.into_iter().filter(|revision| *revision <= newest).collect()
}

fn fastmcp(mode: &str) -> Option<ChildTarget> {
    installed::python(&[&installed::script("clients/fastmcp4.py"), mode])
}

#[tokio::test]
async fn rmcps_client_uses_our_server_in_every_revision() {
    // Includes the revision whose own transport was HTTP+SSE.
    for revision in Revision::ALL {
        check(rmcp(revision.name()), "/mcp", &Revision::ALL, revision, "Ferris").await;
    }
}

#[tokio::test]
async fn rmcps_client_finds_the_newest_revision_of_our_server() {
    for newest in [Revision::LATEST_LEGACY, Revision::LATEST] {
        check(rmcp("auto"), "/mcp", &revisions_up_to(newest), newest, "Ferris").await;
    }
}

#[tokio::test]
async fn the_python_sdks_client_uses_our_server_in_every_revision() {
    for revision in sessions() {
        let Some(client) = python_sdk("legacy") else { return };
        check(client, "/mcp", &[revision], revision, "Guido").await;
    }
    for ours in [&Revision::ALL[..], &[Revision::LATEST]] {
        let Some(client) = python_sdk(Revision::LATEST.name()) else { return };
        check(client, "/mcp", ours, Revision::LATEST, "Guido").await;
    }
}

#[tokio::test]
async fn the_python_sdks_client_finds_the_newest_revision_of_our_server() {
    for newest in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let Some(client) = python_sdk("auto") else { return };
        check(client, "/mcp", &revisions_up_to(newest), newest, "Guido").await;
    }
}

#[tokio::test]
async fn the_python_sdks_client_uses_our_server_over_http_and_sse() {
    for revision in [Revision::V2024_11_05, Revision::LATEST_LEGACY] {
        let Some(client) = python_sdk("legacy") else { return };
        check(client, "/sse", &revisions_up_to(revision), revision, "Guido").await;
    }
}

#[tokio::test]
async fn fastmcps_client_uses_our_server() {
    for revision in sessions() {
        let Some(client) = fastmcp("legacy") else { return };
        check(client, "/mcp", &[revision], revision, "Fast").await;
    }
    for (mode, newest) in [("auto", Revision::LATEST), ("2026-07-28", Revision::LATEST)] {
        let Some(client) = fastmcp(mode) else { return };
        check(client, "/mcp", &revisions_up_to(newest), newest, "Fast").await;
    }
    let Some(client) = fastmcp("legacy") else { return };
    check(client, "/sse", &[Revision::V2024_11_05], Revision::V2024_11_05, "Fast").await;
}
