//! A server with tools that the tests control, and that report their events.

use std::time::Duration;

use serde_json::json;
use sparring_peer::client::ServerRequest;
use sparring_peer::server::{Context, HandlerResult};
use sparring_peer::{Handler, Server};
use sparring_transport::http::{HttpOptions, HttpServer, HttpServerHandle};
use sparring_wire::types::{CallToolResult, Implementation, ServerCapabilities, Tool};
use sparring_wire::{ErrorObject, Json, RawJson, Revision};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};

use super::requests::Connection;

/// The tools: `echo`, `wait` (until released), `steps` (sends a notification, then waits),
/// `cut` (cuts its connection, then waits), `many` (sends many notifications), `ask`.
pub(super) struct ControlledTools {
    permits: Semaphore,
    event_sender: mpsc::UnboundedSender<&'static str>,
}

impl Handler for ControlledTools {
    fn info(&self) -> Implementation {
        Implementation::new("hall", "1.0.0")
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    fn input_schema(&self, tool: &str) -> Option<RawJson> {
        let region = json!({"type": "string", "x-mcp-header": "Region"});
        (tool == "echo").then(|| json!({"properties": {"region": region}}).into())
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(vec![Tool::new("echo"), Tool::new("wait")].into())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, cx: &Context) -> HandlerResult {
        let running = RunningCall { tools: self, over: false };
        let notify = |number: u64| {
            cx.notify("notifications/said", Some(json!({"number": number}).into()));
        };
        let message = arguments.get("message").and_then(Json::as_str).unwrap_or_default();
        let text = match name {
            "echo" => message.into_owned(),
            "wait" => {
                running.wait().await;
                "waited".to_owned()
            }
            "steps" => {
                notify(1);
                running.wait().await;
                notify(2);
                "stepped".to_owned()
            }
            "cut" => {
                cx.close_stream();
                running.wait().await;
                "after".to_owned()
            }
            "many" => {
                (1..=50).for_each(notify);
                "said".to_owned()
            }
            "ask" => {
                let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
                let params = json!({"message": "who?", "requestedSchema": schema});
                let answer = cx.ask("name", ServerRequest::Elicitation, params).await?;
                answer
                    .view()
                    .get_path(&["content", "name"])
                    .and_then(Json::as_str)
                    .unwrap()
                    .into_owned()
            }
            other => return Err(ErrorObject::invalid_params(format!("no tool {other}")).into()),
        };
        running.end();
        Ok(CallToolResult::text(text).into())
    }
}

impl ControlledTools {
    /// Releases one waiting call.
    pub(super) fn release_call(&self) {
        self.permits.add_permits(1);
    }
}

/// A call that reports when it is dropped before its end.
struct RunningCall<'a> {
    tools: &'a ControlledTools,
    over: bool,
}

impl RunningCall<'_> {
    async fn wait(&self) {
        let _ = self.tools.event_sender.send("begun");
        self.tools.permits.acquire().await.expect("never closed").forget();
    }

    fn end(mut self) {
        self.over = true;
    }
}

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        if !self.over {
            let _ = self.tools.event_sender.send("dropped");
        }
    }
}

/// A server on its own port.
pub(super) struct TestServer {
    pub(super) http: HttpServer<ControlledTools>,
    pub(super) serving: HttpServerHandle,
    pub(super) events: mpsc::UnboundedReceiver<&'static str>,
}

/// Returns options with short timeouts.
pub(super) fn options() -> HttpOptions {
    HttpOptions { retry: Duration::from_millis(7), ..HttpOptions::default() }
}

pub(super) fn controlled_server(
    revisions: &[Revision],
    options: HttpOptions,
) -> (HttpServer<ControlledTools>, mpsc::UnboundedReceiver<&'static str>) {
    let (event_sender, events) = mpsc::unbounded_channel();
    let tools = ControlledTools { permits: Semaphore::new(0), event_sender };
    (HttpServer::new(Server::with_revisions(tools, revisions), options), events)
}

impl TestServer {
    pub(super) async fn open() -> TestServer {
        TestServer::with(options()).await
    }

    pub(super) async fn with(options: HttpOptions) -> TestServer {
        TestServer::with_revisions(&Revision::ALL, options).await
    }

    pub(super) async fn with_revisions(revisions: &[Revision], options: HttpOptions) -> TestServer {
        let (http, events) = controlled_server(revisions, options);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let serving = http.serve(listener);
        TestServer { http, serving, events }
    }

    pub(super) async fn connect(&self) -> Connection {
        Connection::to(self.serving.address().unwrap()).await
    }

    /// Releases one waiting call.
    pub(super) fn release_call(&self) {
        self.http.server().handler().release_call();
    }

    /// Returns the next event of a call.
    pub(super) async fn next(&mut self) -> &'static str {
        let next = self.events.recv();
        tokio::time::timeout(Duration::from_secs(10), next).await.expect("in time").unwrap()
    }
}

/// Waits until a condition holds; checks it again after other tasks have run.
pub(super) async fn until(what: &str, condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.expect(what);
}
