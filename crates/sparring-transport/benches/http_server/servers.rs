//! The measured servers, each in its own process, which prints its address.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use axum::serve::ListenerExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ContentBlock, ServerCapabilities as Theirs,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sparring_peer::server::{Context, HandlerResult};
use sparring_peer::{Handler, Server};
use sparring_transport::http::{HttpOptions, HttpServer};
use sparring_wire::Json;
use sparring_wire::types::{CallToolResult, ServerCapabilities};
use tokio::net::TcpListener;

/// A server in its own process, which ends when this is dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Served {
    pub(crate) fn start(which: &str) -> Self {
        let program = std::env::current_exe().expect("this program has a path");
        Served::by(Command::new(program).arg(which))
    }

    /// Starts a program whose first line is its address.
    pub(crate) fn by(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("it prints its address");
        Served { child, address: line.trim().parse().expect("an address") }
    }

    /// Returns the memory of the process, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<usize>().ok());
        kibibytes.unwrap_or_default() * 1024
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn listen() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("{}", listener.local_addr().expect("an address"));
    listener
}

struct Echo;

impl Handler for Echo {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
        if name == "change" {
            SERVER.get().expect("it serves").tools_changed();
        }
        let message = arguments.get("message").and_then(Json::as_str).unwrap_or_default();
        Ok(CallToolResult::text(message).into())
    }
}

static SERVER: OnceLock<Server<Echo>> = OnceLock::new();

pub(crate) async fn ours() {
    let server = SERVER.get_or_init(|| Server::new(Echo));
    let http = HttpServer::new(server.clone(), HttpOptions::default());
    let _serving = http.serve(listen().await);
    std::future::pending().await
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(Theirs::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let message = arguments.get("message").and_then(|message| message.as_str());
        let content = ContentBlock::text(message.unwrap_or_default());
        Ok(rmcp::model::CallToolResult::success(vec![content]).into())
    }
}

pub(crate) async fn rmcp() {
    let service = |json| {
        let mut config = StreamableHttpServerConfig::default();
        config.json_response = json;
        let sessions = LocalSessionManager::default().into();
        StreamableHttpService::new(|| Ok(Echo), sessions, config)
    };
    let router = Router::new().nest_service("/mcp", service(false));
    serve(router.nest_service("/json", service(true))).await;
}

pub(crate) async fn bare() {
    let echo = |body: Bytes| async { ([(CONTENT_TYPE, "application/json")], body) };
    serve(Router::new().route("/mcp", post(echo))).await;
}

/// Without delay, like our server; otherwise a stream waits for acknowledgements.
async fn serve(router: Router) {
    let listener = listen().await.tap_io(|stream| {
        stream.set_nodelay(true).expect("a socket");
    });
    axum::serve(listener, router).await.expect("axum serves");
}
