//! A server whose tools do as they are told, at a moment of the test's choice,
//! and say what happens to them.

use std::time::Duration;

use serde_json::json;
use sparring_peer::client::Question;
use sparring_peer::server::{Answer, Context};
use sparring_peer::{Handler, Server};
use sparring_transport::http::{HttpOptions, HttpServer, Serving};
use sparring_wire::types::{CallToolResult, Implementation, ServerCapabilities, Tool};
use sparring_wire::{ErrorObject, Json, RawJson, Revision};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};

use super::requests::Connection;

/// The tools: `echo`, `wait` (until let go), `steps` (says something, then
/// waits), `cut` (breaks its connection off, then waits), `many` (says something
/// often), `ask`.
pub(super) struct Hall {
    go: Semaphore,
    happened: mpsc::UnboundedSender<&'static str>,
}

impl Handler for Hall {
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

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> Answer {
        Ok(vec![Tool::new("echo"), Tool::new("wait")].into())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, cx: &Context) -> Answer {
        let happening = Happening { hall: self, over: false };
        let say = |number: u64| {
            cx.notify("notifications/said", Some(json!({"number": number}).into()));
        };
        let message = arguments.get("message").and_then(Json::as_str).unwrap_or_default();
        let text = match name {
            "echo" => message.into_owned(),
            "wait" => {
                happening.wait().await;
                "waited".to_owned()
            }
            "steps" => {
                say(1);
                happening.wait().await;
                say(2);
                "stepped".to_owned()
            }
            "cut" => {
                cx.break_off();
                happening.wait().await;
                "after".to_owned()
            }
            "many" => {
                (1..=50).for_each(say);
                "said".to_owned()
            }
            "ask" => {
                let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
                let params = json!({"message": "who?", "requestedSchema": schema});
                let answer = cx.ask("name", Question::Elicitation, params).await?;
                answer.view().at(&["content", "name"]).and_then(Json::as_str).unwrap().into_owned()
            }
            other => return Err(ErrorObject::invalid_params(format!("no tool {other}")).into()),
        };
        happening.end();
        Ok(CallToolResult::text(text).into())
    }
}

impl Hall {
    /// Lets one call that waits go on.
    pub(super) fn let_go(&self) {
        self.go.add_permits(1);
    }
}

/// A call, which says so when it is dropped before its end.
struct Happening<'a> {
    hall: &'a Hall,
    over: bool,
}

impl Happening<'_> {
    async fn wait(&self) {
        let _ = self.hall.happened.send("begun");
        self.hall.go.acquire().await.expect("never closed").forget();
    }

    fn end(mut self) {
        self.over = true;
    }
}

impl Drop for Happening<'_> {
    fn drop(&mut self) {
        if !self.over {
            let _ = self.hall.happened.send("dropped");
        }
    }
}

/// A server at work on a port of its own.
pub(super) struct Place {
    pub(super) http: HttpServer<Hall>,
    pub(super) serving: Serving,
    pub(super) happened: mpsc::UnboundedReceiver<&'static str>,
}

/// Options with which nothing takes long.
pub(super) fn options() -> HttpOptions {
    HttpOptions { retry: Duration::from_millis(7), ..HttpOptions::default() }
}

pub(super) fn hall(
    revisions: &[Revision],
    options: HttpOptions,
) -> (HttpServer<Hall>, mpsc::UnboundedReceiver<&'static str>) {
    let (happened, events) = mpsc::unbounded_channel();
    let hall = Hall { go: Semaphore::new(0), happened };
    (HttpServer::new(Server::speaking(hall, revisions), options), events)
}

impl Place {
    pub(super) async fn open() -> Place {
        Place::with(options()).await
    }

    pub(super) async fn with(options: HttpOptions) -> Place {
        Place::speaking(&Revision::ALL, options).await
    }

    pub(super) async fn speaking(revisions: &[Revision], options: HttpOptions) -> Place {
        let (http, happened) = hall(revisions, options);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let serving = http.serve(listener);
        Place { http, serving, happened }
    }

    pub(super) async fn connect(&self) -> Connection {
        Connection::to(self.serving.address().unwrap()).await
    }

    /// Lets one call that waits go on.
    pub(super) fn let_go(&self) {
        self.http.server().handler().let_go();
    }

    /// What happened next to a call.
    pub(super) async fn next(&mut self) -> &'static str {
        let next = self.happened.recv();
        tokio::time::timeout(Duration::from_secs(10), next).await.expect("in time").unwrap()
    }
}

/// Waits until it is so, looking again whenever others had their turn.
pub(super) async fn until(what: &str, so: impl Fn() -> bool) {
    let looking = async {
        while !so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), looking).await.expect(what);
}
