//! Modules of huge lists of tools and of huge schemas.

use serde_json::{Value, json};
use sparring_codegen::{ModuleSource, generate_module};

fn generate(tools: &[Value]) -> String {
    let source = ModuleSource { server: "huge", version: "1", name: None, flags: "", tools };
    generate_module(&source).expect("the schemas are valid")
}

fn tool(name: &str, input: Value) -> Value {
    json!({"name": name, "inputSchema": input})
}

#[test]
fn ten_thousand_tools_have_ten_thousand_methods() {
    let input = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let tools: Vec<Value> =
        (0..10_000).map(|n| tool(&format!("tool-{n}"), input.clone())).collect();
    assert_eq!(generate(&tools).matches("#[track_caller]").count(), 10_000);
}

#[test]
fn a_chain_of_references_is_followed_to_its_end() {
    let mut defs = json!({});
    for n in 0..20_000 {
        let next = json!({"$ref": format!("#/$defs/d{}", (n + 1) % 20_000)});
        defs[format!("d{n}")] = json!({"type": "object", "properties": {"next": next}});
    }
    let first = json!({"$ref": "#/$defs/d0"});
    let input = json!({"type": "object", "properties": {"first": first}, "$defs": defs});
    let text = generate(&[tool("chain", input)]);
    assert_eq!(text.matches("Option<Box<Chain").count(), 20_000);
}

#[test]
fn nested_lists_and_references_end_at_the_depth_limit() {
    let mut defs = json!({});
    for n in 0..20_000 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        defs[format!("d{n}")] = json!({"type": "array", "items": next});
    }
    defs["d20000"] = json!({"type": "string"});
    let first = json!({"$ref": "#/$defs/d0"});
    let input = json!({"type": "object", "properties": {"first": first}, "$defs": defs});
    let text = generate(&[tool("lists", input)]);
    assert!(text.contains("pub first: Option<Vec<Vec<Vec<Vec<Value>>>>>,\n"), "{text}");
}

#[test]
fn an_enum_of_ten_thousand_strings_has_as_many_variants() {
    let texts: Vec<String> = (0..10_000).map(|n| format!("{}a{n}", "-".repeat(n % 3))).collect();
    let input = json!({"type": "object", "properties": {"a": {"enum": texts}}});
    assert_eq!(generate(&[tool("texts", input)]).matches("    /// `").count(), 10_002);
}
