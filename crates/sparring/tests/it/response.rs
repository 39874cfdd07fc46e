//! The checks of a response, and their failures.

use serde_json::json;
use sparring::{Client, Content, Response};

use crate::failure::{client, failure_here};

const SCRIPT: &str = r#"
server: {name: weather, version: 1.0.0}
tools:
  - {name: greet, text: "hello Ada"}
  - {name: poem, text: "roses\nare\nred\n"}
  - {name: weather, structured: {city: Oslo, days: [{t: 1}, {t: 2}]}}
  - {name: broken, text: "Connection refused: http://localhost:9", is_error: true}
resources:
  - {uri: "memo:1", text: milk}
prompts:
  - {name: trip, arguments: [{name: city}], text: "go to ${args.city:-nowhere}"}
completions: [{prompt: trip, argument: city, values: [Oslo, Paris]}]
"#;

async fn call(client: &Client, tool: &str) -> Response {
    client.call_tool(tool, json!({})).await.unwrap()
}

#[tokio::test]
async fn checks_can_be_chained() {
    let client = client(SCRIPT).await;
    let greet = call(&client, "greet").await;
    greet.assert_success().assert_text("hello Ada").assert_content(["ADA", "hello"]);
    greet.assert_result(json!({"content": [{"type": "text", "text": "hello Ada"}]}));
    let weather = call(&client, "weather").await;
    weather.assert_structured(json!({"city": "Oslo", "days": [{"t": 1}, {"t": 2.0}]}));
    weather.assert_structured_has(json!({"days": [{}, {"t": 2}]}));
    weather.assert_json(json!({"days": [{"t": 1}, {"t": 2}], "city": "Oslo"}));
    weather.assert_json_has(json!({"city": "Oslo"})).assert_result_has(json!({"content": [{}]}));
    weather.assert_matches(json!({"structuredContent": {"days": {"len": 2}}}));
    call(&client, "broken").await.assert_tool_error("connection refused");
    call(&client, "nope").await.assert_error_code(-32602).assert_error(-32602, "nope");
}

#[tokio::test]
async fn resources_prompts_and_completions_are_checked_alike() {
    let client = client(SCRIPT).await;
    client.read_resource("memo:1").await.unwrap().assert_text("milk");
    client.read_resource("memo:2").await.unwrap().assert_error_code(-32002);
    let trip = client.get_prompt("trip", json!({"city": "Oslo"})).await.unwrap();
    trip.assert_text("go to Oslo");
    let reference = json!({"type": "ref/prompt", "name": "trip"});
    let completions = client.complete(reference, "city", "P").await.unwrap();
    completions.assert_completions(["Paris"]);
    let message = failure_here(|| completions.assert_completions(["Oslo", "Paris"]));
    assert_eq!(
        message,
        "completion/complete city: expected completions: [\"Oslo\", \"Paris\"]\nfound: [\"Paris\"]"
    );
}

#[tokio::test]
async fn a_failure_shows_the_difference_of_texts() {
    let client = client(SCRIPT).await;
    let greet = call(&client, "greet").await;
    assert_eq!(
        failure_here(|| greet.assert_text("hello Eve")),
        "tools/call greet: another text\nexpected: \"hello Eve\"\n   found: \"hello Ada\""
    );
    let poem = call(&client, "poem").await;
    assert_eq!(
        failure_here(|| poem.assert_text("roses\nare\nblue\n")),
        "tools/call poem: another text\nexpected (-) and found (+):\n    \
         roses\n    are\n  - blue\n  + red"
    );
    assert_eq!(
        failure_here(|| greet.assert_content(Content::from("Ada") & "Eve")),
        "tools/call greet: expected \"Ada\" and \"Eve\"\nmissing: \"Eve\"\nfound: \"hello Ada\""
    );
}

#[tokio::test]
async fn a_result_a_tool_error_and_a_json_rpc_error_are_distinguished() {
    let client = client(SCRIPT).await;
    let (greet, broken, none) =
        (call(&client, "greet").await, call(&client, "broken").await, call(&client, "no").await);
    let refused = "tool error: \"Connection refused: http://localhost:9\"";
    let unknown = "error Tool 'no' not found (-32602)";
    let check = |message: String, expected: &str| assert_eq!(message, expected);
    check(
        failure_here(|| broken.assert_success()),
        &format!("tools/call broken: expected success\nfound: {refused}"),
    );
    check(
        failure_here(|| broken.assert_content("refused")),
        &format!("tools/call broken: expected \"refused\"\nfound: {refused}"),
    );
    check(
        failure_here(|| broken.assert_error_code(-32602)),
        &format!("tools/call broken: expected error -32602\nfound: {refused}"),
    );
    check(
        failure_here(|| none.assert_tool_error("refused")),
        &format!("tools/call no: expected a tool error: \"refused\"\nfound: {unknown}"),
    );
    check(
        failure_here(|| none.assert_text("hi")),
        &format!("tools/call no: expected text \"hi\"\nfound: {unknown}"),
    );
    check(
        failure_here(|| greet.assert_error(-32602, "no")),
        "tools/call greet: expected error -32602\nfound: result with text \"hello Ada\"",
    );
    check(
        failure_here(|| greet.assert_structured(json!({}))),
        "tools/call greet: expected structured content {}\nfound: result with text \"hello Ada\"",
    );
    check(
        failure_here(|| none.assert_error(-32602, "who")),
        "tools/call no: the message of error -32602 differs\n\
         expected \"who\"\nfound: \"Tool 'no' not found\"",
    );
    check(
        failure_here(|| broken.assert_tool_error("timed out")),
        "tools/call broken: the tool error differs\nexpected \"timed out\"\n\
         found: \"Connection refused: http://localhost:9\"",
    );
}

