//! Questions to the client: elicitation, sampling, and requests with several rounds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use super::utilities::{error, result};
use crate::support::{Action, AlteredServer};

const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

/// Alters the question of the tool `ask`: a request, or the input of a result.
fn on_question(
    server: AlteredServer,
    alter: impl Fn(&mut Value) + Send + Sync + 'static,
) -> AlteredServer {
    server.on_line(move |_, line| {
        let mut message: Value = serde_json::from_str(&line).unwrap();
        if message["method"] == "elicitation/create" {
            alter(&mut message);
        } else if let Some(input) = message.pointer_mut("/result/inputRequests/who") {
            alter(input);
        } else {
            return vec![line];
        }
        vec![message.to_string()]
    })
}

/// Replaces the form by a URL, if the client of the connection supports URLs.
fn ask_for_url(server: AlteredServer, url: &'static str) -> AlteredServer {
    let supported = Arc::new(AtomicBool::new(false));
    let supports = Arc::clone(&supported);
    let server = server.on_request(move |message| {
        let meta = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
        let declared = message.pointer("/params/capabilities").or(message.pointer(meta));
        if let Some(declared) = declared {
            supports.store(declared["elicitation"].get("url").is_some(), Ordering::Relaxed);
        }
        Action::Pass
    });
    on_question(server, move |question| {
        if supported.load(Ordering::Relaxed) {
            let params = json!({
                "mode": "url", "message": "Open the page.", "url": url, "elicitationId": "e-1",
            });
            question["params"] = params;
        }
    })
}

/// Replaces the elicitation by sampling.
fn ask_model(server: AlteredServer, params: Value) -> AlteredServer {
    on_question(server, move |question| {
        question["method"] = json!("sampling/createMessage");
        question["params"] = params.clone();
    })
}

fn is_ask(request: &Value) -> bool {
    request["params"]["name"] == "ask"
}

/// Answers some retries of the tool `ask` instead of the correct server.
fn on_retry(
    server: AlteredServer,
    answer: impl Fn(&Value, &Value) -> Option<Action> + Send + Sync + 'static,
) -> AlteredServer {
    server.on_method("tools/call", move |request| {
        let responses = &request["params"]["inputResponses"];
        let is_retry = is_ask(request) && !responses.is_null();
        is_retry.then(|| answer(request, responses)).flatten().unwrap_or(Action::Pass)
    })
}

