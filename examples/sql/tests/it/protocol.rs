//! The protocol's requirements for any server: handshake, lists, arguments, errors.

use serde_json::{Value, json};
use sparring::{Client, MemoryTransport, Revision};
use sql::serve;

use crate::fixture::{client, settings, structured_result, tool_error};

#[tokio::test]
async fn the_handshake_has_the_servers_name_and_capabilities() {
    let client = client(&settings()).await;
    for capability in ["tools", "resources.subscribe", "resources.listChanged", "completions"] {
        assert!(client.capabilities().has(capability), "{capability}");
    }
    let session = client.session().unwrap();
    assert_eq!(session.server_info.as_ref().map(|info| info.name.as_str()), Some("sql"));
    let instructions = session.instructions.clone().unwrap();
    assert!(
        instructions.contains("These statements may run: select, explain, pragma, insert"),
        "{instructions}"
    );
}

#[tokio::test]
async fn the_server_speaks_every_revision_without_a_violation() {
    for revision in Revision::ALL {
        let server = serve(&settings()).unwrap();
        let client = Client::builder().revision(revision).in_memory(server).await.unwrap();
        assert_eq!(client.list_tools().await.unwrap().len(), 5);
        assert_eq!(client.list_resources().await.unwrap().len(), 3);
        assert_eq!(client.list_resource_templates().await.unwrap().len(), 1);
        client.read_resource("sql://tables/orders").await.unwrap().assert_success();
        for (tool, arguments) in calls() {
            structured_result(&client.call_tool(tool, arguments).await.unwrap());
        }
        assert_eq!(client.transcript().violations(), [], "{revision}");
    }
}

/// A call of each tool, with results of many kinds.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("query", json!({"sql": "select null, 1, 2.5, 'a', x'00', 9007199254740993, 1e999"})),
        ("query", json!({"sql": "select * from customers where 0"})),
        ("describe", json!({"table": "orders"})),
        ("describe", json!({"table": "totals"})),
        ("list_tables", json!({})),
        ("database_info", json!({})),
        ("execute", json!({"sql": "update orders set cents = 1 returning *"})),
        ("execute", json!({"sql": "create table if not exists x (a)"})),
        ("execute", json!({"sql": "insert into x values (1)"})),
    ]
}

#[tokio::test]
async fn the_results_of_every_tool_match_its_output_schema() {
    let client = client(&settings()).await;
    let tools = client.list_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["query", "describe", "list_tables", "database_info", "execute"]);
    for tool in tools.iter() {
        assert!(tool.description.as_ref().is_some_and(|it| it.ends_with('.')), "{}", tool.name);
        assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
        let reads = tool.rest["annotations"]["readOnlyHint"].as_bool().unwrap();
        assert_eq!(reads, tool.name != "execute");
    }
    for (name, arguments) in calls() {
        let tool = tools.find_tool(name);
        let input = jsonschema::validator_for(&tool.input_schema).unwrap();
        let output = jsonschema::validator_for(tool.output_schema.as_ref().unwrap()).unwrap();
        assert!(input.is_valid(&arguments), "{name} {arguments}");
        let result = structured_result(&client.call_tool(name, arguments).await.unwrap());
        let wrong: Vec<_> = output.iter_errors(&result).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
    }
}

#[tokio::test]
async fn an_error_about_arguments_names_them() {
    let client = client(&settings()).await;
    for (tool, arguments, expected) in [
        ("query", json!({}), "the argument `sql` is missing"),
        ("query", json!({"sql": 1}), "`sql` must be a text, and is 1"),
        (
            "query",
            json!({"sql": "select 1", "limit": 0}),
            "`limit` must be an integer of at least 1, and is 0",
        ),
        (
            "query",
            json!({"sql": "select 1", "limt": 1}),
            "unknown argument `limt`; expected sql, params, limit",
        ),
        ("execute", json!({"params": []}), "the argument `sql` is missing"),
        ("describe", json!({"name": "orders"}), "unknown argument `name`; expected table"),
        ("describe", json!({"table": null}), "`table` must be a text, and is null"),
        ("list_tables", json!({"x": 1}), "unknown argument `x`; the tool has no arguments"),
        ("database_info", json!({"x": 1}), "unknown argument `x`; the tool has no arguments"),
    ] {
        let response = client.call_tool(tool, arguments).await.unwrap();
        assert_eq!(tool_error(&response), expected);
    }
}

#[tokio::test]
async fn wrong_requests_are_errors_with_their_codes() {
    let client = client(&settings()).await;
    for (method, params, code) in [
        ("tools/nope", json!({}), -32601),
        ("prompts/list", json!({}), -32601),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({"name": "nope", "arguments": {}}), -32602),
        ("resources/read", json!({}), -32602),
    ] {
        let answer = client.request(method, Some(params.clone().into())).await.unwrap();
        assert_eq!(answer.error_code(), Some(code), "{method} {params}");
    }
    client.ping().await.unwrap();
}

#[tokio::test]
async fn reports_invalid_json_and_keeps_the_connection() {
    let (transport, link) = MemoryTransport::new();
    let server = serve(&settings()).unwrap();
    let mut session = server.session_on(link);
    let timeout = std::time::Duration::from_secs(30);
    for (bytes, code) in [("{\"jsonrpc\": \"2.0\", \"id\"", Some(-32700)), ("[]", Some(-32600))] {
        transport.queue_incoming(bytes);
        assert_eq!(session.process_one_message(timeout).await, Ok(true));
        let answer = transport.next_sent().unwrap();
        assert_eq!(answer.error_object().map(|error| error.code), code, "{bytes}");
    }
    transport.queue_incoming("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}");
    assert_eq!(session.process_one_message(timeout).await, Ok(true));
    assert!(transport.next_sent().unwrap().result().is_some());
}
