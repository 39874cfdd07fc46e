//! A server with the official SDK, `rmcp`, that the tests start as a real process: over stdio,
//! or over HTTP on the given port.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest,
    ElicitRequestParams, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, InputRequest, InputRequests, InputRequiredResult, ListPromptsResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    Prompt, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, Role, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

struct ExampleHandler;

impl ServerHandler for ExampleHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("desk", "3.8"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Map::from_iter([("type".to_owned(), "object".into())]);
        let names = ["echo", "progress", "ask"];
        let tools = names.map(|name| Tool::new(name, "a tool", schema.clone()));
        Ok(ListToolsResult::with_all_items(tools.into()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "echo" => {
                let message = request.arguments.as_ref().and_then(|it| it.get("message"));
                Ok(text(message.and_then(Value::as_str).unwrap_or_default()))
            }
            "progress" => progress(&context).await,
            "ask" => ask(&request, &context).await,
            name => Err(ErrorData::invalid_params(format!("no tool {name:?}"), None)),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new("desk://note", "note")]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match &*request.uri {
            uri @ "desk://note" => {
                let note = ResourceContents::text("water the plants", uri);
                Ok(ReadResourceResult::new(vec![note]).into())
            }
            _ => Err(ErrorData::resource_not_found("no such resource", None)),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new("greet", Some("greets"), None)]))
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let message = PromptMessage::new_text(Role::User, "Say hello.");
        Ok(GetPromptResult::new(vec![message]).into())
    }
}

async fn progress(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let token = context.meta.get_progress_token();
    let token = token.ok_or_else(|| ErrorData::invalid_params("no progress token", None))?;
    for step in 1..=3 {
        let step = ProgressNotificationParam::new(token.clone(), f64::from(step)).with_total(3.0);
        context.peer.notify_progress(step).await.map_err(internal)?;
    }
    Ok(text("done"))
}

/// Asks with a request, or since 2026-07-28 with a result.
async fn ask(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let question = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "Who are you?".to_owned(),
        requested_schema: serde_json::from_value(schema).map_err(internal)?,
    };
    let modern = context.protocol_version().is_some_and(|version| !version.has_initialize());
    let answer = match (&request.input_responses, modern) {
        (Some(answers), _) => answers.get("name").cloned().unwrap_or_default(),
        (None, true) => {
            let question = InputRequest::Elicitation(ElicitRequest::new(question));
            let questions = InputRequests::from([("name".to_owned(), question)]);
            return Ok(InputRequiredResult::from_input_requests(questions).into());
        }
        (None, false) => {
            let answer = context.peer.create_elicitation(question).await.map_err(internal)?;
            serde_json::to_value(answer).map_err(internal)?
        }
    };
    Ok(text(&format!("hello {}", answer["content"]["name"].as_str().unwrap_or("nobody"))))
}

fn text(text: &str) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn internal(error: impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let Some(port) = std::env::args().nth(1) else {
        let running = ExampleHandler.serve(stdio()).await?;
        running.waiting().await?;
        return Ok(());
    };
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(|| Ok(ExampleHandler), sessions, config);
    eprintln!("listening on {}", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
