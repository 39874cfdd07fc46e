//! Typed calls of a mock: what is sent, what comes, and how it is told that
//! something else came.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sparring::client::Listing;
use sparring::mock::Settings;
use sparring::{Client, MockServer};
use sparring_codegen::{Source, module};

use crate::generated::instructions::{
    GetInstructions, InstructionServerClient, RouteInstructions, SearchInstructions,
    SearchInstructionsOrder, SwitchEngine,
};
use crate::generated::{check, here};

async fn connected() -> (MockServer, InstructionServerClient) {
    let script = here().join("instructions.mock.yaml");
    let mock = MockServer::from_file(script, &Settings::default()).unwrap();
    let client = Client::in_memory(&mock).await.unwrap();
    (mock, InstructionServerClient::new(client))
}

/// What a search that has no good answer is told as, without line and scene.
async fn refused(query: &str) -> String {
    let (_mock, client) = connected().await;
    let error = client.search_instructions(SearchInstructions::new(query)).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("tests/typed/calls.rs:"), "{text}");
    text.lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn the_module_is_the_one_of_the_mock() {
    let (_mock, client) = connected().await;
    let tools = client.client.list(Listing::Tools).await.unwrap();
    let tools: Vec<Value> = tools.iter().map(|tool| tool.view().to().unwrap()).collect();
    let (server, version) = ("instruction-server", "1.2.0");
    let source = Source { server, version, name: None, flags: "", tools: &tools };
    check("instructions", &module(&source).unwrap());
}

#[tokio::test]
async fn what_is_not_given_is_left_out() {
    let (mock, client) = connected().await;
    let response = client.route_instructions(RouteInstructions::new("how?")).await.unwrap();
    assert_eq!(response.content(), "routed");
    mock.expect_called("route_instructions").with(json!({"message": "how?"})).times(1).verify();

    let arguments = RouteInstructions::new("how?").limit(3).context([("user", "ada")]);
    client.route_instructions(arguments).await.unwrap().assert_success();
    let sent = json!({"message": "how?", "context": {"user": "ada"}, "limit": 3});
    mock.expect_called("route_instructions").with(sent).times(1).verify();

    let arguments = GetInstructions::new().exact_match(true);
    client.get_instructions(arguments).await.unwrap().assert_success();
    mock.expect_called("get_instructions").with(json!({"exact_match": true})).times(1).verify();
    let sent: Vec<Value> =
        mock.received_for("get_instructions").iter().map(|it| it.arguments()).collect();
    assert_eq!(sent, [json!({"exact_match": true})]);

    let arguments = SwitchEngine::new("durian-0.6");
    client.switch_engine(arguments).await.unwrap().assert_success();
    let sent = json!({"engine_version": "durian-0.6"});
    mock.expect_called("switch_engine").with(sent).times(1).verify();

    assert_eq!(client.list_topics().await.unwrap().content(), "rust, mcp");
    assert_eq!(mock.received_for("list_topics")[0].arguments(), json!({}));
}

#[tokio::test]
async fn a_result_with_a_schema_has_a_type() {
    let (mock, client) = connected().await;
    let arguments = SearchInstructions::new("rust").order(SearchInstructionsOrder::BestMatch);
    let found = client.search_instructions(arguments).await.unwrap();
    assert_eq!(found.total, 1);
    assert_eq!(found.hits[0].id, "rust");
    assert_eq!(found.hits[0].tags.as_deref(), Some(&["code".to_owned()][..]));
    let sent = json!({"query": "rust", "order": "best-match"});
    mock.expect_called("search_instructions").with(sent).times(1).verify();
}

#[tokio::test]
async fn a_result_that_does_not_fit_is_told_with_tool_and_member() {
    assert_eq!(
        refused("wrong").await,
        "the result of tools/call search_instructions cannot be used: \
         structuredContent.hits[1].score: invalid type: string \"high\", expected f64"
    );
    assert_eq!(
        refused("plain").await,
        "the result of tools/call search_instructions cannot be used: there is no \
         structuredContent, which its output schema describes"
    );
}

#[tokio::test]
async fn a_failure_is_told_with_what_the_tool_said() {
    assert_eq!(
        refused("failing").await,
        "the result of tools/call search_instructions cannot be used: the tool says that it \
         failed: the index is gone"
    );
    assert_eq!(
        refused("refused").await,
        "tools/call search_instructions was refused: not now (-32000)"
    );
}

#[tokio::test]
async fn a_typed_call_can_be_made_without_its_type() {
    let (_mock, client) = connected().await;
    let call = client.search_instructions(SearchInstructions::new("failing"));
    let response = call.timeout(Duration::from_secs(30)).untyped().await.unwrap();
    assert!(response.is_error());
    assert_eq!(response.content(), "the index is gone");
}

#[tokio::test]
async fn a_typed_call_hears_of_progress() {
    let script = "
        tools:
          - {name: search_instructions, during: [{progress: 0.5}], structured: {total: 0, hits: []}}
    ";
    let mock = MockServer::from_yaml(script, ".").unwrap();
    let client = InstructionServerClient::new(Client::in_memory(&mock).await.unwrap());
    let heard = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&heard);
    let call = client.search_instructions(SearchInstructions::new("x"));
    let call = call.on_progress(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(call.await.unwrap().total, 0);
    assert_eq!(heard.load(Ordering::Relaxed), 1);
}
