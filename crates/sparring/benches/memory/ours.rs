//! This library's client, on a server of its own and on one of rmcp's.

use serde_json::json;
use sparring::server::{Answer, Context};
use sparring::types::{CallToolResult, ServerCapabilities, Tool};
use sparring::{Client, Handler, Json, Revision};

use super::CALLS;

/// A server with one trivial tool.
struct Echo;

impl Handler for Echo {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> Answer {
        Ok(vec![Tool::new("echo")].into())
    }

    async fn call_tool(&self, _: &str, arguments: Json<'_>, _: &Context) -> Answer {
        let message = arguments.get("message").and_then(Json::as_str).unwrap_or_default();
        Ok(CallToolResult::text(message).into())
    }
}

/// A test body on our own server.
pub(crate) async fn on_ours(revision: Revision) {
    let client = Client::builder().revision(revision).in_memory(Echo).await;
    body(client.expect("our own server")).await;
}

/// A test body on rmcp's server.
pub(crate) async fn on_rmcp(revision: Revision) {
    let client = Client::builder().revision(revision).in_memory(super::theirs::Echo).await;
    body(client.expect("rmcp's server")).await;
}

async fn body(client: Client) {
    client.list_tools().await.expect("the tools").find_tool("echo");
    for _ in 0..CALLS {
        let response = client.call_tool("echo", json!({"message": "hello"})).await;
        response.expect("an answer").assert_success();
    }
    client.close().await;
}

/// What the façade stands on, without it: what the façade itself costs.
pub(crate) async fn below(revision: Revision) {
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
