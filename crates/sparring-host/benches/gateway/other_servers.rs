//! Servers of other projects: rmcp's, in this program, and npm's
//! `server-everything`.

use std::path::PathBuf;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::io::stdio_pipes;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use sparring_transport::ChildTarget;

struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = serde_json::Map::from_iter([("type".to_owned(), "object".into())]);
        Ok(ListToolsResult::with_all_items(vec![Tool::new("echo", "", schema)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let message = arguments.get("message").and_then(|message| message.as_str());
        let content = ContentBlock::text(message.unwrap_or_default());
        Ok(CallToolResult::success(vec![content]).into())
    }
}

/// Serves on stdin and stdout, with rmcp's faster transport.
pub(crate) async fn serve_rmcp() {
    let server = Echo.serve(stdio_pipes()).await.expect("rmcp serves");
    server.waiting().await.expect("rmcp ends");
}

/// npm's server, if the peers are installed.
pub(crate) fn everything() -> Option<ChildTarget> {
    let peers = PathBuf::from(std::env::var_os("SPAR_PEERS_DIR")?);
    let program = peers.join("node/node_modules/.bin/mcp-server-everything");
    let program = program.to_string_lossy().into_owned();
    std::path::Path::new(&program).exists().then(|| ChildTarget::new(program).args(["stdio"]))
}
