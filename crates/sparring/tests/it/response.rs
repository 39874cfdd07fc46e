//! The checks of an answer: what passes, and what a failure says and where.

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

async fn called(client: &Client, tool: &str) -> Response {
    client.call_tool(tool, json!({})).await.unwrap()
}

#[tokio::test]
async fn what_holds_can_be_checked_in_a_row() {
    let client = client(SCRIPT).await;
    let greet = called(&client, "greet").await;
    greet.assert_success().assert_text("hello Ada").assert_content(["ADA", "hello"]);
    greet.assert_result(json!({"content": [{"type": "text", "text": "hello Ada"}]}));
    let weather = called(&client, "weather").await;
    weather.assert_structured(json!({"city": "Oslo", "days": [{"t": 1}, {"t": 2.0}]}));
    weather.assert_structured_has(json!({"days": [{}, {"t": 2}]}));
    weather.assert_json(json!({"days": [{"t": 1}, {"t": 2}], "city": "Oslo"}));
    weather.assert_json_has(json!({"city": "Oslo"})).assert_result_has(json!({"content": [{}]}));
    weather.assert_matches(json!({"structuredContent": {"days": {"len": 2}}}));
    called(&client, "broken").await.assert_tool_error("connection refused");
    called(&client, "nope").await.assert_error_code(-32602).assert_error(-32602, "nope");
}

#[tokio::test]
async fn resources_prompts_and_completions_are_checked_alike() {
    let client = client(SCRIPT).await;
    client.read_resource("memo:1").await.unwrap().assert_text("milk");
    client.read_resource("memo:2").await.unwrap().assert_error_code(-32002);
    let trip = client.get_prompt("trip", json!({"city": "Oslo"})).await.unwrap();
    trip.assert_text("go to Oslo");
    let reference = json!({"type": "ref/prompt", "name": "trip"});
    let offered = client.complete(reference, "city", "P").await.unwrap();
    offered.assert_completions(["Paris"]);
    let message = failure_here(|| offered.assert_completions(["Oslo", "Paris"]));
    assert_eq!(
        message,
        "completion/complete city: expected completions: [\"Oslo\", \"Paris\"]\nfound: [\"Paris\"]"
    );
}

#[tokio::test]
async fn another_text_is_told_with_the_difference() {
    let client = client(SCRIPT).await;
    let greet = called(&client, "greet").await;
    assert_eq!(
        failure_here(|| greet.assert_text("hello Eve")),
        "tools/call greet: another text\nexpected: \"hello Eve\"\n   found: \"hello Ada\""
    );
    let poem = called(&client, "poem").await;
    assert_eq!(
        failure_here(|| poem.assert_text("roses\nare\nblue\n")),
        "tools/call poem: another text\nexpected (-) and found (+):\n    \
         roses\n    are\n  - blue\n  + red"
    );
    assert_eq!(
        failure_here(|| greet.assert_content(Content::from("Ada") & "Eve")),
        "tools/call greet: expected \"Ada\" and \"Eve\"\nnot there: \"Eve\"\nfound: \"hello Ada\""
    );
}

#[tokio::test]
async fn a_result_a_tools_failure_and_an_error_are_never_taken_for_each_other() {
    let client = client(SCRIPT).await;
    let (greet, broken, none) = (
        called(&client, "greet").await,
        called(&client, "broken").await,
        called(&client, "no").await,
    );
    let refused = "a failure of the tool: \"Connection refused: http://localhost:9\"";
    let unknown = "the error Tool 'no' not found (-32602)";
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
        &format!("tools/call broken: expected the error -32602\nfound: {refused}"),
    );
    check(
        failure_here(|| none.assert_tool_error("refused")),
        &format!("tools/call no: expected a failure of the tool: \"refused\"\nfound: {unknown}"),
    );
    check(
        failure_here(|| none.assert_text("hi")),
        &format!("tools/call no: expected the text \"hi\"\nfound: {unknown}"),
    );
    check(
        failure_here(|| greet.assert_error(-32602, "no")),
        "tools/call greet: expected the error -32602\nfound: a result: \"hello Ada\"",
    );
    check(
        failure_here(|| greet.assert_structured(json!({}))),
        "tools/call greet: expected structured content {}\nfound: a result: \"hello Ada\"",
    );
    check(
        failure_here(|| none.assert_error(-32602, "who")),
        "tools/call no: the error -32602 says something else\n\
         expected \"who\"\nfound: \"Tool 'no' not found\"",
    );
    check(
        failure_here(|| broken.assert_tool_error("timed out")),
        "tools/call broken: the tool failed, but otherwise\nexpected \"timed out\"\n\
         found: \"Connection refused: http://localhost:9\"",
    );
}

#[tokio::test]
async fn json_is_told_by_the_paths_where_it_differs() {
    let client = client(SCRIPT).await;
    let weather = called(&client, "weather").await;
    let found = r#"{"city":"Oslo","days":[{"t":1},{"t":2}]}"#;
    let expected = json!({"city": "Paris", "days": [{"t": 1}]});
    let told = format!(
        "  city: expected \"Paris\", found \"Oslo\"\n  \
         days[1]: not expected, found {{\"t\":2}}\nfound: {found}"
    );
    assert_eq!(
        failure_here(|| weather.assert_structured(expected.clone())),
        format!("tools/call weather: structured content differs\n{told}")
    );
    assert_eq!(
        failure_here(|| weather.assert_json(expected.clone())),
        format!("tools/call weather: the text as JSON differs\n{told}")
    );
    let message = failure_here(|| weather.assert_result_has(json!({"isError": true})));
    assert!(
        message.starts_with(
            "tools/call weather: the result differs\n  isError: expected true, not there\nfound: {"
        ),
        "{message}"
    );
    let expected = json!({"structuredContent": {"city": {"one_of": ["Rome", "Paris"]}}});
    let message = failure_here(|| weather.assert_matches(expected));
    assert_eq!(
        message,
        "tools/call weather: the result does not fit\n  at structuredContent.city: expected one of \"Rome\", \"Paris\", found \"Oslo\""
    );
}
