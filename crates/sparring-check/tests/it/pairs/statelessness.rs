//! Requests that stand for themselves since 2026-07-28: in an unknown version, without metadata,
//! as the first of a connection, and after requests with other metadata.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use super::lifecycle::{CAPABILITIES, CLIENT_INFO, has_unknown_version, meta, only_modern};
use super::utilities::{error, result, server_info};
use crate::support::{Action, AlteredServer};

const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Answers requests with this method that fit.
fn on(
    server: AlteredServer,
    method: &'static str,
    fits: fn(&Value) -> bool,
    answer: fn(&Value) -> Action,
) -> AlteredServer {
    server.on_method(method, move |request| match fits(request) {
        true => answer(request),
        false => Action::Pass,
    })
}

/// A result of a call, a prompt or a read.
fn accept(request: &Value) -> Action {
    let text = json!({"type": "text", "text": "x"});
    let messages = json!([{"role": "user", "content": text}]);
    let values = json!({
        "resultType": "complete", "content": [text], "messages": messages, "ttlMs": 0,
        "contents": [], "completion": {"values": []}, "cacheScope": "public",
    });
    result(request, values)
}

fn refuse(request: &Value) -> Action {
    error(request, -32602)
}

fn lacks_meta(request: &Value) -> bool {
    request["params"].get("_meta").is_none()
}

fn lacks_capabilities(request: &Value) -> bool {
    meta(request, CAPABILITIES).is_none()
}