fn hello(request: &Value) -> Action {
    let content = json!([{"type": "text", "text": "Hello, Bob!"}]);
    result(request, json!({"content": content, "resultType": "complete"}))
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Cancels the question of the call of `ask` before the last one, which has its answer.
fn cancel_answered_question(server: AlteredServer) -> AlteredServer {
    let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
    let learned = Arc::clone(&asked);
    let server = on_question(server, move |question| {
        learned.lock().unwrap().push(question["id"].clone());
    });
    server.on_request(move |message| {
        let mut asked = asked.lock().unwrap();
        if message["method"] == "initialize" {
            asked.clear();
        }
        let answered = asked.len().checked_sub(2).filter(|_| is_ask(message));
        let Some(id) = answered.map(|index| &asked[index]) else { return Action::Pass };
        let params = json!({"requestId": id});
        let method = "notifications/cancelled";
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        Action::AnswerAndPass(vec![message.to_string()])
    })
}

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::UnhandledRefusal, V2025_06_18, |server| {
        server.on_request(|message| match message["result"]["action"] == "decline" {
            // The call then waits for ever.
            true => Action::Answer(Vec::new()),
            false => Action::Pass,
        })
    })
    .also(&[Rule::NoAnswer]),
    Case::lines(Rule::UnhandledRefusal, V2025_11_25, |server| {
        let refused = |message: &Value| message["error"]["message"].is_string();
        server.on_request(move |message| match refused(message) {
            true => Action::Close,
            false => Action::Pass,
        })
    })
    .also(&[Rule::Crash]),
    Case::lines(Rule::UnhandledRefusal, V2026_07_28, |server| {
        on_retry(server, |request, responses| {
            let text = text("TypeError: Cannot read properties of undefined (reading 'name')");
            let failed = json!({"content": [text], "isError": true, "resultType": "complete"});
            (responses["who"]["action"] == "cancel").then(|| result(request, failed))
        })
    }),
    Case::lines(Rule::ComplexElicitation, V2025_11_25, |server| {
        on_question(server, |question| {
            question["params"]["requestedSchema"]["allOf"] = json!([{"type": "object"}]);
        })
    }),
    Case::lines(Rule::SensitiveElicitation, V2025_06_18, |server| {
        on_question(server, |question| {
            question["params"]["message"] = json!("Please enter your password.");
        })
    }),
    Case::lines(Rule::SensitiveElicitation, V2026_07_28, |server| {
        on_question(server, |question| {
            question["params"]["requestedSchema"]["properties"]["password"] =
                json!({"type": "string"});
        })
    }),
    Case::lines(Rule::ClickableUrl, V2025_11_25, |server| {
        on_question(server, |question| {
            question["params"]["message"] = json!("Open https://example.com/form and say yes.");
        })
    }),
    Case::lines(Rule::SensitiveUrl, V2025_11_25, |server| {
        ask_for_url(server, "https://example.com/pay?email=ann@example.com")
    }),
    Case::lines(Rule::InsecureUrl, V2025_11_25, |server| {
        ask_for_url(server, "http://example.com/pay")
    }),
    Case::lines(Rule::UnknownElicitation, V2025_11_25, |server| {
        server.on_method("tools/call", |request| {
            let params = json!({"elicitationId": "e-2"});
            let method = "notifications/elicitation/complete";
            let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
            match is_ask(request) {
                true => Action::AnswerAndPass(vec![message.to_string()]),
                false => Action::Pass,
            }
        })
    }),
    Case::lines(Rule::NoRequiredElicitation, V2025_11_25, |server| {
        server.on_method("tools/call", |request| {
            let error = json!({
                "code": -32042, "message": "Log in.", "data": {"elicitations": []},
            });
            match is_ask(request) {
                true => {
                    Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
                }
                false => Action::Pass,
            }
        })
    })
    .also(&[Rule::ToolErrorResponse]),
    Case::lines(Rule::UnbalancedTools, V2025_11_25, |server| {
        let used = json!({"type": "tool_use", "id": "u-1", "name": "add", "input": {}});
        ask_model(
            server,
            json!({"maxTokens": 10, "messages": [
                {"role": "user", "content": text("What is 1 + 2?")},
                {"role": "assistant", "content": [used]},
                {"role": "user", "content": text("And?")},
            ]}),
        )
    }),
    Case::lines(Rule::UndeclaredContext, V2026_07_28, |server| {
        let message = json!({"role": "user", "content": text("Who?")});
        ask_model(
            server,
            json!({"maxTokens": 10, "messages": [message], "includeContext": "thisServer"}),
        )
    }),
    Case::lines(Rule::FinishedCancellation, V2025_06_18, cancel_answered_question),
    Case::lines(Rule::DuplicateInput, V2026_07_28, |server| {
        server.on_line(|_, line| {
            let message: Value = serde_json::from_str(&line).unwrap();
            let Some(who) = message.pointer("/result/inputRequests/who") else {
                return vec![line];
            };
            let twice = format!("\"inputRequests\":{{\"who\":{who},");
            vec![line.replacen("\"inputRequests\":{", &twice, 1)]
        })
    })
    .also(&[Rule::DuplicateKey]),
    Case::lines(Rule::EmptyInput, V2026_07_28, |server| {
        server.on_result("tools/call", |result| {
            if result["resultType"] == "input_required" {
                result.as_object_mut().unwrap().remove("requestState");
                result["inputRequests"] = json!({});
            }
        })
    }),
    Case::lines(Rule::ForgedState, V2026_07_28, |server| {
        on_retry(server, |request, responses| {
            responses["who"]["action"].is_string().then(|| hello(request))
        })
    }),
    Case::lines(Rule::MissingInput, V2026_07_28, |server| {
        on_retry(server, |request, responses| {
            responses.as_object().is_some_and(|it| it.is_empty()).then(|| error(request, -32602))
        })
    }),
    Case::lines(Rule::UnexpectedInput, V2026_07_28, |server| {
        on_retry(server, |request, responses| {
            responses.get("sparring-unexpected").map(|_| error(request, -32602))
        })
    }),
    Case::lines(Rule::MalformedInput, V2026_07_28, |server| {
        on_retry(server, |request, responses| (!responses.is_object()).then(|| hello(request)))
    }),
    Case::lines(Rule::MalformedInput, V2026_07_28, |server| {
        on_retry(server, |request, responses| responses["who"].is_number().then(|| hello(request)))
    }),
];
