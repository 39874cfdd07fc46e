//! Handshake, versions and capabilities up to 2025-11-25.

use serde_json::json;

use super::*;

fn sampling() -> (&'static str, Value) {
    let message = json!({"role": "user", "content": {"type": "text", "text": "Hello"}});
    ("sampling/createMessage", json!({"messages": [message], "maxTokens": 10}))
}

pub(super) const ALL: &[Must] = &[
    lines("the server answers with its capabilities", V2025_06_18, |server| {
        server.on_result("initialize", |result| {
            result.as_object_mut().unwrap().remove("capabilities");
        })
    }),
    lines("the server answers with its name", V2024_11_05, |server| {
        server.on_result("initialize", |result| {
            result.as_object_mut().unwrap().remove("serverInfo");
        })
    }),
    lines("an unknown version gets another version", V2025_11_25, |server| {
        server.on_method("initialize", |message| {
            let version = message["params"]["protocolVersion"].as_str().unwrap_or_default();
            match Revision::from_name(version) {
                Some(_) => Action::Pass,
                None => error(message, -32602, "Unsupported protocol version"),
            }
        })
    }),
    lines("an unknown version is not agreed to", V2024_11_05, |server| {
        server.on_line(|request, line| match request {
            Some(request) if request["method"] == "initialize" => {
                let mut response: Value = serde_json::from_str(&line).unwrap();
                response["result"]["protocolVersion"] =
                    request["params"]["protocolVersion"].clone();
                vec![response.to_string()]
            }
            _ => vec![line],
        })
    }),
    lines("an undeclared capability of the client is not used: sampling", V2025_06_18, |server| {
        ask_during_call(server, sampling)
    }),
    lines("an undeclared capability of the client is not used: roots", V2025_11_25, |server| {
        ask_during_call(server, || ("roots/list", json!({})))
    }),
    lines(
        "an undeclared capability of the client is not used: elicitation",
        V2025_06_18,
        |server| {
            ask_during_call(server, || {
                let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
                ("elicitation/create", json!({"message": "Who?", "requestedSchema": schema}))
            })
        },
    ),
    lines("tools in sampling need sampling.tools", V2025_11_25, |server| {
        ask_during_call(server, || {
            let (method, mut params) = sampling();
            params["tools"] = json!([{"name": "a", "inputSchema": {"type": "object"}}]);
            (method, params)
        })
    }),
    lines("the mode url needs elicitation.url", V2025_11_25, |server| {
        ask_during_call(server, || {
            let params = json!({
                "mode": "url", "message": "Please sign in.", "elicitationId": "1",
                "url": "https://example.com/sign-in",
            });
            ("elicitation/create", params)
        })
    }),
    lines("a changed list needs listChanged", V2025_06_18, |server| {
        let server = server.on_result("initialize", |result| {
            result["capabilities"]["tools"] = json!({});
        });
        during_call(server, |_| notification("notifications/tools/list_changed", json!({})))
    }),
    lines("an update needs subscribe", V2025_11_25, |server| {
        let server = server.on_result("initialize", |result| {
            result["capabilities"]["resources"] = json!({"listChanged": true});
        });
        during_call(server, |_| {
            notification("notifications/resources/updated", json!({"uri": "test://text"}))
        })
    }),
    lines("logging is declared", V2025_03_26, |server| without_capability(server, "logging")),
    lines("completions are declared", V2025_06_18, |server| {
        without_capability(server, "completions")
    }),
    lines("tools are declared", V2024_11_05, |server| without_capability(server, "tools")),
    lines("resources are declared", V2025_11_25, |server| without_capability(server, "resources")),
    lines("prompts are declared", V2026_07_28, |server| without_capability(server, "prompts")),
    lines("declared prompts are implemented", V2025_06_18, |server| {
        server.on_method("prompts/list", refuse)
    }),
    lines("declared tools are implemented", V2024_11_05, |server| {
        server.on_method("tools/list", refuse)
    }),
    lines("declared resources are implemented", V2026_07_28, |server| {
        server.on_method("resources/list", refuse)
    }),
    lines("listed prompts can be used", V2025_03_26, |server| {
        server.on_method("prompts/get", refuse)
    }),
    lines("listed resources can be read", V2024_11_05, |server| {
        server.on_method("resources/read", refuse)
    }),
    lines("declared completions are implemented", V2025_11_25, |server| {
        server.on_method("completion/complete", refuse)
    }),
    lines("declared logging is implemented", V2025_06_18, |server| {
        server.on_method("logging/setLevel", refuse)
    }),
    lines("every level of log messages is accepted", V2024_11_05, |server| {
        server.on_method("logging/setLevel", |message| {
            match message["params"]["level"] == "notice" {
                true => error(message, -32602, "Unknown level"),
                false => Action::Pass,
            }
        })
    }),
    lines("declared subscriptions are implemented", V2025_11_25, |server| {
        server.on_method("resources/subscribe", refuse)
    }),
];