fn acknowledge(request: &Value) -> Action {
    let mut meta = server_info();
    meta["io.modelcontextprotocol/subscriptionId"] = request["id"].clone();
    let params = json!({"_meta": meta, "notifications": request["params"]["notifications"]});
    let method = "notifications/subscriptions/acknowledged";
    Action::json(json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

fn is_ask(request: &Value) -> bool {
    request["params"]["name"] == "ask"
}

fn is_slow(request: &Value) -> bool {
    request["params"]["name"] == "slow"
}

/// Asks for a name.
fn ask(request: &Value) -> Action {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let params = json!({"mode": "form", "message": "Who?", "requestedSchema": schema});
    let inputs = json!({"who": {"method": "elicitation/create", "params": params}});
    result(request, json!({"resultType": "input_required", "inputRequests": inputs}))
}

/// Sends a message with the last value of this key of the metadata before each call of `slow`
/// that has none.
fn remembering(
    server: AlteredServer,
    key: &'static str,
    message: fn(&Value) -> Value,
) -> AlteredServer {
    server.on_connect(move |server| {
        let last = Mutex::new(None);
        server.on_method("tools/call", move |request| {
            let mut last = last.lock().unwrap();
            match meta(request, key) {
                Some(value) => *last = Some(value.clone()),
                None if is_slow(request) => {
                    let sent = last.as_ref().map(|it| message(it).to_string());
                    return sent.map_or(Action::Pass, |it| Action::AnswerAndPass(vec![it]));
                }
                None => {}
            }
            Action::Pass
        })
    })
}

/// Sends this message before the response to discovery.
fn early(server: AlteredServer, method: &'static str, id: Value, params: Value) -> AlteredServer {
    server.on_connect(move |server| {
        let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if !id.is_null() {
            message["id"] = id.clone();
        }
        let was_sent = AtomicBool::new(false);
        server.on_method("server/discover", move |_| match was_sent.swap(true, Ordering::SeqCst) {
            true => Action::Pass,
            false => Action::AnswerAndPass(vec![message.to_string()]),
        })
    })
}

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::UnsupportedVersion, V2026_07_28, |server| {
        on(server, "tools/call", has_unknown_version, accept)
    }),
    Case::lines(Rule::UnsupportedVersion, V2026_07_28, |server| {
        on(server, "prompts/get", has_unknown_version, accept)
    }),
    Case::lines(Rule::UnsupportedVersion, V2026_07_28, |server| {
        on(server, "subscriptions/listen", has_unknown_version, acknowledge)
    }),
    Case::lines(Rule::MissingMeta, V2026_07_28, |server| {
        on(server, "tools/call", lacks_capabilities, accept)
    }),
    Case::lines(Rule::MissingMeta, V2026_07_28, |server| {
        on(server, "completion/complete", lacks_meta, accept)
    }),
    Case::lines(Rule::MissingMeta, V2026_07_28, |server| {
        on(server, "resources/read", lacks_meta, accept)
    }),
    Case::lines(Rule::RequiredClientInfo, V2026_07_28, |server| {
        let lacks = |it: &Value| meta(it, CLIENT_INFO).is_none() && !lacks_capabilities(it);
        on(server, "tools/call", lacks, refuse)
    }),
    Case::lines(Rule::Stateful, V2026_07_28, |server| {
        server.on_connect(|server| {
            let has_listed = AtomicBool::new(false);
            server.on_request(move |request| {
                has_listed.fetch_or(request["method"] == "tools/list", Ordering::SeqCst);
                let is_call = request["method"] == "tools/call";
                match is_call && !has_listed.load(Ordering::SeqCst) {
                    true => error(request, -32600),
                    false => Action::Pass,
                }
            })
        })
    }),
    // Keeps the round in its memory.
    Case::lines(Rule::Stateful, V2026_07_28, |server| {
        server.on_connect(|server| {
            let has_asked = AtomicBool::new(false);
            server.on_method("tools/call", move |request| {
                let responses = &request["params"]["inputResponses"];
                if !is_ask(request) || lacks_forms(request) {
                    return Action::Pass;
                }
                let has_answer = responses["who"]["action"].is_string();
                match responses.is_null() {
                    true => has_asked.store(true, Ordering::SeqCst),
                    false if !responses.is_object() || responses["who"].is_number() => {
                        return refuse(request);
                    }
                    false if has_answer && has_asked.load(Ordering::SeqCst) => {
                        return accept(request);
                    }
                    false => {}
                }
                ask(request)
            })
        })
    }),
    Case::lines(Rule::VaryingList, V2026_07_28, |server| {
        server.on_connect(|server| {
            let discovered = std::sync::Arc::new(AtomicBool::new(false));
            let learned = std::sync::Arc::clone(&discovered);
            let server = server.on_method("server/discover", move |_| {
                learned.store(true, Ordering::SeqCst);
                Action::Pass
            });
            server.on_result("prompts/list", move |result| {
                if discovered.load(Ordering::SeqCst) {
                    result["prompts"].as_array_mut().unwrap().pop();
                }
            })
        })
    }),
    Case::lines(Rule::Undeclared, V2026_07_28, |server| {
        server.on_connect(|server| {
            let could_ask = AtomicBool::new(false);
            server.on_method("tools/call", move |request| {
                could_ask.fetch_or(!lacks_elicitation(request), Ordering::SeqCst);
                let is_first = request["params"]["inputResponses"].is_null();
                match is_ask(request) && is_first && could_ask.load(Ordering::SeqCst) {
                    true if lacks_elicitation(request) => ask(request),
                    _ => Action::Pass,
                }
            })
        })
    }),
    Case::lines(Rule::Undeclared, V2026_07_28, |server| {
        let has_only_url = |request: &Value| {
            let declared = meta(request, CAPABILITIES).map(|it| &it["elicitation"]);
            let is_url = declared.is_some_and(|it| it["url"].is_object() && it["form"].is_null());
            is_url && is_ask(request)
        };
        on(server, "tools/call", has_only_url, ask)
    }),
    Case::lines(Rule::Undeclared, V2026_07_28, |server| {
        remembering(server, LOG_LEVEL, |level| {
            let params = json!({"level": level, "data": "x"});
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
        })
    }),
    Case::lines(Rule::InvalidProgress, V2026_07_28, |server| {
        remembering(server, "progressToken", |token| {
            let params = json!({"progressToken": token, "progress": 1});
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        })
    }),
    Case::lines(Rule::InvalidProgress, V2025_11_25, |server| {
        let has_number = |it: &Value| it["params"]["_meta"]["progressToken"].is_number();
        on(server, "tools/call", has_number, refuse)
    }),
    Case::lines(Rule::RequiredCapability, V2026_07_28, |server| {
        let lacks = |it: &Value| is_ask(it) && lacks_elicitation(it);
        on(server, "tools/call", lacks, |_| Action::Answer(Vec::new()))
    }),
    Case::lines(Rule::UnhandledRefusal, V2026_07_28, |server| {
        let declines = |it: &Value| it["params"]["inputResponses"]["who"]["action"] == "decline";
        on(server, "tools/call", declines, |request| {
            let error = json!({"code": -32603, "message": "Internal error"});
            Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
        })
    }),
    Case::lines(Rule::Undeclared, V2026_07_28, |server| {
        early(server, "notifications/message", Value::Null, json!({"level": "info", "data": "x"}))
    })
    .of(only_modern),
    Case::lines(Rule::InvalidSubscription, V2026_07_28, |server| {
        early(server, "notifications/tools/list_changed", Value::Null, json!({}))
    })
    .of(only_modern),
    Case::lines(Rule::WrongDirection, V2026_07_28, |server| {
        early(server, "roots/list", json!("early"), json!({}))
    })
    .of(only_modern),
    Case::lines(Rule::MissingAcknowledgment, V2026_07_28, |server| {
        let is_empty = |it: &Value| it["params"]["notifications"] == json!({});
        on(server, "subscriptions/listen", is_empty, refuse)
    }),
    Case::lines(Rule::MissingAcknowledgment, V2026_07_28, |server| {
        let has_text_id = |it: &Value| it["id"] == "sparring-listen";
        on(server, "subscriptions/listen", has_text_id, refuse)
    }),
    Case::lines(Rule::WrongErrorCode, V2026_07_28, |server| {
        server.on_response("prompts/get", |request, response| {
            let is_known = ["greeting", "plain"].iter().any(|it| request["params"]["name"] == *it);
            if let Some(error) = response.get_mut("error").filter(|_| !is_known) {
                error["code"] = json!(-32020);
            }
        })
    })
    .also(&[Rule::UnknownPrompt, Rule::InvalidParams]),
];

fn lacks_elicitation(request: &Value) -> bool {
    meta(request, CAPABILITIES).is_none_or(|it| it.get("elicitation").is_none())
}

fn lacks_forms(request: &Value) -> bool {
    let declared = meta(request, CAPABILITIES).map(|it| &it["elicitation"]);
    declared.is_none_or(|it| it.is_null() || it["url"].is_object() && it["form"].is_null())
}
