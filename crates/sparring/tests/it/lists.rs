//! Checks of lists and of their items.

use serde_json::json;
use sparring::server::{Context, HandlerResult};
use sparring::types::ServerCapabilities;
use sparring::{Client, Handler, RawJson};

use crate::failure::{client, failure_here};

const SCRIPT: &str = r#"
tools:
  - name: weather-api
    description: Get weather data from external API
    input: {city: string, units: "string?"}
    annotations: {read_only_hint: true}
    text: rain
  - {name: add, text: "1"}
resources:
  - {uri: "memo:1", mime_type: text/plain, description: What to buy, text: milk}
templates:
  - {uri_template: "memo:{id}", text: a memo}
prompts:
  - {name: trip, arguments: [{name: city, required: true}, {name: season}], text: go}
"#;

#[tokio::test]
async fn a_tool_is_found_by_name_and_checked() {
    let client = client(SCRIPT).await;
    let tools = client.list_tools().await.unwrap();
    tools.assert_count(2).assert_tool("add").assert_no_tool("removed-tool");
    tools.assert_names(["add", "weather-api"]);
    let weather = tools.find_tool("weather-api");
    weather.assert_description("weather data").assert_required(["city"]);
    weather.assert_required_includes(["city"]).assert_argument("units", "string");
    weather.assert_annotations(json!({"readOnlyHint": true}));
    assert_eq!(weather.input_schema["required"], json!(["city"]));
}

#[tokio::test]
async fn resources_templates_and_prompts_are_checked_alike() {
    let client = client(SCRIPT).await;
    let resources = client.list_resources().await.unwrap();
    let memo = resources.find("memo:1");
    memo.assert_mime_type("text/plain").assert_description("buy");
    let message = failure_here(|| memo.assert_mime_type("text/html"));
    assert_eq!(message, "resource \"memo:1\": expected MIME type text/html, found text/plain");
    let templates = client.list_resource_templates().await.unwrap();
    templates.assert_names(["memo:{id}"]);
    let prompts = client.list_prompts().await.unwrap();
    prompts.find("trip").assert_required(["city"]).assert_arguments(["season", "city"]);
    let message = failure_here(|| prompts.assert_lacks("trip"));
    assert_eq!(message, "expected no prompt \"trip\", but the list has it\navailable: trip");
}

#[tokio::test]
async fn a_missing_item_is_reported_with_the_available_ones() {
    let client = client(SCRIPT).await;
    let tools = client.list_tools().await.unwrap();
    let check = |message: String, expected: &str| assert_eq!(message, expected);
    check(
        failure_here(|| tools.assert_tool("wether-api")),
        "no tool \"wether-api\"; did you mean \"weather-api\"?\navailable: weather-api, add",
    );
    check(failure_here(|| tools.find_tool("zzz")), "no tool \"zzz\"\navailable: weather-api, add");
    check(
        failure_here(|| tools.assert_no_tool("add")),
        "expected no tool \"add\", but the list has it\navailable: weather-api, add",
    );
    check(
        failure_here(|| tools.assert_count(1)),
        "expected 1 tool, found 2\navailable: weather-api, add",
    );
    check(
        failure_here(|| tools.assert_names(["add", "sub"])),
        "the tools differ\n  missing: sub\n  unexpected: weather-api\n\
         available: weather-api, add",
    );
}

/// Lists a good tool, one with a duplicate member, and an array.
struct Malformed;

impl Handler for Malformed {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        let good = r#"{"name":"good","inputSchema":{"type":"object"}}"#;
        let tools = format!(r#"{{"tools":[{good},{{"name":"a","name":"b"}},["c"]]}}"#);
        Ok(RawJson::parse(&tools).unwrap().into())
    }
}

#[tokio::test]
async fn malformed_tools_are_left_out_and_reported() {
    let client = Client::in_memory(Malformed).await.unwrap();
    let tools = client.list_tools().await.unwrap();
    tools.assert_tool("good").assert_no_tool("b");
    assert_eq!(tools.names(), ["good"]);
    let [duplicate, array] = tools.malformed() else { panic!("{:?}", tools.malformed()) };
    assert!(duplicate.starts_with("tools[1]: duplicate field `name`"), "{duplicate}");
    assert!(array.starts_with("tools[2]: invalid type: sequence"), "{array}");
    let end = format!("\navailable: good\nmalformed: {duplicate}; {array}");
    let check = |message: String, expected: &str| assert_eq!(message, format!("{expected}{end}"));
    check(failure_here(|| tools.assert_count(1)), "expected 1 tool, found 1");
    check(failure_here(|| tools.assert_names(["good"])), "the tools differ");
    check(failure_here(|| tools.find_tool("b")), "no tool \"b\"");
}

#[tokio::test]
async fn a_failed_check_of_a_tool_names_the_tool() {
    let client = client(SCRIPT).await;
    let tools = client.list_tools().await.unwrap();
    let (weather, add) = (tools.find_tool("weather-api"), tools.find_tool("add"));
    let check = |message: String, expected: &str| assert_eq!(message, expected);
    check(
        failure_here(|| weather.assert_description("forecast")),
        "tool \"weather-api\": the description differs\nexpected \"forecast\"\n\
         found: \"Get weather data from external API\"",
    );
    check(
        failure_here(|| add.assert_description("sum")),
        "tool \"add\": expected a description: \"sum\"\nfound: none",
    );
    check(
        failure_here(|| weather.assert_required(["city", "units"])),
        "tool \"weather-api\": the required arguments differ\n  missing: units\n\
         required arguments: city",
    );
    check(
        failure_here(|| weather.assert_required([])),
        "tool \"weather-api\": the required arguments differ\n  unexpected: city\n\
         required arguments: city",
    );
    check(
        failure_here(|| add.assert_required_includes(["a"])),
        "tool \"add\": argument \"a\" is not required\nrequired arguments: none",
    );
    check(
        failure_here(|| weather.assert_argument("town", "string")),
        "tool \"weather-api\": no argument \"town\"\narguments: city, units",
    );
    check(
        failure_here(|| weather.assert_argument("city", "number")),
        "tool \"weather-api\": expected argument \"city\" of type \"number\"\nfound: \"string\"",
    );
    check(
        failure_here(|| add.assert_output_schema(json!({}))),
        "tool \"add\": expected the output schema {}\nfound: none",
    );
    check(
        failure_here(|| add.assert_input_schema(json!({"type": "array"}))),
        "tool \"add\": the input schema differs\n  type: expected \"array\", found \"object\"\n  \
         properties: unexpected {}\nfound: {\"type\":\"object\",\"properties\":{}}",
    );
}
