//! Connections to one server: directly, through a gateway in this process, and
//! through a gateway in another process.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sparring_host::config::{Origin, Reconnect, Rules, Scope, ServerConfig};
use sparring_host::gateway::{self, Gateway};
use sparring_host::manager::Manager;
use sparring_host::permissions::{PermissionGate, PermissionGateOptions, Permissions, Policy};
use sparring_host::registry::Registry;
use sparring_peer::link::LineLinkOptions;
use sparring_peer::server::{Context, Handler, HandlerResult, ServerTask};
use sparring_peer::{Client, Link, LinkKind, Protocol, Server, memory};
use sparring_transport::{ChildLink, ChildTarget, Target, stdio};
use sparring_wire::types::{CallToolResult, ServerCapabilities, Tool};
use sparring_wire::{Json, RawJson, Revision};

/// The revision of all peers.
const REVISION: Revision = Revision::V2025_11_25;

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

pub(crate) async fn serve_echo() {
    Server::new(Echo).serve(stdio(LineLinkOptions::default())).await;
}

/// Runs a gateway on stdin and stdout, to the server with this command line.
pub(crate) async fn serve_gateway(command_line: Vec<String>) {
    let (program, args) = command_line.split_first().expect("a server's command line");
    let (server, _manager) = gateway_to(ChildTarget::new(program).args(args)).await;
    server.serve(stdio(LineLinkOptions::default())).await;
}

/// Runs a relay on stdin and stdout, to the server with this command line.
pub(crate) fn serve_relay(command_line: &[String]) {
    let (program, args) = command_line.split_first().expect("a server's command line");
    let mut server = Command::new(program);
    server.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.spawn().expect("the server starts");
    let mut to = server.stdin.take().expect("its stdin");
    let mut from = server.stdout.take().expect("its stdout");
    std::thread::scope(|threads| {
        threads.spawn(move || copy_bytes(&mut std::io::stdin().lock(), &mut to));
        // `Stdout` would buffer by lines.
        let stdout = std::io::stdout().as_fd().try_clone_to_owned().expect("our stdout");
        copy_bytes(&mut from, &mut File::from(stdout));
    });
    server.wait().expect("the server ends");
}

/// Copies bytes as they arrive, until the end.
fn copy_bytes(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = [0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        to.write_all(&buffer[..read]).expect("there is a reader");
    }
}

/// A client, with everything that its calls need.
pub(crate) struct Route {
    client: Client,
    tool: &'static str,
    arguments: RawJson,
    _held: Option<(ServerTask, Manager)>,
}

impl Route {
    /// Directly to the server.
    pub(crate) async fn direct(server: &ChildTarget) -> Route {
        let link = ChildLink::spawn(server).expect("the server starts");
        Route::new(link, "echo", None).await
    }

    /// Through a process that only copies bytes: the minimum cost of any
    /// gateway in another process.
    pub(crate) async fn relayed(server: &ChildTarget) -> Route {
        let relay = this_program("serve-relay").args(command_line(server));
        let link = ChildLink::spawn(&relay).expect("this program starts");
        Route::new(link, "echo", None).await
    }

    /// Through a gateway in this process.
    pub(crate) async fn in_process(server: &ChildTarget) -> Route {
        let (server, manager) = gateway_to(server.clone()).await;
        let (ours, theirs) = memory(LinkKind::Shared);
        let running = server.spawn(theirs);
        Route::new(ours, "mcp__echo__echo", Some((running, manager))).await
    }

    /// Through a gateway in another process.
    pub(crate) async fn other_process(server: &ChildTarget) -> Route {
        let gateway = this_program("serve-gateway").args(command_line(server));
        let link = ChildLink::spawn(&gateway).expect("this program starts");
        Route::new(link, "mcp__echo__echo", None).await
    }

    async fn new(
        link: impl Link,
        tool: &'static str,
        held: Option<(ServerTask, Manager)>,
    ) -> Route {
        let client = Client::builder().revision(REVISION).connect(link).await;
        let client = client.expect("the server can be talked to");
        Route { client, tool, arguments: json!({"message": "hello"}).into(), _held: held }
    }
}

impl super::measure::Contestant for Route {
    async fn call(&self) {
        let call = self.client.call_tool(self.tool, self.arguments.clone());
        assert!(call.await.expect("an answer").success());
    }
}

async fn gateway_to(server: ChildTarget) -> (Server<Gateway>, Manager) {
    let config = ServerConfig {
        name: "echo".to_owned(),
        origin: Origin { file: "mcp.yaml".into(), scope: Scope::User, line: 1, column: 1 },
        target: Target::Child(server),
        protocol: Protocol::Only(REVISION),
        enabled: true,
        auto_connect: true,
        timeout: Duration::from_secs(30),
        reconnect: Reconnect::default(),
        rules: Rules { allow: vec!["*".to_owned()], ..Rules::default() },
    };
    let (permissions, _) = Permissions::new(&Policy::default(), [&config]);
    let registry =
        Registry::new(PermissionGate::new(permissions, PermissionGateOptions::default()));
    let registry = Arc::new(registry);
    let client = gateway::configure_client(Manager::default_client());
    let manager = Manager::builder().servers([config]).client(client).build();
    manager.connect("echo").await.expect("the server starts");
    let server = Server::new(Gateway::new(manager.clone(), registry));
    server.handler().finish_startup();
    (server, manager)
}

/// The command line of a server.
fn command_line(server: &ChildTarget) -> Vec<String> {
    std::iter::once(&server.program).chain(&server.args).cloned().collect()
}

pub(crate) fn this_program(kind: &str) -> ChildTarget {
    let program = std::env::current_exe().expect("this program has a path");
    ChildTarget::new(program.to_string_lossy().into_owned()).args([kind])
}
