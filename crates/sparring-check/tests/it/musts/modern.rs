//! Versions, metadata, input requests, subscriptions and caching of 2026-07-28.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;

use super::*;
use crate::support::CORRECT;

const META: &str = "io.modelcontextprotocol";

fn meta<'a>(message: &'a Value, key: &str) -> &'a Value {
    &message["params"]["_meta"][format!("{META}/{key}")]
}

/// Adds missing metadata to requests before the correct server sees them: it answers for them.
fn accept_without(server: AlteredServer, key: &'static str) -> AlteredServer {
    server.on_request(move |message| {
        let is_request = message.get("id").is_some() && message["method"].is_string();
        match is_request && meta(message, key).is_null() && message["method"] != "initialize" {
            true => result(
                message,
                json!({
                    "resultType": "complete", "tools": [], "prompts": [], "resources": [],
                    "resourceTemplates": [], "ttlMs": 0, "cacheScope": "public",
                    "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                }),
            ),
            false => Action::Pass,
        }
    })
}

fn is_unknown_version(message: &Value) -> bool {
    let version = meta(message, "protocolVersion").as_str();
    version.is_some_and(|it| Revision::from_name(it).is_none())
}

/// Alters the acknowledgment of each subscription.
fn on_acknowledgment(server: AlteredServer, alter: fn(Value) -> Vec<Value>) -> AlteredServer {
    server.on_line(move |_, line| {
        match line.contains("\"notifications/subscriptions/acknowledged\"") {
            true => {
                let message = serde_json::from_str(&line).unwrap();
                alter(message).into_iter().map(|it| it.to_string()).collect()
            }
            false => vec![line],
        }
    })
}

/// Alters each result that asks for input.
fn on_input_required(server: AlteredServer, alter: fn(&mut Value)) -> AlteredServer {
    server.on_result("tools/call", move |result| {
        if result["resultType"] == "input_required" {
            alter(result);
        }
    })
}

/// Asks for input in the first round of each call of `echo`.
fn ask_for_input(server: AlteredServer, question: fn() -> Value) -> AlteredServer {
    server.on_method("tools/call", move |message| {
        let is_first = message["params"].get("inputResponses").is_none();
        match is_call_of(message, "echo") && is_first {
            true => {
                let inputs = json!({"question": question()});
                result(message, json!({"resultType": "input_required", "inputRequests": inputs}))
            }
            false => Action::Pass,
        }
    })
}

pub(super) const ALL: &[Must] = &[
    lines("a request without a version is refused", V2026_07_28, |server| {
        accept_without(server, "protocolVersion")
    }),
    lines("a request without capabilities is refused", V2026_07_28, |server| {
        accept_without(server, "clientCapabilities")
    }),
    lines("malformed metadata gets the error -32602", V2026_07_28, |server| {
        server
            .on_response("tools/list", |request, response| {
                if meta(request, "clientCapabilities").is_null() {
                    response["error"]["code"] = json!(-32600);
                }
            })
            .on_response("server/discover", |request, response| {
                if meta(request, "clientCapabilities").is_null() {
                    response["error"]["code"] = json!(-32600);
                }
            })
    }),
    lines("a request without clientInfo is accepted", V2026_07_28, |server| {
        server.on_request(|message| {
            let is_request = message.get("id").is_some() && message["method"].is_string();
            let lacks = meta(message, "clientInfo").is_null()
                && !meta(message, "protocolVersion").is_null();
            match is_request && lacks {
                true => error(message, -32602, "clientInfo is missing"),
                false => Action::Pass,
            }
        })
    }),
    lines("an unknown version gets the error -32022", V2026_07_28, |server| {
        server.on_request(|message| match is_unknown_version(message) {
            true => error(message, -32602, "Unsupported protocol version"),
            false => Action::Pass,
        })
    }),
    lines("the error -32022 names the versions", V2026_07_28, |server| {
        server.on_request(|message| match is_unknown_version(message) {
            true => error(message, -32022, "Unsupported protocol version"),
            false => Action::Pass,
        })
    }),
    lines("an unknown version is not served", V2026_07_28, |server| {
        server.on_request(|message| match is_unknown_version(message) {
            true => result(
                message,
                json!({
                    "resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "public",
                    "prompts": [], "resources": [], "capabilities": {"tools": {}},
                    "supportedVersions": ["2026-07-28"],
                }),
            ),
            false => Action::Pass,
        })
    }),
    lines("discovery is implemented", V2026_07_28, |server| {
        server.on_method("server/discover", refuse)
    }),
    lines("a listed version is spoken", V2026_07_28, |server| {
        server.on_method("initialize", |message| {
            match message["params"]["protocolVersion"] == "2025-06-18" {
                true => error(message, -32602, "Unsupported protocol version"),
                false => Action::Pass,
            }
        })
    }),
    lines("no request depends on earlier requests", V2026_07_28, |server| {
        server.on_connect(|server| {
            let discovered = Arc::new(AtomicBool::new(false));
            server.on_request(move |message| {
                let is_open = discovered.load(Ordering::SeqCst);
                match message["method"].as_str() {
                    Some("server/discover") => {
                        discovered.store(true, Ordering::SeqCst);
                        Action::Pass
                    }
                    Some(method) if !is_open && !method.starts_with("notifications/") => {
                        error(message, -32600, "Please discover the server first.")
                    }
                    _ => Action::Pass,
                }
            })
        })
    }),
    lines("the server sends no requests", V2026_07_28, |server| {
        ask_during_call(server, || ("roots/list", json!({})))
    }),
    lines("an interim result has inputs or a state", V2026_07_28, |server| {
        on_input_required(server, |result| {
            let result = result.as_object_mut().unwrap();
            result.remove("inputRequests");
            result.remove("requestState");
        })
    }),
    lines("inputs are requests of the protocol", V2026_07_28, |server| {
        on_input_required(server, |result| {
            result["inputRequests"] = json!({"ping": {"method": "ping"}});
        })
    }),
    lines("only calls, prompts and reads ask for input", V2026_07_28, |server| {
        server.on_method("completion/complete", |message| {
            result(message, json!({"resultType": "input_required", "requestState": "1"}))
        })
    }),
    lines("inputs need their capability: elicitation", V2026_07_28, |server| {
        ask_for_input(server, || {
            let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
            let params = json!({"message": "Who?", "requestedSchema": schema});
            json!({"method": "elicitation/create", "params": params})
        })
    }),
    lines("inputs need their capability: sampling", V2026_07_28, |server| {
        ask_for_input(server, || {
            let message = json!({"role": "user", "content": {"type": "text", "text": "Hello"}});
            let params = json!({"messages": [message], "maxTokens": 10});
            json!({"method": "sampling/createMessage", "params": params})
        })
    }),
    lines("inputs need their capability: roots", V2026_07_28, |server| {
        ask_for_input(server, || json!({"method": "roots/list"}))
    }),
    lines("a missing capability gets the error -32021", V2026_07_28, |server| {
        server.on_response("tools/call", |request, response| {
            if is_call_of(request, "ask")
                && meta(request, "clientCapabilities").get("elicitation").is_none()
            {
                response.as_object_mut().unwrap().remove("result");
                response["error"] = json!({"code": -32603, "message": "No elicitation."});
            }
        })
    }),
    lines("a reserved error code is not used", V2026_07_28, |server| {
        server.on_response("tools/call", |_, response| {
            if let Some(error) = response.get_mut("error") {
                error["code"] = json!(-32040);
            }
        })
    }),
    lines("a forbidden error code is not used", V2026_07_28, |server| {
        server.on_response("resources/read", |_, response| {
            if let Some(error) = response.get_mut("error") {
                error["code"] = json!(-32002);
            }
        })
    }),
    lines("an unknown resource does not have empty contents", V2026_07_28, |server| {
        server.on_response("resources/read", |_, response| {
            if response.get("error").is_some() {
                response.as_object_mut().unwrap().remove("error");
                response["result"] = json!({
                    "resultType": "complete", "contents": [], "ttlMs": 0, "cacheScope": "public",
                });
            }
        })
    }),
    lines("a result has a resultType", V2026_07_28, |server| {
        on_tool(server, "echo", |result| {
            result.as_object_mut().unwrap().remove("resultType");
        })
    }),
    lines("a resultType is known", V2026_07_28, |server| {
        server.on_result("prompts/get", |result| result["resultType"] = json!("partial"))
    }),
    lines("a subscription is acknowledged", V2026_07_28, |server| {
        on_acknowledgment(server, |_| Vec::new())
    }),
    lines("the acknowledgment comes first", V2026_07_28, |server| {
        on_acknowledgment(server, |message| {
            let meta = &message["params"]["_meta"];
            let changed = json!({
                "jsonrpc": "2.0", "method": "notifications/tools/list_changed",
                "params": {"_meta": meta},
            });
            vec![changed, message]
        })
    }),
    lines("the acknowledgment names the subscription", V2026_07_28, |server| {
        on_acknowledgment(server, |mut message| {
            message["params"].as_object_mut().unwrap().remove("_meta");
            vec![message]
        })
    }),
    lines("a notification of a subscription names it", V2026_07_28, |server| {
        on_acknowledgment(server, |message| {
            let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            vec![message, changed]
        })
    }),
    lines("only requested notifications", V2026_07_28, |server| {
        on_acknowledgment(server, |message| {
            let mut params = json!({"_meta": message["params"]["_meta"]});
            params["uri"] = json!("test://never-requested");
            let updated = json!({
                "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params,
            });
            vec![message, updated]
        })
    }),
    lines("an acknowledgment grants only what was requested", V2026_07_28, |server| {
        on_acknowledgment(server, |mut message| {
            message["params"]["notifications"] = json!({
                "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
                "resourceSubscriptions": ["test://never-requested"],
            });
            vec![message]
        })
    }),
    lines("log messages are only sent on request", V2026_07_28, |server| {
        server.on_line(|request, line| match request {
            Some(request)
                if request["method"] == "prompts/get" && meta(request, "logLevel").is_null() =>
            {
                let params = json!({"level": "emergency", "data": "Listing."});
                vec![notification("notifications/message", params), line]
            }
            _ => vec![line],
        })
    }),
    lines("log messages keep to the level", V2026_07_28, |server| {
        server.on_line(|request, line| match request {
            Some(request)
                if is_call_of(request, "echo") && !meta(request, "logLevel").is_null() =>
            {
                let params = json!({"level": "info", "data": "Repeating a text."});
                vec![notification("notifications/message", params), line]
            }
            _ => vec![line],
        })
    }),
    lines("logging is declared", V2026_07_28, |server| without_capability(server, "logging")),
    lines("completions are declared", V2026_07_28, |server| {
        without_capability(server, "completions")
    }),
    lines("a list does not vary with the connection", V2026_07_28, |server| {
        let connections = Arc::new(AtomicUsize::new(0));
        server.on_connect(move |server| {
            let number = connections.fetch_add(1, Ordering::SeqCst);
            server.on_result("tools/list", move |result| {
                if number > 0 {
                    result["tools"].as_array_mut().unwrap().pop();
                }
            })
        })
    }),
    lines("a list does not vary with other requests", V2026_07_28, |server| {
        server.on_connect(|server| {
            let called = Arc::new(AtomicBool::new(false));
            let seen = Arc::clone(&called);
            let server = server.on_method("tools/call", move |_| {
                seen.store(true, Ordering::SeqCst);
                Action::Pass
            });
            server.on_result("prompts/list", move |result| {
                if !called.load(Ordering::SeqCst) {
                    result["prompts"].as_array_mut().unwrap().pop();
                }
            })
        })
    }),
    lines("cacheable results have hints", V2026_07_28, |server| {
        server.on_result("resources/templates/list", |result| {
            result.as_object_mut().unwrap().remove("ttlMs");
        })
    }),
    lines("ttlMs is not negative", V2026_07_28, |server| {
        server.on_result("resources/read", |result| result["ttlMs"] = json!(-5))
    }),
    lines("all pages have the same scope", V2026_07_28, |_| {
        let server = AlteredServer::new(&format!("page_size: 3\n{CORRECT}"));
        server.on_result("tools/list", |result| {
            if result.get("nextCursor").is_none() {
                result["cacheScope"] = json!("private");
            }
        })
    }),
    lines("a server cancels only subscriptions", V2026_07_28, |server| {
        during_call(server, |request| {
            notification("notifications/cancelled", json!({"requestId": request["id"]}))
        })
    }),
    lines("the name of an extension has a prefix", V2026_07_28, |server| {
        server.on_result("server/discover", |result| {
            result["capabilities"]["extensions"] = json!({"tables": {}});
        })
    }),
    lines("x-mcp-header is a token", V2026_07_28, |server| {
        server.on_result("tools/list", |result| {
            let text = &mut result["tools"][0]["inputSchema"]["properties"]["text"];
            text["x-mcp-header"] = json!("The Text");
        })
    }),
    lines("x-mcp-header is unique", V2026_07_28, |server| {
        server.on_result("tools/list", |result| {
            let properties = &mut result["tools"][1]["inputSchema"]["properties"];
            properties["a"]["x-mcp-header"] = json!("Number");
            properties["b"]["x-mcp-header"] = json!("number");
        })
    }),
    lines("traceparent follows the standard", V2026_07_28, |server| {
        during_call(server, |_| {
            let meta = json!({"traceparent": "00-xyz"});
            notification("notifications/tools/list_changed", json!({"_meta": meta}))
        })
    }),
    lines("a cancelled request gets no more messages", V2026_07_28, |server| {
        server.on_method("notifications/cancelled", |message| {
            let id = &message["params"]["requestId"];
            let answer = json!({
                "jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "content": []},
            });
            Action::AnswerAndPass(vec![answer.to_string()])
        })
    }),
    lines("the acknowledgment names its own subscription", V2026_07_28, |server| {
        on_acknowledgment(server, |mut message| {
            message["params"]["_meta"][format!("{META}/subscriptionId")] = json!("another");
            vec![message]
        })
    }),
    lines("requestState is a text", V2026_07_28, |server| {
        on_input_required(server, |result| result["requestState"] = json!({"round": 1}))
    }),
    lines("an interim result is not cached", V2026_07_28, |server| {
        on_input_required(server, |result| {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        })
    }),
    lines("a final result after the input", V2026_07_28, |server| {
        server.on_response("tools/call", |request, response| {
            if request["params"].get("inputResponses").is_some() {
                response.as_object_mut().unwrap().remove("error");
                response["result"] = json!({"resultType": "complete", "content": "Hello!"});
            }
        })
    }),
    lines("supported versions are texts of versions", V2026_07_28, |server| {
        server.on_result("server/discover", |result| {
            result["supportedVersions"].as_array_mut().unwrap().push(json!(7));
        })
    }),
    lines("the error -32022 does not list the refused version", V2026_07_28, |server| {
        server.on_request(|message| match is_unknown_version(message) {
            true => Action::json(json!({
                "jsonrpc": "2.0", "id": message["id"],
                "error": {
                    "code": -32022, "message": "Unsupported protocol version",
                    "data": {
                        "supported": [meta(message, "protocolVersion")],
                        "requested": meta(message, "protocolVersion"),
                    },
                },
            })),
            false => Action::Pass,
        })
    }),
    lines("a list needs no cursor", V2026_07_28, |server| {
        server.on_method("prompts/list", |message| {
            match message["params"].get("cursor").is_none() {
                true => error(message, -32602, "cursor is missing"),
                false => Action::Pass,
            }
        })
    }),
];
