//! A client over HTTP+SSE with `rust-mcp-sdk`, for the tests: connects to the URL in its
//! arguments and prints the received results as JSON.
//!
//! The first argument is the revision to request.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use async_trait::async_trait;
use rust_mcp_sdk::error::{McpSdkError, SdkResult};
use rust_mcp_sdk::mcp_client::{ClientHandler, ClientRuntime, McpClientOptions, client_runtime};
use rust_mcp_sdk::schema::{
    ElicitRequestParams, ElicitResult, ProgressNotificationParams, RpcError,
};
use rust_mcp_sdk::{
    ClientSseTransport, ClientSseTransportOptions, McpClient, ToMcpClientHandler as _,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

struct Guest {
    progress: Arc<Mutex<Vec<f64>>>,
}

#[async_trait]
impl ClientHandler for Guest {
    async fn handle_elicit_request(
        &self,
        _: ElicitRequestParams,
        _: &dyn McpClient,
    ) -> Result<ElicitResult, RpcError> {
        made_of(json!({"action": "accept", "content": {"name": "Ali"}}))
    }

    async fn handle_progress_notification(
        &self,
        params: ProgressNotificationParams,
        _: &dyn McpClient,
    ) -> Result<(), RpcError> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).push(params.progress);
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what was heard is the result")]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let revision = args.next().context("no revision given")?;
    let url = args.next().context("no URL given")?;

    let heard = meet(&revision, &url).await.map_err(|error| anyhow::anyhow!("{error}"))?;
    println!("{heard}");
    Ok(())
}

async fn meet(revision: &str, url: &str) -> SdkResult<Value> {
    let progress = Arc::<Mutex<Vec<f64>>>::default();
    let details = json!({
        "protocolVersion": revision,
        "clientInfo": {"name": "guest", "version": "1.1"},
        "capabilities": {"elicitation": {}},
    });
    let client = client_runtime::create_client(McpClientOptions {
        client_details: made_of(details)?,
        transport: ClientSseTransport::new(url, ClientSseTransportOptions::default())?,
        handler: Guest { progress: Arc::clone(&progress) }.to_mcp_client_handler(),
        task_store: None,
        server_task_store: None,
        message_observer: None,
    });
    Arc::clone(&client).start().await?;
    let mut heard = converse(&client).await?;
    client.shut_down().await?;
    heard["progress"] = json!(*progress.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(heard)
}

async fn converse(client: &Arc<ClientRuntime>) -> SdkResult<Value> {
    let version = client.server_info().map(|info| info.protocol_version);
    let tools = client.request_tool_list(None).await?.tools;
    let resources = client.request_resource_list(None).await?.resources;
    let prompts = client.request_prompt_list(None).await?.prompts;
    let note = client.request_resource_read(made_of(json!({"uri": "desk://note"}))?).await?;
    let prompt = client.request_prompt(made_of(json!({"name": "greet"}))?).await?;
    let counting = json!({"name": "progress", "_meta": {"progressToken": "steps"}});
    let ask = match call(client, json!({"name": "ask"})).await {
        Ok(result) => text_of(&result),
        Err(error) => code_of(error)?,
    };
    let missing = match call(client, json!({"name": "fly"})).await {
        Ok(result) => text_of(&result),
        Err(error) => code_of(error)?,
    };
    let echo = json!({"name": "echo", "arguments": {"message": "a\n😀"}});
    let add = |a: Value| json!({"name": "add", "arguments": {"a": a, "b": 3}});
    Ok(json!({
        "version": version,
        "tools": tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(),
        "resources": resources.iter().map(|resource| &*resource.uri).collect::<Vec<_>>(),
        "prompts": prompts.iter().map(|prompt| &*prompt.name).collect::<Vec<_>>(),
        "note": note.contents[0],
        "prompt": json!(prompt.messages[0].content)["text"],
        "echo": text_of(&call(client, echo).await?),
        "add": text_of(&call(client, add(json!(2))).await?),
        "failed": call(client, add(json!("two"))).await?["isError"],
        "counted": text_of(&call(client, counting).await?),
        "ask": ask,
        "missing": missing,
    }))
}

async fn call(client: &Arc<ClientRuntime>, params: Value) -> SdkResult<Value> {
    let result = client.request_tool_call(made_of(params)?).await?;
    Ok(json!(result))
}

fn text_of(result: &Value) -> Value {
    result["content"][0]["text"].clone()
}

fn code_of(error: McpSdkError) -> SdkResult<Value> {
    match error {
        McpSdkError::RpcError(error) => Ok(json!(error.code)),
        other => Err(other),
    }
}

/// Builds one of the SDK's many types from its JSON form.
fn made_of<T: DeserializeOwned>(value: Value) -> Result<T, RpcError> {
    serde_json::from_value(value)
        .map_err(|error| RpcError::internal_error().with_message(error.to_string()))
}
