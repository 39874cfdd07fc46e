//! The clients that the benchmark compares.

use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::json;
use sparring_peer::Client;
use sparring_transport::http::{HttpLink, HttpTarget};
use sparring_wire::Revision;

use super::measure::Contestant;

pub(crate) struct Ours(Client);

impl Ours {
    pub(crate) async fn connect(url: &str, revision: Revision) -> Self {
        let link = HttpLink::new(&HttpTarget::new(url)).expect("a URL");
        let client = Client::builder().revision(revision).connect(link).await;
        Ours(client.expect("ours connects"))
    }
}

impl Contestant for Ours {
    async fn call(&self) {
        let response = self.0.call_tool("echo", json!({"message": "hello"})).await;
        assert!(response.expect("an answer").success());
    }
}

pub(crate) struct Rmcp(RunningService<RoleClient, ()>);

impl Rmcp {
    pub(crate) async fn connect(url: &str, revision: Revision) -> Self {
        let transport = StreamableHttpClientTransport::from_uri(url.to_owned());
        let lifecycle = match revision.is_modern() {
            false => ClientLifecycleMode::Initialize,
            true => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        };
        let client = ().serve_with_lifecycle(transport, lifecycle).await;
        Rmcp(client.expect("rmcp connects"))
    }
}

impl Contestant for Rmcp {
    async fn call(&self) {
        let arguments = serde_json::Map::from_iter([("message".to_owned(), "hello".into())]);
        let params = CallToolRequestParams::new("echo").with_arguments(arguments);
        let result = self.0.call_tool(params).await.expect("an answer");
        assert_eq!(result.is_error, Some(false));
    }
}

/// Sends the same bytes and headers as our client, without the protocol.
pub(crate) struct Reqwest {
    client: reqwest::Client,
    url: String,
    revision: Revision,
    ids: AtomicU64,
}

impl Reqwest {
    pub(crate) fn new(url: &str, revision: Revision) -> Self {
        let (client, url) = (reqwest::Client::new(), url.to_owned());
        Reqwest { client, url, revision, ids: AtomicU64::new(0) }
    }
}

/// The `_meta` of our client in each request since 2026-07-28.
const META: &str = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"sparring","version":"0.1.0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

impl Contestant for Reqwest {
    async fn call(&self) {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let modern = self.revision.is_modern();
        let meta = if modern { META } else { "" };
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"hello"}}{meta}}}}}"#
        );
        let mut request = self
            .client
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", self.revision.name());
        if modern {
            request = request.header("mcp-method", "tools/call").header("mcp-name", "echo");
        }
        let response = request.body(body).send().await.expect("a response");
        let body = response.bytes().await.expect("a body");
        assert!(body.starts_with(b"{"));
    }
}
