//! The gateway, mostly in memory.

mod changes;
mod forwarding;
mod lists;
mod logs;
mod many_servers;
mod questions;
mod resources;
mod startup;
mod strict_clients;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sparring_host::config::ServerConfig;
use sparring_host::gateway::{self, Gateway};
use sparring_host::manager::{Manager, ManagerBuilder};
use sparring_host::permissions::{PermissionGate, PermissionGateOptions, Permissions, Policy};
use sparring_host::registry::Registry;
use sparring_mock::MockServer;
use sparring_peer::client::ServerRequest;
use sparring_peer::server::ServerTask;
use sparring_peer::{Client, ClientBuilder, LinkKind, Protocol, Server, memory};
use sparring_transport::Target;
use sparring_transport::http::{HttpOptions, HttpServer, HttpServerHandle, HttpTarget};
use sparring_wire::Revision;
use tokio::task::JoinHandle;

use crate::manager::fixture::{TestConnector, entry, within};
use crate::permissions::rules;

/// A revision of each era.
const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// A script with everything that can be forwarded.
const DESK_SCRIPT: &str = r#"
server: {name: desk, version: 1.0.0}
instructions: Be brief.
tools:
  - {name: echo, description: says it again, input: {message: string}, text: "${args.message}"}
  - {name: fail, error: {code: -31000, message: no paper, data: {left: 0}}}
  - {name: broken, text: out of ink, is_error: true}
  - name: count
    during: [{progress: {progress: 1, total: 2, message: one}}, {progress: {progress: 2, total: 2}}]
    text: done
  - {name: slow, delay: 1h, text: late}
  - name: ask
    ask: {name: {elicitation: {message: "Who?", requested_schema: {type: object, properties: {}}}}}
    text: "hello ${answers.name.content.name:-nobody}"
  - name: sample
    ask: {word: {sampling: {messages: [], max_tokens: 9}}}
    text: "the model says ${answers.word.content.text}"
  - name: look
    ask: {all: {roots: {}}}
    text: "you have ${answers.all.roots[0].uri}"
  - name: twice
    ask:
      - first: {elicitation: {message: "One?", requested_schema: {type: object, properties: {}}}}
      - second: {elicitation: {message: "Two?", requested_schema: {type: object, properties: {}}}}
    text: "${answers.first.content.name} and ${answers.second.content.name}"
resources:
  - {uri: "desk://note", name: note, text: water the plants}
templates:
  - {uri_template: "desk://drawer/{number}", name: drawer, text: a drawer}
prompts:
  - {name: greet, arguments: [{name: name}], text: "Say hello."}
completions:
  - {prompt: greet, argument: name, values: [Ada, Grace]}
"#;

/// A running gateway.
struct GatewayFixture {
    manager: Manager,
    registry: Arc<Registry>,
    server: Server<Gateway>,
    sessions: Mutex<Vec<ServerTask>>,
    following: JoinHandle<()>,
}

impl GatewayFixture {
    /// Starts a gateway to these servers with all tools allowed.
    async fn open(connector: &TestConnector, servers: &[ServerConfig]) -> GatewayFixture {
        let all: Vec<String> = servers.iter().map(|it| format!("mcp__{}", it.name)).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        GatewayFixture::with(connector, servers, &[], &all).await
    }

    /// The same with these rules.
    async fn with(
        connector: &TestConnector,
        servers: &[ServerConfig],
        deny: &[&str],
        allow: &[&str],
    ) -> GatewayFixture {
        let manager = Manager::builder().connector(connector.clone());
        GatewayFixture::with_manager(manager, servers, deny, allow).await
    }

