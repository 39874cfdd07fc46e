//! Typed calls of a mock: the arguments, the results, and the errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sparring::client::ListKind;
use sparring::mock::Settings;
use sparring::{Client, MockServer};
use sparring_codegen::{ModuleSource, generate_module};

use crate::generated::instructions::{
    GetInstructions, InstructionServerClient, RouteInstructions, SearchInstructions,
    SearchInstructionsOrder, SwitchEngine,
};
use crate::generated::{check, tests_folder};

async fn connect() -> (MockServer, InstructionServerClient) {
    let script = tests_folder().join("instructions.mock.yaml");
    let mock = MockServer::from_file(script, &Settings::default()).unwrap();
    let client = Client::in_memory(&mock).await.unwrap();
    (mock, InstructionServerClient::new(client))
}

/// Returns the first line of the error of a search.
async fn search_error(query: &str) -> String {
    let (_mock, client) = connect().await;
    let error = client.search_instructions(SearchInstructions::new(query)).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("tests/typed/calls.rs:"), "{text}");
    text.lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn the_module_is_generated_from_the_mock() {
    let (_mock, client) = connect().await;
    let tools = client.client.list(ListKind::Tools).await.unwrap();
    let tools: Vec<Value> = tools.iter().map(|tool| tool.view().deserialize().unwrap()).collect();
    let (server, version) = ("instruction-server", "1.2.0");
    let source = ModuleSource { server, version, name: None, flags: "", tools: &tools };
    check("instructions", &generate_module(&source).unwrap());
}

#[tokio::test]
async fn optional_arguments_are_left_out() {
    let (mock, client) = connect().await;
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
async fn a_result_with_an_output_schema_has_a_type() {
    let (mock, client) = connect().await;
    let arguments = SearchInstructions::new("rust").order(SearchInstructionsOrder::BestMatch);
    let found = client.search_instructions(arguments).await.unwrap();
    assert_eq!(found.total, 1);
    assert_eq!(found.hits[0].id, "rust");
    assert_eq!(found.hits[0].tags.as_deref(), Some(&["code".to_owned()][..]));
    let sent = json!({"query": "rust", "order": "best-match"});
    mock.expect_called("search_instructions").with(sent).times(1).verify();
}

#[tokio::test]
async fn a_result_that_does_not_fit_names_the_tool_and_the_member() {
    assert_eq!(
        search_error("wrong").await,
        "invalid result of tools/call search_instructions: \
         structuredContent.hits[1].score: invalid type: string \"high\", expected f64"
    );
    assert_eq!(
        search_error("plain").await,
        "invalid result of tools/call search_instructions: the tool has an \
         output schema, but the result has no structuredContent"
    );
}

#[tokio::test]
async fn a_tool_error_has_the_message_of_the_tool() {
    assert_eq!(
        search_error("failing").await,
        "invalid result of tools/call search_instructions: tool returned \
         isError: \"the index is gone\""
    );
    assert_eq!(
        search_error("refused").await,
        "the server answered tools/call search_instructions with an error: not now (-32000)"
    );
}

#[tokio::test]
async fn a_typed_call_can_be_made_without_its_type() {
    let (_mock, client) = connect().await;
    let call = client.search_instructions(SearchInstructions::new("failing"));
    let response = call.timeout(Duration::from_secs(30)).untyped().await.unwrap();
    assert!(response.is_error());
    assert_eq!(response.content(), "the index is gone");
}

#[tokio::test]
async fn a_typed_call_receives_progress() {
    let script = "
        tools:
          - {name: search_instructions, during: [{progress: 0.5}], structured: {total: 0, hits: []}}
    ";
    let mock = MockServer::from_yaml(script, ".").unwrap();
    let client = InstructionServerClient::new(Client::in_memory(&mock).await.unwrap());
    let received = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&received);
    let call = client.search_instructions(SearchInstructions::new("x"));
    let call = call.on_progress(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(call.await.unwrap().total, 0);
    assert_eq!(received.load(Ordering::Relaxed), 1);
}
