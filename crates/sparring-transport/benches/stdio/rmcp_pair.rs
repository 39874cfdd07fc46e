//! rmcp's client against rmcp's server, with its faster stdio transport.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::transport::io::stdio_pipes;
use rmcp::{ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt};
use tokio::process::Command;

struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
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

pub(crate) async fn serve() {
    let server = Echo.serve(stdio_pipes()).await.expect("rmcp serves");
    server.waiting().await.expect("rmcp ends");
}

pub(crate) struct Rmcp {
    client: RunningService<RoleClient, ()>,
}

impl Rmcp {
    pub(crate) async fn connect() -> Self {
        let mut command = Command::new(super::this_program());
        command.arg("serve-rmcp");
        let child = TokioChildProcess::new(command).expect("this program starts");
        Rmcp { client: ().serve(child).await.expect("rmcp connects") }
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
