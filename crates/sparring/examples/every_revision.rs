//! Runs a client and a server in one process, in all five revisions of the protocol.

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use serde_json::json;
use sparring::client::ServerRequest;
use sparring::server::{Context, HandlerResult};
use sparring::types::{CallToolResult, ServerCapabilities, Tool};
use sparring::{Client, Handler, Json, LinkKind, Revision, Server, memory};

/// Wipes something after the client has confirmed it.
struct Wiper;

impl Handler for Wiper {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(vec![Tool::new("wipe").described("forgets everything")].into())
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, cx: &Context) -> HandlerResult {
        let question = json!({
            "messages": [{"role": "user", "content": {"type": "text", "text": "Sure?"}}],
            "maxTokens": 1,
        });
        let answer = cx.ask("sure", ServerRequest::Sampling, question).await?;
        let word =
            answer.view().get_path(&["content", "text"]).and_then(Json::as_str).unwrap_or_default();
        Ok(CallToolResult::text(format!("you said {word}")).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let server = Server::new(Wiper);
    for revision in Revision::ALL {
        let (here, there) = memory(LinkKind::Shared);
        let _running = server.spawn(there);
        let yes = json!({"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "none"});
        let client = Client::builder()
            .revision(revision)
            .answer(ServerRequest::Sampling, move |_| std::future::ready(Ok(yes.clone())))
            .connect(here)
            .await?;
        let response = client.call_tool("wipe", json!({})).await?;
        let frames = client.transcript().len();
        println!("{revision}: {} ({frames} frames on the wire)", response.content());
        anyhow::ensure!(response.content() == "you said yes");
        anyhow::ensure!(client.transcript().violations().is_empty());
    }
    println!("{:?}", server.counts());
    Ok(())
}
