//! Our client against our server.

use serde_json::json;
use sparring_peer::link::LineLinkOptions;
use sparring_peer::server::{Context, HandlerResult};
use sparring_peer::{Client, Handler, Server};
use sparring_transport::{ChildLink, ChildTarget, stdio};
use sparring_wire::types::{CallToolResult, ServerCapabilities};
use sparring_wire::{Json, RawJson, Revision};

struct Echo;

impl Handler for Echo {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn call_tool(&self, _: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
        let message = arguments.get("message").and_then(Json::as_str).unwrap_or_default();
        Ok(CallToolResult::text(message).into())
    }
}

pub(crate) async fn serve() {
    Server::new(Echo).serve(stdio(LineLinkOptions::default())).await;
}

pub(crate) struct Ours {
    client: Client,
    arguments: RawJson,
}

impl Ours {
    pub(crate) async fn connect() -> Self {
        let target = ChildTarget::new(super::this_program()).args(["serve-ours"]);
        let link = ChildLink::spawn(&target).expect("this program starts");
        let builder = Client::builder().revision(Revision::V2025_11_25);
        let client = builder.connect(link).await.expect("our own server");
        Ours { client, arguments: json!({"message": "hello"}).into() }
    }
}

impl super::measure::Contestant for Ours {
    async fn call(&self) {
        let call = self.client.call_tool("echo", self.arguments.clone());
        assert!(call.await.expect("an answer").success());
    }
}
