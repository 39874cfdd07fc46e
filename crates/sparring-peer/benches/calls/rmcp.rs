//! rmcp's client on rmcp's server, over `tokio::io::duplex`.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, RoleServer, ServerHandler,
    ServiceExt,
};
use sparring_wire::Revision;

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
        let message =
            arguments.get("message").and_then(|message| message.as_str()).unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(message)]).into())
    }
}

pub(crate) struct Rmcp {
    client: RunningService<RoleClient, ()>,
}

impl Rmcp {
    pub(crate) async fn connect(revision: Revision) -> Self {
        let (here, there) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move {
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
        Rmcp { client }
    }
}

impl super::measure::Contestant for Rmcp {
    async fn call(&self) {
        let arguments = serde_json::Map::from_iter([("message".to_owned(), "hello".into())]);
        let params = CallToolRequestParams::new("echo").with_arguments(arguments);
        let result = self.client.call_tool(params).await.expect("an answer");
        assert_eq!(result.is_error, Some(false));
    }
}
