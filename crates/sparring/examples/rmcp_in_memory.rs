//! Tests a server of the official SDK in this process, without a port or a child
//! process, and prints the transcript.

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use sparring::{Client, Revision};

struct Adder;

impl ServerHandler for Adder {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let number =
            |name| arguments.get(name).and_then(|value: &serde_json::Value| value.as_i64());
        match (number("a"), number("b")) {
            (Some(a), Some(b)) => {
                Ok(CallToolResult::success(vec![ContentBlock::text((a + b).to_string())]).into())
            }
            _ => Err(ErrorData::invalid_params("a and b must be numbers", None)),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = Client::builder().revision(revision).in_memory(Adder).await?;
        let sum = client.call_tool("add", json!({"a": 2, "b": 3})).await?;
        anyhow::ensure!(sum.content() == "5");
        let wrong = client.call_tool("add", json!({"a": "two"})).await?;
        anyhow::ensure!(wrong.error_code() == Some(-32602));
        anyhow::ensure!(client.transcript().violations().is_empty());
        for entry in client.transcript().entries() {
            println!("{:>9.3?} {:<6} {}", entry.at, entry.from, entry.frame.text());
        }
    }
    Ok(())
}
