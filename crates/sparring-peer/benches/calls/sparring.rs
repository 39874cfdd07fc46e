//! The contestants of this project: its client on its server, and its server
//! alone.

use serde_json::json;
use sparring_peer::server::{Context, HandlerResult, ServerTask, Session};
use sparring_peer::{Client, Handler, LineLink, Link, LinkKind, Server, memory};
use sparring_wire::types::{CallToolResult, ServerCapabilities, Tool};
use sparring_wire::{Frame, Id, Json, RawJson, Revision};

/// A server with one trivial tool.
pub(crate) struct Echo;

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

pub(crate) struct ConnectedClient {
    client: Client,
    arguments: RawJson,
    _server: ServerTask,
}

impl ConnectedClient {
    pub(crate) async fn in_memory(revision: Revision) -> Self {
        let (here, there) = memory(LinkKind::Shared);
        Self::over(here, there, revision).await
    }

    pub(crate) async fn over_duplex(revision: Revision) -> Self {
        let (here, there) = tokio::io::duplex(64 * 1024);
        Self::over(LineLink::from_stream(here), LineLink::from_stream(there), revision).await
    }

    async fn over(here: impl Link, there: impl Link, revision: Revision) -> Self {
        let server = Server::new(Echo).spawn(there);
        let client =
            Client::builder().revision(revision).connect(here).await.expect("our own server");
        ConnectedClient { client, arguments: json!({"message": "hello"}).into(), _server: server }
    }
}

impl super::measure::Contestant for ConnectedClient {
    async fn call(&self) {
        let response =
            self.client.call_tool("echo", self.arguments.clone()).await.expect("an answer");
        assert!(response.success());
    }
}

/// The server alone: takes a request and returns a response, without a link.
pub(crate) struct DirectServer {
    session: tokio::sync::Mutex<Session<Echo>>,
    params: RawJson,
}

impl DirectServer {
    pub(crate) async fn new() -> Self {
        let mut session = Server::new(Echo).session();
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}});
        let initialize = Frame::request(&Id::Integer(0), "initialize", Some(&params.into()));
        session.process_request(initialize).await.expect("a response");
        let params = json!({"name": "echo", "arguments": {"message": "hello"}});
        DirectServer { session: session.into(), params: params.into() }
    }
}

impl super::measure::Contestant for DirectServer {
    async fn call(&self) {
        let frame = Frame::request(&Id::Integer(1), "tools/call", Some(&self.params));
        let frame = Frame::parse(frame.bytes());
        let response = self.session.lock().await.process_request(frame).await.expect("a response");
        assert!(response.result().is_some());
    }
}
