//! Tools in the formats of model APIs, and calls by their names.

use std::sync::Arc;

use serde_json::{Value, json};
use sparring_host::llm::{anthropic_tools, openai_tools};
use sparring_wire::RawJson;
use sparring_wire::types::Tool;

use super::{CallRecorder, open};

#[tokio::test]
async fn every_tool_is_declared_and_called_by_its_registered_name() {
    let registry = open(&["my fs", "web"]);
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let read = Tool::new("read file").described("Reads a file").taking(schema.clone());
    registry.register("my fs", [Arc::new(read), Arc::new(Tool::new("x".repeat(200)))]);
    registry.register("web", [Arc::new(Tool::new("get").taking(Value::Null))]);
    let tools = registry.tools();

    let for_openai = openai_tools(&tools);
    assert_eq!(
        for_openai[0],
        json!({"type": "function", "function": {"name": "mcp__my_fs__read_file",
            "description": "Reads a file", "parameters": schema}})
    );
    let for_anthropic = anthropic_tools(&tools);
    assert_eq!(
        for_anthropic[0],
        json!({"name": "mcp__my_fs__read_file", "description": "Reads a file",
            "input_schema": schema})
    );
    assert_eq!(
        for_anthropic[2],
        json!({"name": "mcp__web__get", "description": "",
            "input_schema": {"type": "object", "properties": {}}})
    );
    for (index, (ours, theirs)) in for_openai.iter().zip(&for_anthropic).enumerate() {
        let name = theirs["name"].as_str().unwrap();
        assert_eq!(ours["function"]["name"], name);
        assert!((1..=64).contains(&name.len()), "{name}");
        let recorder = CallRecorder::default();
        registry.execute(&recorder, name, RawJson::empty_object()).await.unwrap();
        assert_eq!(recorder.calls()[0].1, tools[index].tool.name);
    }
}

#[test]
fn a_description_is_truncated_to_the_limit_of_the_api() {
    let registry = open(&["fs"]);
    let exact = Tool::new("a").described("é".repeat(1_024));
    let longer = Tool::new("b").described("é".repeat(1_025));
    registry.register("fs", [Arc::new(exact), Arc::new(longer)]);
    let tools = registry.tools();
    let of = |index: usize| {
        openai_tools(&tools)[index]["function"]["description"].as_str().unwrap().to_owned()
    };
    assert_eq!(of(0), "é".repeat(1_024));
    assert_eq!(of(1), format!("{}…", "é".repeat(1_023)));
    assert_eq!(anthropic_tools(&tools)[1]["description"], "é".repeat(1_025));
}

#[test]
fn denied_tools_are_not_declared_to_a_model() {
    use super::permissions;
    use crate::permissions::rules;

    let registry = open(&["fs"]);
    registry.register("fs", ["get", "rm"].map(|name| Arc::new(Tool::new(name))));
    registry.set_permissions(permissions(&["fs"], rules(&["mcp__fs__rm"], &[], &["mcp__fs"])));
    let message = openai_tools(&registry.tools());
    assert_eq!(message.len(), 1);
    assert_eq!(message[0]["function"]["name"], "mcp__fs__get");
}
