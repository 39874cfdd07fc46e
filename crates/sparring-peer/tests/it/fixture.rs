//! A server with all features for tests, and clients on it in memory.

use std::future::Future;
use std::time::Duration;

use serde_json::{Value, json};
use sparring_peer::client::ServerRequest;
use sparring_peer::server::{Context, HandlerError, HandlerResult, Page, Reply, ServerTask};
use sparring_peer::{Client, ClientBuilder, Handler, LinkKind, Server, memory};
use sparring_wire::types::{
    CallToolResult, Content, GetPromptResult, Implementation, LogLevel, Prompt, PromptMessage,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, ServerCapabilities, Tool,
};
use sparring_wire::{ErrorObject, Json, Revision};
use tokio::sync::mpsc;

/// The maximum time of any wait in a test.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(TEST_TIMEOUT, future).await.expect("nothing takes that long")
}

/// A server with seven tools on pages of three, resources, prompts, and tools
/// that wait, log, ask, fail and panic.
#[derive(Default)]
pub(crate) struct TestServer {
    /// Receives a message when the tool `wait` starts, and when it is cancelled.
    pub(crate) waiting: Option<mpsc::UnboundedSender<&'static str>>,
}

const TOOLS: [&str; 7] = ["echo", "fail", "ask", "wait", "progress", "log", "panic"];

impl Handler for TestServer {
    fn info(&self) -> Implementation {
        Implementation::new("test_server", "2.0")
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools().resources().prompts().completions().logging()
    }

    fn instructions(&self) -> Option<String> {
        Some("hit precisely".to_owned())
    }

    async fn list_tools(&self, cursor: Option<&str>, _: &Context) -> HandlerResult {
        let start: usize = match cursor {
            None => 0,
            Some(text) => text.parse().map_err(|_| ErrorObject::invalid_params("cursor"))?,
        };
        let schema = json!({"type": "object", "properties": {"message": {"type": "string"}}});
        let page = TOOLS.iter().skip(start).take(3);
        let items =
            page.map(|name| Tool::new(*name).described("a tool").taking(schema.clone())).collect();
        let next = start + 3;
        Ok(Page { items, next_cursor: (next < TOOLS.len()).then(|| next.to_string()) }.into())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, cx: &Context) -> HandlerResult {
        match name {
            "echo" => {
                let message = arguments.get("message").and_then(Json::as_str);
                let message = message
                    .ok_or_else(|| ErrorObject::invalid_params("message: expected a string"))?;
                let mut result = CallToolResult::text(&*message);
                result.content.push(Content::image("AA==", "image/png"));
                result.content.push(Content::text("!"));
                Ok(result.into())
            }
            "fail" => Ok(CallToolResult::failure("it broke").into()),
            "ask" => ask_twice(cx).await,
            "wait" => wait(self.waiting.clone()).await,
            "progress" => {
                cx.progress(0.5, Some(1.0), Some("half"));
                cx.progress(1.0, Some(1.0), None);
                Ok(CallToolResult::text("done").into())
            }
            "log" => {
                cx.log(LogLevel::Debug, &json!("quiet"));
                cx.log(LogLevel::Error, &json!("loud"));
                Ok(CallToolResult::text("logged").into())
            }
            "panic" => panic!("as asked"),
            _ => Err(ErrorObject::invalid_params(format!("unknown tool: {name}")).into()),
        }
    }

    async fn list_resources(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(vec![Resource::new("file:///a.txt", "a")].into())
    }

    async fn list_resource_templates(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        let template = json!({"uriTemplate": "file:///{name}", "name": "any"});
        let template: ResourceTemplate = serde_json::from_value(template).unwrap();
        Ok(vec![template].into())
    }

    async fn read_resource(&self, uri: &str, cx: &Context) -> HandlerResult {
        match uri {
            "file:///a.txt" => {
                Ok(ReadResourceResult::new(vec![ResourceContents::text(uri, "contents")]).into())
            }
            _ => {
                let code = cx.revision().resource_not_found_code();
                Err(ErrorObject::new(code, "no such resource")
                    .with_data(json!({"uri": uri}))
                    .into())
            }
        }
    }

    async fn list_prompts(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(vec![Prompt::new("summarize")].into())
    }

    async fn get_prompt(&self, name: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
        let length = arguments.get("length").and_then(Json::as_str).unwrap_or_default();
        let message = PromptMessage::user(&*format!("{name} in {length}"));
        Ok(GetPromptResult::new(vec![message]).into())
    }

    async fn complete(&self, _: Json<'_>, argument: Json<'_>, _: &Context) -> HandlerResult {
        let value = argument.get("value").and_then(Json::as_str).unwrap_or_default();
        Ok(Reply::completion(&[&format!("{value}1"), &format!("{value}2")]))
    }

    async fn other_request(&self, cx: &Context) -> HandlerResult {
        match cx.method() {
            "test_server/reverse" => {
                Ok(json!({"echoed": cx.params().map(|params| params.text().into_owned())}).into())
            }
            other => Err(HandlerError::Error(ErrorObject::method_not_found(other))),
        }
    }
}

/// Asks the client twice; the second request needs the first one's answer.
async fn ask_twice(cx: &Context) -> HandlerResult {
    let form = json!({"message": "name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}});
    let first = cx.ask("name", ServerRequest::Elicitation, form).await?;
    let name = first
        .view()
        .get_path(&["content", "name"])
        .and_then(Json::as_str)
        .unwrap_or_default()
        .into_owned();
    let roots = cx.ask("roots", ServerRequest::Roots, json!({})).await?;
    let count = roots.view().get("roots").map_or(0, |roots| roots.items().count());
    Ok(CallToolResult::text(format!("{name} has {count} roots")).into())
}

async fn wait(signal: Option<mpsc::UnboundedSender<&'static str>>) -> HandlerResult {
    struct DropSignal(Option<mpsc::UnboundedSender<&'static str>>);
    impl Drop for DropSignal {
        fn drop(&mut self) {
            if let Some(sender) = &self.0 {
                let _ = sender.send("dropped");
            }
        }
    }
    let signal = DropSignal(signal);
    if let Some(sender) = &signal.0 {
        let _ = sender.send("started");
    }
    std::future::pending::<()>().await;
    Ok(Reply::empty())
}

/// A client connected to a [`TestServer`] in memory.
pub(crate) struct TestConnection {
    pub(crate) client: Client,
    pub(crate) server: Server<TestServer>,
    pub(crate) running: ServerTask,
}

impl TestConnection {
    pub(crate) async fn start(revision: Revision) -> TestConnection {
        TestConnection::with(
            Client::builder().revision(revision),
            TestServer::default(),
            LinkKind::Shared,
        )
        .await
    }

    pub(crate) async fn with(
        builder: ClientBuilder,
        test_server: TestServer,
        kind: LinkKind,
    ) -> TestConnection {
        let (here, there) = memory(kind);
        let server = Server::new(test_server);
        let running = server.spawn(there);
        let client = within(builder.connect(here)).await.unwrap();
        TestConnection { client, server, running }
    }
}

/// Adds handlers for all server requests.
pub(crate) fn answering(builder: ClientBuilder) -> ClientBuilder {
    let name = json!({"action": "accept", "content": {"name": "Ada"}});
    let answer = move |_| std::future::ready(Ok::<Value, ErrorObject>(name.clone()));
    builder.answer(ServerRequest::Elicitation, answer).roots(["file:///one", "file:///two"])
}
