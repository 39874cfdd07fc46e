//! A client with the official SDK, `rmcp`, for the tests: connects to the command or the URL in
//! its arguments and prints the received results as JSON.
//!
//! The first argument is the revision, or `auto`.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, GetPromptRequestParams, Implementation,
    ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService, ServiceError};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde_json::{Value, json};
use tokio::process::Command;

#[derive(Clone)]
struct Guest {
    version: ProtocolVersion,
    progress: Arc<Mutex<Vec<f64>>>,
}

impl ClientHandler for Guest {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("guest", "3.8"))
            .with_protocol_version(self.version.clone())
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"name": "Ferris"})))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).push(params.progress);
    }
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what was heard is the result")]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let revision = args.next().context("no revision given")?;
    let command = args.next().context("no command given")?;

    let modern = ProtocolVersion::V_2026_07_28;
    let (version, lifecycle) = match &*revision {
        "auto" => {
            let preferred_versions = vec![modern.clone()];
            (modern, ClientLifecycleMode::Auto { preferred_versions, legacy_version: None })
        }
        name => {
            let mut known = ProtocolVersion::KNOWN_VERSIONS.iter();
            let version = known.find(|known| known.as_str() == name).context("no such revision")?;
            let preferred_versions = vec![version.clone()];
            match version.has_initialize() {
                true => (version.clone(), ClientLifecycleMode::Initialize),
                false => (modern, ClientLifecycleMode::Discover { preferred_versions }),
            }
        }
    };
    let guest = Guest { version, progress: Arc::default() };
    let progress = Arc::clone(&guest.progress);
    let client = if command.starts_with("http://") {
        let url = StreamableHttpClientTransport::from_uri(command);
        guest.serve_with_lifecycle(url, lifecycle).await?
    } else {
        let mut child = Command::new(command);
        child.args(args);
        guest.serve_with_lifecycle(TokioChildProcess::new(child)?, lifecycle).await?
    };
    let mut heard = conversation(&client).await?;
    client.cancel().await?;
    heard["progress"] = json!(*progress.lock().unwrap_or_else(PoisonError::into_inner));
    println!("{heard}");
    Ok(())
}

async fn conversation(client: &RunningService<RoleClient, Guest>) -> anyhow::Result<Value> {
    let info = client.peer_info().context("the server says nothing of itself")?;
    let version = info.protocol_version.as_str().to_owned();
    let tools = client.list_all_tools().await?;
    let tools: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    let resources = client.list_all_resources().await?;
    let resources: Vec<_> = resources.iter().map(|resource| &*resource.uri).collect();
    let prompts = client.list_all_prompts().await?;
    let prompts: Vec<_> = prompts.iter().map(|prompt| &*prompt.name).collect();
    let note = client.read_resource(ReadResourceRequestParams::new("desk://note")).await?;
    let prompt = client.get_prompt(GetPromptRequestParams::new("greet")).await?;
    let prompt = prompt.messages[0].content.as_text().map(|text| text.text.clone());
    let ask = match call(client, "ask", json!({})).await {
        Ok(result) => json!(text_of(&result)),
        Err(error) => json!(code_of(error)?),
    };
    let missing = call(client, "fly", json!({})).await.err().context("`fly` is no tool")?;
    Ok(json!({
        "version": version,
        "tools": tools,
        "resources": resources,
        "prompts": prompts,
        "note": note.contents[0],
        "prompt": prompt,
        "echo": text_of(&call(client, "echo", json!({"message": "a\n😀"})).await?),
        "add": text_of(&call(client, "add", json!({"a": 2, "b": 3})).await?),
        "failed": call(client, "add", json!({"a": "two"})).await?.is_error,
        "counted": text_of(&call(client, "progress", json!({})).await?),
        "ask": ask,
        "missing": code_of(missing)?,
    }))
}

async fn call(
    client: &RunningService<RoleClient, Guest>,
    tool: &'static str,
    arguments: Value,
) -> Result<CallToolResult, ServiceError> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await
}

fn text_of(result: &CallToolResult) -> Option<&str> {
    result.content.first().and_then(|content| content.as_text()).map(|text| &*text.text)
}

fn code_of(error: ServiceError) -> anyhow::Result<i32> {
    match error {
        ServiceError::McpError(error) => Ok(error.code.0),
        other => Err(other.into()),
    }
}
