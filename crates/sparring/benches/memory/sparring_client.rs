//! This library's client, on its own server and on rmcp's server.

use serde_json::json;
use sparring::server::{Context, HandlerResult};
use sparring::types::{CallToolResult, ServerCapabilities, Tool};
use sparring::{Client, Handler, Json, Revision};

use super::CALLS;

/// A server with one trivial tool.
struct Echo;

impl Handler for Echo {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(vec![Tool::new("echo")].into())
    }

    async fn call_tool(&self, _: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
        let message = arguments.get("message").and_then(Json::as_str).unwrap_or_default();
        Ok(CallToolResult::text(message).into())
    }
}

/// Runs a test body on this library's server.
pub(crate) async fn run_on_sparring(revision: Revision) {
    let client = Client::builder().revision(revision).in_memory(Echo).await;
    run_body(client.expect("our own server")).await;
}

/// Runs a test body on rmcp's server.
pub(crate) async fn run_on_rmcp(revision: Revision) {
    let client = Client::builder().revision(revision).in_memory(super::rmcp_client::Echo).await;
    run_body(client.expect("rmcp's server")).await;
}

async fn run_body(client: Client) {
    client.list_tools().await.expect("the tools").find_tool("echo");
    for _ in 0..CALLS {
        let response = client.call_tool("echo", json!({"message": "hello"})).await;
        response.expect("an answer").assert_success();
    }
    client.close().await;
}

/// Runs a test body on the underlying client, to measure the cost of the façade.
pub(crate) async fn run_without_facade(revision: Revision) {
    let (here, there) = sparring_peer::memory(sparring_peer::LinkKind::Shared);
    let _running = sparring_peer::Server::new(Echo).spawn(there);
    let client = sparring_peer::Client::builder().revision(revision).connect(here).await;
    let client = client.expect("our own server");
    let tools = client.list_tools().await.expect("the tools");
    assert!(tools.iter().any(|tool| tool.name == "echo"));
    for _ in 0..CALLS {
        let response = client.call_tool("echo", json!({"message": "hello"})).await;
        assert!(response.expect("an answer").success());
    }
    client.close().await;
}
