//! rmcp's server, and rmcp's client on it over `tokio::io::duplex`.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, ErrorData, RoleServer, ServerHandler,
    ServiceExt as _,
};
use sparring::Revision;

use super::CALLS;

/// The same trivial tool.
pub(crate) struct Echo;

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
        let message =
            arguments.get("message").and_then(|message| message.as_str()).unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(message)]).into())
    }
}

/// Runs a test body with rmcp's client.
pub(crate) async fn run_on_rmcp(revision: Revision) {
    let (here, there) = tokio::io::duplex(64 * 1024);
    let serving = tokio::spawn(async move {
        let server = Echo.serve(there).await.expect("rmcp serves");
        server.waiting().await.expect("rmcp ends");
    });
    let lifecycle = match revision.is_modern() {
        false => ClientLifecycleMode::Initialize,
        true => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let client = ().serve_with_lifecycle(here, lifecycle).await.expect("rmcp connects");
    let tools = client.list_all_tools().await.expect("the tools");
    assert!(tools.iter().any(|tool| tool.name == "echo"));
    for _ in 0..CALLS {
        let arguments = serde_json::Map::from_iter([("message".to_owned(), "hello".into())]);
        let params = CallToolRequestParams::new("echo").with_arguments(arguments);
        let result = client.call_tool(params).await.expect("an answer");
        assert_eq!(result.is_error, Some(false));
    }
    client.cancel().await.expect("rmcp closes");
    serving.await.expect("no panic");
}
