//! Mocks and their clients: in memory with every revision, and over each HTTP transport.

use std::future::{Future, IntoFuture};
use std::time::Duration;

use serde_json::{Value, json};
use sparring_mock::MockServer;
use sparring_peer::client::ServerRequest;
use sparring_peer::{Client, ClientBuilder, Response};
use sparring_transport::http::{HttpLink, HttpServerHandle, HttpTarget, HttpTransport};
use sparring_wire::Revision;

/// The timeout of every operation.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// Fails if a future takes too long.
pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(TIMEOUT, work).await.expect("it hangs")
}

/// Loads a mock from text.
pub(crate) fn mock(script: &str) -> MockServer {
    MockServer::from_yaml(script, "tests").unwrap_or_else(|problems| panic!("{problems}"))
}

/// Builds a client that answers every question.
pub(crate) fn answering() -> ClientBuilder {
    Client::builder()
        .answer(ServerRequest::Elicitation, |_| async {
            Ok(json!({"action": "accept", "content": {"name": "Ada"}}))
        })
        .answer(ServerRequest::Sampling, |_| async {
            let content = json!({"type": "text", "text": "forty-two"});
            Ok(json!({"role": "assistant", "model": "none", "content": content}))
        })
        .roots(["file:///here"])
}

/// Connects a client with one revision in memory.
pub(crate) async fn connect(mock: &MockServer, revision: Revision) -> Client {
    within(answering().revision(revision).connect(mock.connect())).await.unwrap()
}

/// Serves a mock over HTTP.
pub(crate) async fn listen(mock: &MockServer) -> HttpServerHandle {
    mock.listen("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

/// Connects a client over HTTP.
pub(crate) async fn over_http(
    mock: &MockServer,
    serving: &HttpServerHandle,
    revision: Revision,
    transport: HttpTransport,
) -> Client {
    let urls = mock.urls(serving.address().unwrap());
    let url = if transport == HttpTransport::Sse { urls.sse.unwrap() } else { urls.mcp };
    let link = HttpLink::new(&HttpTarget { transport, ..HttpTarget::new(url) }).unwrap();
    within(answering().revision(revision).connect(link)).await.unwrap()
}

/// Runs a check against a new mock in every combination: each revision in memory, both eras over
/// Streamable HTTP, and HTTP+SSE. Fails on protocol violations.
pub(crate) async fn everywhere(script: &str, check: impl AsyncFn(&Client, Revision)) {
    for revision in Revision::ALL {
        let mock = mock(script);
        let client = connect(&mock, revision).await;
        check_and_close(&client, revision, &check).await;
    }
    for (revision, transport) in [
        (Revision::V2024_11_05, HttpTransport::Sse),
        (Revision::LATEST_LEGACY, HttpTransport::Streamable),
        (Revision::LATEST, HttpTransport::Streamable),
    ] {
        let mock = mock(script);
        let serving = listen(&mock).await;
        let client = over_http(&mock, &serving, revision, transport).await;
        check_and_close(&client, revision, &check).await;
        within(serving.stop(Duration::ZERO)).await;
    }
}

async fn check_and_close(
    client: &Client,
    revision: Revision,
    check: &impl AsyncFn(&Client, Revision),
) {
    check(client, revision).await;
    within(client.close()).await;
    let wrong = client.transcript().violations();
    assert!(wrong.is_empty(), "{revision}: {wrong:?}");
}

/// Calls a tool.
pub(crate) async fn call(client: &Client, tool: &str, arguments: Value) -> Response {
    within(client.call_tool(tool, arguments).into_future()).await.unwrap()
}

/// Calls a tool and returns its text.
pub(crate) async fn call_text(client: &Client, tool: &str, arguments: Value) -> String {
    call(client, tool, arguments).await.content()
}

/// Calls a tool and returns its result, without fields that the revision adds.
pub(crate) async fn result(client: &Client, tool: &str, arguments: Value) -> Value {
    let response = call(client, tool, arguments).await;
    let mut result: Value = response.to().unwrap();
    if let Some(map) = result.as_object_mut() {
        map.remove("resultType");
        map.get_mut("_meta")
            .and_then(Value::as_object_mut)
            .map(|meta| meta.remove("io.modelcontextprotocol/serverInfo"));
        if map.get("_meta") == Some(&json!({})) {
            map.remove("_meta");
        }
    }
    result
}