    /// The same with a manager builder.
    async fn with_manager(
        manager: ManagerBuilder,
        servers: &[ServerConfig],
        deny: &[&str],
        allow: &[&str],
    ) -> GatewayFixture {
        let policy = Policy { user: rules(deny, &[], allow), ..Policy::default() };
        let (permissions, _) = Permissions::new(&policy, servers);
        let gate = PermissionGate::new(permissions, PermissionGateOptions::default());
        let registry = Arc::new(Registry::new(gate));
        let manager = manager
            .servers(servers.to_vec())
            // The tests read the transcripts of the servers.
            .client(gateway::configure_client(Manager::default_client()).record(true))
            .build();
        let server = Server::new(Gateway::new(manager.clone(), Arc::clone(&registry)));
        let followed = server.clone();
        let (followed_registry, followed_manager) = (Arc::clone(&registry), manager.clone());
        let following = tokio::spawn(async move {
            let registry = followed_registry.follow_manager(&followed_manager);
            tokio::join!(gateway::notify_clients(&followed), registry);
        });
        for (name, outcome) in within(manager.connect_all()).await {
            outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        server.handler().finish_startup();
        GatewayFixture { manager, registry, server, sessions: Mutex::default(), following }
    }

    /// Connects a client.
    async fn connect(&self, client: ClientBuilder) -> Client {
        let (ours, theirs) = memory(LinkKind::Shared);
        self.sessions.lock().unwrap().push(self.server.spawn(theirs));
        within(client.connect(ours)).await.unwrap()
    }

    /// Serves the gateway over HTTP too.
    async fn listen(&self) -> (HttpServerHandle, HttpTarget) {
        let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await;
        let listener = listener.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let http = HttpServer::new(self.server.clone(), HttpOptions::default());
        (http.serve(listener), HttpTarget::new(url))
    }
}

impl Drop for GatewayFixture {
    fn drop(&mut self) {
        self.following.abort();
    }
}

/// A connector with the one server `desk`, in that revision.
fn start_desk(revision: Revision) -> (TestConnector, Arc<MockServer>, Vec<ServerConfig>) {
    let connector = TestConnector::default();
    let mock = put_script(&connector, "desk", DESK_SCRIPT);
    (connector, mock, vec![server_in_revision("desk", revision)])
}

fn put_script(connector: &TestConnector, name: &str, script: &str) -> Arc<MockServer> {
    let mock = Arc::new(MockServer::from_yaml(script, ".").unwrap());
    let served = Arc::clone(&mock);
    connector.put(name, move || served.connect());
    mock
}

fn server_in_revision(name: &str, revision: Revision) -> ServerConfig {
    ServerConfig { protocol: Protocol::Only(revision), ..entry(name) }
}

/// A client that answers every question with its name.
fn answering(revision: Revision, name: &str) -> ClientBuilder {
    let content = json!({"name": name});
    let text = format!("fjord for {name}");
    plain(revision)
        .answer(ServerRequest::Elicitation, move |_| {
            let answer = json!({"action": "accept", "content": content});
            async move { Ok(answer) }
        })
        .answer(ServerRequest::Sampling, move |_| {
            let content = json!({"type": "text", "text": text});
            async move { Ok(json!({"role": "assistant", "content": content, "model": "none"})) }
        })
        .roots(["file:///srv"])
}

/// A client that answers no questions.
fn plain(revision: Revision) -> ClientBuilder {
    Client::builder().revision(revision)
}

/// Connects over HTTP.
async fn over_http(target: &HttpTarget, client: ClientBuilder) -> Client {
    let opened = Target::Http(target.clone()).open().await.unwrap();
    within(client.connect(opened.link)).await.unwrap()
}

async fn call(client: &Client, tool: &str) -> String {
    let answer = within(client.call_tool(tool, json!({})).into_future()).await.unwrap();
    assert!(answer.success(), "{}", answer.raw().text());
    answer.content()
}

/// Waits until a condition holds.
async fn until(condition: impl Fn() -> bool) {
    within(async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

fn names(list: &[Value], field: &str) -> Vec<String> {
    list.iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

/// The items of a list method.
async fn list(client: &Client, method: &'static str, field: &str) -> Vec<Value> {
    let answer = within(client.request(method, None).into_future()).await.unwrap();
    let result: Value = answer.to().unwrap();
    result[field].as_array().unwrap().clone()
}