#[tokio::test]
async fn a_failure_lists_the_paths_at_which_json_differs() {
    let client = client(SCRIPT).await;
    let weather = call(&client, "weather").await;
    let found = r#"{"city":"Oslo","days":[{"t":1},{"t":2}]}"#;
    let expected = json!({"city": "Paris", "days": [{"t": 1}]});
    let differences = format!(
        "  city: expected \"Paris\", found \"Oslo\"\n  \
         days[1]: unexpected {{\"t\":2}}\nfound: {found}"
    );
    assert_eq!(
        failure_here(|| weather.assert_structured(expected.clone())),
        format!("tools/call weather: structured content differs\n{differences}")
    );
    assert_eq!(
        failure_here(|| weather.assert_json(expected.clone())),
        format!("tools/call weather: the text as JSON differs\n{differences}")
    );
    let message = failure_here(|| weather.assert_result_has(json!({"isError": true})));
    assert!(
        message.starts_with(
            "tools/call weather: the result differs\n  isError: expected true, found nothing\nfound: {"
        ),
        "{message}"
    );
    let expected = json!({"structuredContent": {"city": {"one_of": ["Rome", "Paris"]}}});
    let message = failure_here(|| weather.assert_matches(expected));
    assert_eq!(
        message,
        "tools/call weather: the result does not match\n  at structuredContent.city: expected one of \"Rome\", \"Paris\", found \"Oslo\""
    );
}

const LIAR: &str = r#"
server: {name: liar, version: 1.0.0}
tools:
  - {name: good, output_schema: {type: object, required: [hour]}, structured: {hour: 1}}
  - name: bad
    output_schema: {type: object, properties: {hour: {type: integer}}}
    structured: {hour: noon}
  - {name: none, output_schema: {type: object}, text: noon}
  - {name: failed, output_schema: {type: object}, text: no, is_error: true}
"#;

#[tokio::test]
async fn a_success_conforms_to_the_output_schema_of_a_listed_tool() {
    let client = client(LIAR).await;
    // A schema is known once the tool was listed.
    call(&client, "bad").await.assert_success();
    client.snapshot().assert_no_violations();
    client.list_tools().await.unwrap().assert_has("bad");
    call(&client, "good").await.assert_success();
    call(&client, "failed").await.assert_tool_error("no");
    client.snapshot().assert_no_violations();
    let bad = call(&client, "bad").await;
    let message = failure_here(|| bad.assert_success().text());
    let expected = "tools/call bad: the result does not conform to the output schema of its tool\n  \
                    tools/output-schema at $.result.structuredContent.hour: ";
    assert!(message.starts_with(expected), "{message}");
    assert!(message.contains("/server/tools#output-schema"), "{message}");
    let message = failure_here(|| bad.assert_structured(json!({"hour": "noon"})).text());
    assert!(message.starts_with(expected), "{message}");
    let none = call(&client, "none").await;
    let message = failure_here(|| none.assert_text("noon").text());
    assert!(message.contains("the result has no structured content"), "{message}");
    let message = failure_here(|| client.snapshot().assert_no_violations().len());
    assert!(
        message.contains("tools/output-schema at $.result.structuredContent.hour"),
        "{message}"
    );
}

#[tokio::test]
async fn a_test_can_ignore_output_schemas() {
    let mock = sparring::MockServer::from_yaml(LIAR, ".").unwrap();
    let client = Client::builder().ignore_output_schemas().in_memory(mock).await.unwrap();
    client.list_tools().await.unwrap().assert_has("bad");
    call(&client, "bad").await.assert_success();
    client.snapshot().assert_no_violations();
}

#[tokio::test]
async fn revisions_without_output_schemas_do_not_apply_them() {
    let mock = sparring::MockServer::from_yaml(LIAR, ".").unwrap();
    let revision = sparring::Revision::V2025_03_26;
    let client = Client::builder().revision(revision).in_memory(mock).await.unwrap();
    client.list_tools().await.unwrap().assert_has("bad");
    call(&client, "none").await.assert_success();
}
