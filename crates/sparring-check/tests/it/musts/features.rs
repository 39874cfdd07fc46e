//! Tools, resources, prompts, completion, logging, elicitation and sampling.

use serde_json::json;

use super::*;

fn picture(server: AlteredServer, alter: fn(&mut Value)) -> AlteredServer {
    on_tool(server, "picture", alter)
}

fn form(properties: Value) -> (&'static str, Value) {
    let schema = json!({"type": "object", "properties": properties});
    ("elicitation/create", json!({"message": "Please answer.", "requestedSchema": schema}))
}

/// Answers requests with unknown names as if they were known.
fn accept(server: AlteredServer, method: &'static str, answer: fn() -> Value) -> AlteredServer {
    server.on_response(method, move |_, response| {
        if response.get("error").is_some() {
            response.as_object_mut().unwrap().remove("error");
            response["result"] = answer();
        }
    })
}

pub(super) const ALL: &[Must] = &[
    lines("structured content fits the output schema", V2025_06_18, |server| {
        on_tool(server, "add", |result| {
            result["structuredContent"] = json!({"a": "one"});
        })
    }),
    lines("structured content fits the output schema since 2026", V2026_07_28, |server| {
        on_tool(server, "add", |result| {
            result["structuredContent"] = json!([1, 2]);
        })
    }),
    lines("a tool with an output schema has structured content", V2025_11_25, |server| {
        on_tool(server, "add", |result| {
            result.as_object_mut().unwrap().remove("structuredContent");
        })
    }),
    lines("an unknown tool is refused", V2025_11_25, |server| {
        accept(server, "tools/call", || json!({"content": [{"type": "text", "text": "Done."}]}))
    }),
    lines("the arguments of a tool are validated", V2025_06_18, |server| {
        server.on_method("tools/call", |message| match is_call_of(message, "add") {
            true => {
                let arguments = &message["params"]["arguments"];
                let sum = json!({
                    "a": arguments["a"].as_i64().unwrap_or_default(),
                    "b": arguments["b"].as_i64().unwrap_or_default(),
                });
                let text = json!({"type": "text", "text": sum.to_string()});
                result(message, json!({"content": [text], "structuredContent": sum}))
            }
            false => Action::Pass,
        })
    }),
    lines("a tool has an input schema", V2025_03_26, |server| {
        server.on_result("tools/list", |result| {
            result["tools"][2].as_object_mut().unwrap().remove("inputSchema");
        })
    }),
    lines("an input schema is an object, not null", V2025_11_25, |server| {
        server.on_result("tools/list", |result| result["tools"][2]["inputSchema"] = Value::Null)
    }),
    lines("the input schema of a tool has the type object", V2026_07_28, |server| {
        server.on_result("tools/list", |result| {
            result["tools"][2]["inputSchema"] = json!({"type": "array"});
        })
    }),
    lines("an image is base64", V2025_03_26, |server| {
        picture(server, |result| result["content"][0]["data"] = json!("not base64!"))
    }),
    lines("an image is base64 of the standard alphabet", V2026_07_28, |server| {
        picture(server, |result| result["content"][0]["data"] = json!("_-8="))
    }),
    lines("audio has a MIME type", V2025_11_25, |server| {
        picture(server, |result| {
            result["content"][0] = json!({"type": "audio", "data": "AAAA", "mimeType": "wav"});
        })
    }),
    lines("a content block has a known type", V2024_11_05, |server| {
        picture(server, |result| {
            result["content"][0] =
                json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"});
        })
    }),
    lines("resource links are of 2025-06-18", V2025_03_26, |server| {
        picture(server, |result| {
            result["content"][0] =
                json!({"type": "resource_link", "uri": "test://text", "name": "text"});
        })
    }),
    lines("a URI is valid", V2025_11_25, |server| {
        server.on_result("resources/list", |result| {
            let other = json!({"uri": "not a uri", "name": "other", "description": "Other."});
            result["resources"].as_array_mut().unwrap().push(other);
        })
    }),
    lines("binary data is encoded properly", V2025_06_18, |server| {
        server.on_result("resources/read", |result| {
            if let Some(blob) = result["contents"][0].get_mut("blob") {
                *blob = json!("\u{fffd}PNG");
            }
        })
    }),
    lines("contents have text or a blob", V2024_11_05, |server| {
        server.on_result("resources/read", |result| {
            result["contents"][0].as_object_mut().unwrap().remove("text");
        })
    }),
    lines("URIs are validated", V2025_03_26, |server| {
        accept(
            server,
            "resources/read",
            || json!({"contents": [{"uri": "test://text", "text": "Some text."}]}),
        )
    }),
    lines("a subscription can end", V2025_06_18, |server| {
        server.on_method("resources/unsubscribe", refuse)
    }),
    lines("an image in a prompt has a MIME type", V2025_11_25, |server| {
        server.on_result("prompts/get", |result| {
            result["messages"][0]["content"] =
                json!({"type": "image", "data": "AAAA", "mimeType": "image"});
        })
    }),
    lines("a resource in a prompt has a MIME type", V2024_11_05, |server| {
        server.on_result("prompts/get", |result| {
            let resource = json!({"uri": "test://text", "text": "Some text."});
            result["messages"][0]["content"] = json!({"type": "resource", "resource": resource});
        })
    }),
    lines("the role of a prompt message is user or assistant", V2026_07_28, |server| {
        server.on_result("prompts/get", |result| result["messages"][0]["role"] = json!("tool"))
    }),
    lines("prompts are validated", V2025_06_18, |server| {
        accept(server, "prompts/get", || {
            let content = json!({"type": "text", "text": "Hello."});
            json!({"messages": [{"role": "user", "content": content}]})
        })
    }),
    lines("at most 100 completions", V2025_03_26, |server| {
        server.on_result("completion/complete", |result| {
            let values: Vec<String> = (0..101).map(|it| it.to_string()).collect();
            result["completion"] = json!({"values": values, "hasMore": true});
        })
    }),
    lines("completions are validated", V2025_06_18, |server| {
        accept(server, "completion/complete", || json!({"completion": {"values": []}}))
    }),
    lines("log messages have no credentials", V2025_11_25, |server| {
        during_call(server, |_| {
            let data = json!({"user": "bob", "password": "hunter2-Kx93!"});
            notification("notifications/message", json!({"level": "emergency", "data": data}))
        })
    }),
    lines("a log message has a known level", V2024_11_05, |server| {
        during_call(server, |_| {
            notification("notifications/message", json!({"level": "fatal", "data": "Oh"}))
        })
    }),
    lines("the schema of an elicitation is flat", V2025_06_18, |server| {
        ask_during_call(server, || {
            form(json!({"who": {"type": "object", "properties": {"name": {"type": "string"}}}}))
        })
    }),
    lines("an elicitation asks for no password", V2025_06_18, |server| {
        ask_during_call(server, || form(json!({"password": {"type": "string"}})))
    }),
    lines("an elicitation asks for no API key", V2025_11_25, |server| {
        ask_during_call(server, || {
            form(json!({"api_key": {"type": "string", "title": "Your API key"}}))
        })
    }),
    lines("an elicitation with a URL has an id", V2025_11_25, |server| {
        ask_during_call(server, || {
            let url = "https://example.com/sign-in";
            let params = json!({"mode": "url", "message": "Please sign in.", "url": url});
            ("elicitation/create", params)
        })
    }),
    lines("the URL of an elicitation is valid", V2025_11_25, |server| {
        ask_during_call(server, || {
            let params = json!({
                "mode": "url", "message": "Please sign in.", "elicitationId": "1",
                "url": "example.com/sign in",
            });
            ("elicitation/create", params)
        })
    }),
    lines("the URL of an elicitation has no credentials", V2025_11_25, |server| {
        ask_during_call(server, || {
            let params = json!({
                "mode": "url", "message": "Please sign in.", "elicitationId": "1",
                "url": "https://example.com/sign-in?access_token=eyJhbGciOiJIUzI1NiJ9.e30.abc",
            });
            ("elicitation/create", params)
        })
    }),
    lines("the error -32042 names elicitations", V2025_11_25, |server| {
        server.on_method("tools/call", |message| match is_call_of(message, "document") {
            true => Action::json(json!({
                "jsonrpc": "2.0", "id": message["id"],
                "error": {"code": -32042, "message": "Please sign in.", "data": {"elicitations": []}},
            })),
            false => Action::Pass,
        })
    }),
    lines("tool uses in sampling are followed by their results", V2025_11_25, |server| {
        ask_during_call(server, || {
            let used = json!({"type": "tool_use", "id": "1", "name": "a", "input": {}});
            let messages = json!([
                {"role": "assistant", "content": used},
                {"role": "user", "content": {"type": "text", "text": "And now?"}},
            ]);
            let tools = json!([{"name": "a", "inputSchema": {"type": "object"}}]);
            let params = json!({"messages": messages, "maxTokens": 10, "tools": tools});
            ("sampling/createMessage", params)
        })
    }),
    lines("a declined elicitation is handled", V2025_11_25, |server| {
        server.on_request(|message| match message["result"]["action"] == "decline" {
            true => Action::Close,
            false => Action::Pass,
        })
    }),
    lines("a cursor leads on", V2025_06_18, |server| {
        server.on_result("tools/list", |result| result["nextCursor"] = json!("again"))
    }),
];
