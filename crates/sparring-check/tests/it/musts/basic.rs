//! Messages, metadata, pings, progress, cancellation and stdio.

use serde_json::json;

use super::*;

pub(super) const ALL: &[Must] = &[
    lines("a result has the id of its request", V2024_11_05, |server| {
        server.on_response("prompts/get", |request, response| {
            response["id"] = json!(request["id"].as_i64().unwrap_or(0) + 1000);
        })
    }),
    lines("the type of an id is kept", V2025_06_18, |server| {
        server.on_response("resources/read", |_, response| {
            response["id"] = json!(response["id"].to_string());
        })
    }),
    lines("an error has the id of its request", V2025_11_25, |server| {
        server.on_response("tools/call", |_, response| {
            if response.get("error").is_some() {
                response["id"] = Value::Null;
            }
        })
    }),
    lines("a response has a result or an error", V2025_11_25, |server| {
        server.on_response("completion/complete", |_, response| {
            response.as_object_mut().unwrap().remove("result");
        })
    }),
    lines("a response has not both", V2025_03_26, |server| {
        server.on_response("prompts/get", |_, response| {
            response["error"] = json!({"code": -32603, "message": "It failed."});
        })
    }),
    lines("an error code is an integer", V2026_07_28, |server| {
        server.on_response("tools/call", |_, response| {
            if let Some(error) = response.get_mut("error") {
                error["code"] = json!("-32602");
            }
        })
    }),
    lines("an error has a message", V2024_11_05, |server| {
        server.on_response("resources/read", |_, response| {
            if let Some(error) = response.get_mut("error") {
                error.as_object_mut().unwrap().remove("message");
            }
        })
    }),
    lines("a notification gets no response", V2025_11_25, |server| {
        server.on_method("notifications/initialized", |_| {
            Action::AnswerAndPass(vec![
                json!({"jsonrpc": "2.0", "id": null, "result": {}}).to_string(),
            ])
        })
    }),
    lines("an unknown notification gets no response", V2026_07_28, |server| {
        server.on_request(|message| {
            let method = message["method"].as_str().unwrap_or_default();
            match message.get("id").is_none() && method.starts_with("notifications/") {
                true if method != "notifications/cancelled" => {
                    let error = json!({"code": -32601, "message": "Method not found"});
                    Action::json(json!({"jsonrpc": "2.0", "id": null, "error": error}))
                }
                _ => Action::Pass,
            }
        })
    }),
    lines("a cancellation gets no response", V2025_06_18, |server| {
        server.on_method("notifications/cancelled", |message| {
            let id = &message["params"]["requestId"];
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": {}});
            Action::AnswerAndPass(vec![answer.to_string()])
        })
    }),
    lines("an id of the server is new in the session", V2024_11_05, |server| {
        let server = server.on_request(|message| match message["id"] == "always" {
            true => Action::Answer(Vec::new()),
            false => Action::Pass,
        });
        during_call(server, |_| {
            json!({"jsonrpc": "2.0", "id": "always", "method": "roots/list"}).to_string()
        })
    }),
    lines("an id of the server is not null", V2025_06_18, |server| {
        during_call(server, |_| {
            json!({"jsonrpc": "2.0", "id": null, "method": "roots/list"}).to_string()
        })
    }),
    lines("a notification of the server has no id", V2025_06_18, |server| {
        server.on_line(|_, line| {
            vec![match line.contains("\"notifications/message\"") {
                true => line.replacen('{', r#"{"id":77,"#, 1),
                false => line,
            }]
        })
    }),
    lines("a request gets one response", V2025_03_26, |server| {
        server.on_line(|request, line| match request {
            Some(request) if request["method"] == "prompts/get" => vec![line.clone(), line],
            _ => vec![line],
        })
    }),
    lines("a request gets a response", V2025_06_18, |server| {
        server.on_method("resources/templates/list", |_| Action::Answer(Vec::new()))
    }),
    lines("an unknown method gets an error", V2025_03_26, |server| {
        server.on_request(|message| {
            let method = message["method"].as_str().unwrap_or_default();
            let known = [
                "initialize",
                "ping",
                "tools/",
                "resources/",
                "prompts/",
                "logging/",
                "completion/",
                "notifications/",
                "server/",
                "subscriptions/",
            ];
            match message.get("id").is_some() && !known.iter().any(|it| method.starts_with(it)) {
                true if !method.is_empty() => result(message, json!({})),
                _ => Action::Pass,
            }
        })
    }),
    lines("an unknown method gets the error -32601", V2026_07_28, |server| {
        server.on_line(|_, line| vec![line.replace("\"code\":-32601", "\"code\":-32600")])
    }),
    lines("a batch is accepted", V2025_03_26, |server| {
        server.on_request(|message| match message.is_array() {
            true => Action::json(json!({
                "jsonrpc": "2.0", "id": null,
                "error": {"code": -32600, "message": "Invalid Request"},
            })),
            false => Action::Pass,
        })
    }),
    lines("every request of a batch gets a response", V2025_03_26, |server| {
        server.on_request(|message| match message.as_array() {
            Some(batch) => match batch.iter().find(|it| it.get("id").is_some()) {
                Some(first) => Action::json(json!([
                    {"jsonrpc": "2.0", "id": first["id"], "result": {}},
                ])),
                None => Action::Answer(Vec::new()),
            },
            None => Action::Pass,
        })
    }),
    lines("a message that is not JSON does not end the server", V2024_11_05, |server| {
        server.on_request(|message| match message.is_string() {
            true => Action::Close,
            false => Action::Pass,
        })
    }),
    lines("a wrong value for jsonrpc does not end the server", V2025_11_25, |server| {
        server.on_request(|message| match message["jsonrpc"] == "2.0" || message.is_array() {
            true => Action::Pass,
            false => Action::Close,
        })
    }),
    lines("a key of _meta ends with a letter or a digit", V2025_11_25, |server| {
        on_tool(server, "echo", |result| result["_meta"] = json!({"com.example/key-": 1}))
    }),
    lines("a label of a prefix starts with a letter", V2025_06_18, |server| {
        server.on_result("prompts/get", |result| result["_meta"] = json!({"2example.com/key": 1}))
    }),
    lines("the prefixes of the protocol are reserved", V2025_06_18, |server| {
        server.on_result("resources/list", |result| {
            result["resources"][0]["_meta"] = json!({"modelcontextprotocol.io/own": 1});
        })
    }),
    lines("a schema is valid in its dialect", V2025_11_25, |server| {
        server.on_result("tools/list", |result| {
            result["tools"][0]["inputSchema"]["properties"]["text"]["minLength"] = json!("one");
        })
    }),
    lines("a ping gets a response", V2025_03_26, |server| {
        server.on_method("ping", |_| Action::Answer(Vec::new()))
    }),
    lines("the response to a ping is empty", V2025_11_25, |server| {
        server.on_result("ping", |result| result["status"] = json!("ok"))
    }),
    lines("a server implements ping", V2025_06_18, |server| server.on_method("ping", refuse)),
    lines("progress increases", V2024_11_05, |server| {
        server.on_line(|_, line| vec![line.replace("\"progress\":2", "\"progress\":1")])
    }),
    lines("progress increases since 2026", V2026_07_28, |server| {
        server.on_line(|_, line| vec![line.replace("\"progress\":2", "\"progress\":0")])
    }),
    lines("a progress token is one of a request", V2025_06_18, |server| {
        during_call(server, |_| {
            notification("notifications/progress", json!({"progressToken": "own", "progress": 1}))
        })
    }),
    lines("no progress without a token", V2026_07_28, |server| {
        during_call(server, |request| {
            let params = json!({"progressToken": request["id"], "progress": 1});
            notification("notifications/progress", params)
        })
    }),
    lines("progress stops with the response", V2025_11_25, |server| {
        server.on_line(|request, line| match request {
            Some(request) if is_call_of(request, "slow") => {
                match request["params"]["_meta"].get("progressToken") {
                    Some(token) => {
                        let params = json!({"progressToken": token, "progress": 9});
                        vec![line, notification("notifications/progress", params)]
                    }
                    None => vec![line],
                }
            }
            _ => vec![line],
        })
    }),
    lines("a cancellation names a request of the server", V2025_06_18, |server| {
        during_call(server, |_| {
            notification("notifications/cancelled", json!({"requestId": "never-sent"}))
        })
    }),
    lines("only messages on stdout", V2025_06_18, |server| {
        server.on_method("tools/call", |_| {
            Action::AnswerAndPass(vec!["INFO calling a tool".to_owned()])
        })
    }),
    lines("no line breaks in a message", V2026_07_28, |server| {
        server.on_line(|request, line| match request {
            Some(request) if request["method"] == "prompts/get" => {
                let message: Value = serde_json::from_str(&line).unwrap();
                vec![serde_json::to_string_pretty(&message).unwrap()]
            }
            _ => vec![line],
        })
    }),
    lines("messages are UTF-8", V2025_11_25, |server| {
        on_tool(server, "failing", |result| result["content"][0]["text"] = json!("d\u{e9}j\u{e0}"))
            .on_bytes(|bytes| {
                let text = String::from_utf8(bytes).unwrap();
                text.chars().map(|it| it as u8).collect()
            })
    }),
    lines("more: an unknown notification does not end the server", V2025_06_18, |server| {
        server.on_request(|message| {
            let method = message["method"].as_str().unwrap_or_default();
            let known = [
                "notifications/initialized",
                "notifications/cancelled",
                "notifications/progress",
                "notifications/roots/list_changed",
            ];
            let is_unknown = message.get("id").is_none() && !known.contains(&method);
            if is_unknown && message.is_object() { Action::Close } else { Action::Pass }
        })
    }),
    lines("more: an unknown method does not end the server", V2026_07_28, |server| {
        server.on_line(|request, line| match line.contains("-32601") && request.is_some() {
            true => Vec::new(),
            false => vec![line],
        })
    }),
    lines("more: a call without arguments does not end the server", V2025_11_25, |server| {
        server.on_method("tools/call", |message| {
            match message["params"].get("arguments").is_none() {
                true => Action::Close,
                false => Action::Pass,
            }
        })
    }),
    lines("more: unknown fields of params are accepted", V2025_03_26, |server| {
        server.on_request(|message| {
            let Some(params) = message["params"].as_object() else { return Action::Pass };
            let known = [
                "name",
                "arguments",
                "_meta",
                "cursor",
                "uri",
                "ref",
                "argument",
                "level",
                "protocolVersion",
                "capabilities",
                "clientInfo",
                "requestId",
                "reason",
            ];
            let is_strict = message.get("id").is_some() && !message["method"].is_null();
            match is_strict && params.keys().any(|it| !known.contains(&it.as_str())) {
                true => error(message, -32602, "Unknown field"),
                false => Action::Pass,
            }
        })
    }),
    lines("more: unknown keys of _meta are accepted", V2025_11_25, |server| {
        server.on_request(|message| {
            let Some(meta) = message["params"]["_meta"].as_object() else { return Action::Pass };
            match meta.keys().any(|it| it != "progressToken") && message.get("id").is_some() {
                true => error(message, -32602, "Unknown key of _meta"),
                false => Action::Pass,
            }
        })
    }),
    lines("more: a text as id is answered with this text", V2025_06_18, |server| {
        server.on_line(|_, line| {
            let mut message: Value = serde_json::from_str(&line).unwrap();
            match message["id"].as_str().map(str::to_owned) {
                Some(id) if message.get("method").is_none() => {
                    message["id"] = json!(id.len());
                    vec![message.to_string()]
                }
                _ => vec![line],
            }
        })
    }),
    lines("more: a long text as id is kept", V2024_11_05, |server| {
        server.on_line(|_, line| {
            let mut message: Value = serde_json::from_str(&line).unwrap();
            match message["id"].as_i64() {
                Some(id) if message.get("method").is_none() && id > 1 => {
                    message["id"] = json!(id as f64 + 0.5);
                    vec![message.to_string()]
                }
                _ => vec![line],
            }
        })
    }),
    lines("more: params that are a list are refused", V2025_11_25, |server| {
        server.on_request(|message| match message["params"].is_array() {
            true if message.get("id").is_some() => result(message, json!({})),
            _ => Action::Pass,
        })
    }),
    lines("more: a request after end of the handshake only", V2025_06_18, |server| {
        server.on_method("initialize", |_| {
            let params = json!({"messages": [], "maxTokens": 1});
            let ask = json!({
                "jsonrpc": "2.0", "id": "early", "method": "sampling/createMessage",
                "params": params,
            });
            Action::AnswerAndPass(vec![ask.to_string()])
        })
    }),
    lines("more: the answer comes once, also with an error", V2024_11_05, |server| {
        server.on_line(|request, line| match request {
            Some(request) if line.contains("\"error\"") && request["method"] == "tools/call" => {
                vec![line.clone(), line]
            }
            _ => vec![line],
        })
    }),
];
