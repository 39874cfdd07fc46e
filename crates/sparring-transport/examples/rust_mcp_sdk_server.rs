//! A server over HTTP+SSE with `rust-mcp-sdk`, that the tests start as a real process: at
//! `/sse`, on the given port.
//!
//! The SDK's own server crate includes authorization, which is not needed; these routes replace
//! it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use axum::routing::{get, post};
use http_body_util::BodyExt as _;
use rust_mcp_sdk::id_generator::{FastIdGenerator, UuidGenerator};
use rust_mcp_sdk::mcp_http::{GenericBody, McpAppState, McpHttpError, McpHttpHandler};
use rust_mcp_sdk::mcp_server::ServerHandler;
use rust_mcp_sdk::schema::{
    CallToolError, CallToolRequestParams, CallToolResult, GetPromptRequestParams, GetPromptResult,
    ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResult, RpcError,
};
use rust_mcp_sdk::session_store::InMemorySessionStore;
use rust_mcp_sdk::{McpServer, ToMcpServerHandler as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpListener;

type Runtime = Arc<dyn McpServer>;
type Page = Option<PaginatedRequestParams>;

struct ExampleHandler;

#[async_trait]
impl ServerHandler for ExampleHandler {
    async fn handle_list_tools_request(
        &self,
        _: Page,
        _: Runtime,
    ) -> Result<ListToolsResult, RpcError> {
        let schema = json!({"type": "object"});
        let tools = ["echo", "progress", "ask"];
        let tools = tools.map(|name| json!({"name": name, "inputSchema": schema}));
        made_of(json!({"tools": tools}))
    }

    async fn handle_call_tool_request(
        &self,
        params: CallToolRequestParams,
        runtime: Runtime,
    ) -> Result<CallToolResult, CallToolError> {
        let text = match &*params.name {
            "echo" => {
                let message = params.arguments.as_ref().and_then(|it| it.get("message"));
                Ok(message.and_then(Value::as_str).unwrap_or_default().to_owned())
            }
            "progress" => progress(&params, &runtime).await,
            "ask" => ask(&runtime).await,
            name => return Err(CallToolError::unknown_tool(name)),
        };
        made_of(json!({"content": [{"type": "text", "text": text?}]})).map_err(failed)
    }

    async fn handle_list_resources_request(
        &self,
        _: Page,
        _: Runtime,
    ) -> Result<ListResourcesResult, RpcError> {
        made_of(json!({"resources": [{"uri": "desk://note", "name": "note"}]}))
    }

    async fn handle_read_resource_request(
        &self,
        params: ReadResourceRequestParams,
        _: Runtime,
    ) -> Result<ReadResourceResult, RpcError> {
        match &*params.uri {
            uri @ "desk://note" => {
                made_of(json!({"contents": [{"uri": uri, "text": "water the plants"}]}))
            }
            _ => Err(RpcError::invalid_params().with_message("no such resource")),
        }
    }

    async fn handle_list_prompts_request(
        &self,
        _: Page,
        _: Runtime,
    ) -> Result<ListPromptsResult, RpcError> {
        made_of(json!({"prompts": [{"name": "greet"}]}))
    }

    async fn handle_get_prompt_request(
        &self,
        _: GetPromptRequestParams,
        _: Runtime,
    ) -> Result<GetPromptResult, RpcError> {
        let hello = json!({"type": "text", "text": "Say hello."});
        made_of(json!({"messages": [{"role": "user", "content": hello}]}))
    }
}

async fn progress(
    params: &CallToolRequestParams,
    runtime: &Runtime,
) -> Result<String, CallToolError> {
    let token = params.meta.as_ref().and_then(|meta| meta.progress_token.clone());
    let token = token.ok_or_else(|| failed("no progress token"))?;
    for step in 1..=3 {
        let step = json!({"progressToken": token, "progress": step, "total": 3});
        let step = made_of(step).map_err(failed)?;
        runtime.notify_progress(step).await.map_err(failed)?;
    }
    Ok("done".to_owned())
}

async fn ask(runtime: &Runtime) -> Result<String, CallToolError> {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let question = json!({"message": "Who are you?", "requestedSchema": schema});
    let question = made_of(question).map_err(failed)?;
    let answer = runtime.request_elicitation(question).await.map_err(failed)?;
    let answer = serde_json::to_value(answer).map_err(failed)?;
    Ok(format!("hello {}", answer["content"]["name"].as_str().unwrap_or("nobody")))
}

/// Builds one of the SDK's many types from its JSON form.
fn made_of<T: DeserializeOwned>(value: Value) -> Result<T, RpcError> {
    serde_json::from_value(value)
        .map_err(|error| RpcError::internal_error().with_message(error.to_string()))
}

fn failed(error: impl ToString) -> CallToolError {
    CallToolError::from_message(error.to_string())
}

#[derive(Clone)]
struct Routes {
    http: Arc<McpHttpHandler>,
    state: Arc<McpAppState>,
}

async fn connect(State(routes): State<Routes>, request: Request) -> Response<Body> {
    let (parts, _) = request.into_parts();
    let request = axum::http::Request::from_parts(parts, "");
    answer(routes.http.handle_sse_connection(request, routes.state, None).await)
}

async fn message(State(routes): State<Routes>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let body = String::from_utf8_lossy(&body);
    let request = axum::http::Request::from_parts(parts, &*body);
    answer(routes.http.handle_sse_message(request, routes.state).await)
}

fn answer(outcome: Result<Response<GenericBody>, McpHttpError>) -> Response<Body> {
    outcome.map(|response| response.map(Body::new)).unwrap_or_else(|error| {
        let mut response = Response::new(Body::from(error.to_string()));
        *response.status_mut() = StatusCode::BAD_REQUEST;
        response
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let port = std::env::args().nth(1).context("no port given")?;
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    let details = json!({
        "protocolVersion": "2025-11-25",
        "serverInfo": {"name": "desk", "version": "1.1"},
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
    });
    let state = McpAppState {
        session_store: Arc::new(InMemorySessionStore::new()),
        id_generator: Arc::new(UuidGenerator {}),
        stream_id_gen: Arc::new(FastIdGenerator::new(Some("s_"))),
        server_details: Arc::new(made_of(details)?),
        handler: ExampleHandler.to_mcp_server_handler(),
        ping_interval: Duration::from_secs(12),
        transport_options: Arc::default(),
        enable_json_response: false,
        event_store: None,
        task_store: None,
        client_task_store: None,
        message_observer: None,
    };
    let http = Arc::new(McpHttpHandler::new(Vec::new(), None));
    let routes = Routes { http, state: Arc::new(state) };
    let app = Router::new()
        .route("/sse", get(connect))
        .route("/messages", post(message))
        .with_state(routes);
    eprintln!("listening on {}", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}
