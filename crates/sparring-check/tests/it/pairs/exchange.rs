//! Requests and their responses.

use axum::body::Body;
use axum::response::Response;
use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use crate::support::{Action, AlteredHttp, AlteredServer};

const V2024_11_05: Revision = Revision::V2024_11_05;
const V2025_03_26: Revision = Revision::V2025_03_26;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

fn result(request: &Value, result: Value) -> Action {
    Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
}

fn error(request: &Value, code: i64) -> Action {
    let error = json!({"code": code, "message": "It failed."});
    Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
}

/// Answers messages of a kind with a result.
fn accepting(
    server: AlteredServer,
    fits: impl Fn(&Value) -> bool + Send + Sync + 'static,
) -> AlteredServer {
    server.on_request(move |message| match fits(message) {
        true => result(message, json!({})),
        false => Action::Pass,
    })
}

/// Answers messages of a kind with an error.
fn refusing(
    server: AlteredServer,
    code: i64,
    fits: impl Fn(&Value) -> bool + Send + Sync + 'static,
) -> AlteredServer {
    server.on_request(move |message| match fits(message) {
        true => error(message, code),
        false => Action::Pass,
    })
}

/// Returns true for lines that are not JSON.
fn is_garbage(message: &Value) -> bool {
    matches!(message, Value::String(text) if text != "ping")
}

/// Answers lines that are not JSON with this line.
fn answering_garbage(server: AlteredServer, line: &'static str) -> AlteredServer {
    server.on_request(move |message| match is_garbage(message) {
        true => Action::Answer(vec![line.to_owned()]),
        false => Action::Pass,
    })
}

/// Returns true for a batch without a request.
fn is_batch_of_notifications(message: &Value) -> bool {
    is_full_batch(message) && message.as_array().is_some_and(|it| it.iter().all(lacks_id))
}

fn lacks_id(message: &Value) -> bool {
    message.get("id").is_none()
}

fn is_invalid(message: &Value) -> bool {
    message["id"] == "sparring-invalid"
}

fn is_request(message: &Value) -> bool {
    message["method"].is_string() && !message["id"].is_null()
}

/// Alters the response to an unknown method.
fn on_unknown(
    server: AlteredServer,
    alter: impl Fn(String) -> Vec<String> + Send + Sync + 'static,
) -> AlteredServer {
    server.on_line(move |request, line| match request {
        Some(request) if request["method"] == "sparring/unknown" => alter(line),
        _ => vec![line],
    })
}

/// Answers HTTP requests whose body has this text with a status and a message.
fn answering_http(
    server: AlteredHttp,
    text: &'static str,
    status: u16,
    message: Value,
) -> AlteredHttp {
    server.on_request(move |_, body| {
        let has_text = String::from_utf8_lossy(body).contains(text);
        let response = Response::builder().status(status);
        let response = response.header("content-type", "application/json");
        has_text.then(|| response.body(Body::from(message.to_string())).unwrap())
    })
}

/// Answers HTTP requests whose body has this text with a status and plain text.
fn answering_with_text(server: AlteredHttp, text: &'static str, status: u16) -> AlteredHttp {
    server.on_request(move |_, body| {
        let has_text = String::from_utf8_lossy(body).contains(text);
        let response = Response::builder().status(status).header("content-type", "text/plain");
        has_text.then(|| response.body(Body::from("It failed.")).unwrap())
    })
}

fn error_message(code: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": "It failed."}})
}

pub(super) const CASES: &[Case] = &[
    Case::http(Rule::InvalidRequest, V2025_11_25, |server| {
        let result = json!({"jsonrpc": "2.0", "id": "sparring-invalid", "result": {}});
        answering_http(server, r#""id":"sparring-invalid""#, 200, result)
    }),
    Case::http(Rule::InvalidRequest, V2026_07_28, |server| {
        answering_http(server, r#""id":"sparring-invalid""#, 400, error_message(-32603))
    }),
    Case::http(Rule::ParseError, V2025_06_18, |server| {
        answering_http(server, "This is not JSON.", 400, error_message(-32600))
    }),
    Case::http(Rule::Batch, V2025_03_26, |server| {
        answering_http(server, "sparring-batch-1", 400, error_message(-32600))
    }),
    Case::lines(Rule::UnknownMethod, V2025_11_25, |server| {
        server.on_method("sparring/unknown", |request| result(request, json!({})))
    }),
    Case::lines(Rule::UnknownMethod, V2024_11_05, |server| {
        server.on_method("sparring/unknown", |request| error(request, -32602))
    }),
    Case::lines(Rule::UnknownMethod, V2026_07_28, |server| {
        server.on_method("sparring/unknown", |request| error(request, -32600))
    }),
    Case::http(Rule::UnknownMethod, V2026_07_28, |server| {
        answering_with_text(server, "\"sparring/unknown\"", 404)
    }),
    Case::http(Rule::UnknownMethod, V2025_11_25, |server| {
        answering_with_text(server, "\"sparring/unknown\"", 400)
    }),
    // The status 404 ends the session.
    Case::http(Rule::UnknownMethod, V2025_06_18, |server| {
        answering_with_text(server, "\"sparring/unknown\"", 404)
    }),
    Case::http(Rule::NoAnswer, V2025_06_18, |server| {
        answering_with_text(server, "sparring-unknown-tool", 500)
    }),
    Case::http(Rule::NoAnswer, V2026_07_28, |server| {
        answering_with_text(server, "sparring-unknown-tool", 500)
    }),
    Case::lines(Rule::AnsweredNotification, V2025_11_25, |server| {
        server.on_method("notifications/sparring-unknown", |_| error(&json!({"id": 4711}), -32601))
    })
    .also(&[Rule::UnknownResponse]),
    Case::lines(Rule::AnsweredNotification, V2026_07_28, |server| {
        server.on_method("notifications/sparring-unknown", |_| {
            let error = json!({"code": -32601, "message": "Method not found"});
            Action::json(json!({"jsonrpc": "2.0", "error": error}))
        })
    })
    .also(&[Rule::UnidentifiedError]),
    Case::lines(Rule::NoAnswer, V2025_11_25, |server| {
        server.on_method("sparring/unknown", |_| Action::Answer(Vec::new()))
    })
    .also(&[Rule::UnknownMethod]),
    Case::lines(Rule::NoAnswer, V2026_07_28, |server| {
        server.on_method("sparring/unknown", |_| Action::Answer(Vec::new()))
    })
    .also(&[Rule::UnknownMethod]),
    Case::lines(Rule::UnknownResponse, V2025_11_25, |server| {
        server.on_method("tools/list", |_| {
            let foreign = json!({"jsonrpc": "2.0", "id": 4711, "result": {}});
            Action::AnswerAndPass(vec![foreign.to_string()])
        })
    }),
    Case::lines(Rule::ResponseIdType, V2025_11_25, |server| {
        on_unknown(server, |line| {
            let mut response: Value = serde_json::from_str(&line).unwrap();
            response["id"] = response["id"].to_string().into();
            vec![response.to_string()]
        })
    })
    .also(&[Rule::UnknownMethod]),
    Case::lines(Rule::ResponseIdType, V2026_07_28, |server| {
        server.on_line(|request, line| match request {
            Some(request) if request["id"] == "8001" => {
                let mut response: Value = serde_json::from_str(&line).unwrap();
                response["id"] = json!(8001);
                vec![response.to_string()]
            }
            _ => vec![line],
        })
    }),
    Case::lines(Rule::NoAnswer, V2025_06_18, |server| {
        // A server that takes the id 0 for none.
        server.on_request(|message| match message["id"] == json!(0) {
            true if message["method"] == "ping" => Action::Answer(Vec::new()),
            _ => Action::Pass,
        })
    }),
    Case::lines(Rule::DuplicateResponse, V2025_06_18, |server| {
        on_unknown(server, |line| vec![line.clone(), line])
    }),
    Case::lines(Rule::DuplicateResponse, V2026_07_28, |server| {
        on_unknown(server, |line| vec![line.clone(), line])
    }),
    Case::lines(Rule::UnidentifiedError, V2025_11_25, |server| {
        server.on_method("tools/list", |_| {
            let error = json!({"code": -32603, "message": "It failed."});
            let error = json!({"jsonrpc": "2.0", "error": error});
            Action::AnswerAndPass(vec![error.to_string()])
        })
    }),
    Case::lines(Rule::IdReused, V2025_06_18, |server| {
        server.on_method("tools/list", |_| {
            let ping = json!({"jsonrpc": "2.0", "id": "again", "method": "ping"}).to_string();
            Action::AnswerAndPass(vec![ping.clone(), ping])
        })
    }),
    Case::lines(Rule::InvalidRequest, V2025_11_25, |server| {
        accepting(server, |it| is_invalid(it) && it.get("method").is_none())
    }),
    Case::lines(Rule::InvalidRequest, V2024_11_05, |server| {
        accepting(server, |it| is_request(it) && it["jsonrpc"] == "1.0")
    }),
    Case::lines(Rule::InvalidRequest, V2025_06_18, |server| {
        accepting(server, |it| is_invalid(it) && it.get("jsonrpc").is_none())
    }),
    Case::lines(Rule::InvalidRequest, V2025_03_26, |server| {
        refusing(server, -32603, |it| is_invalid(it) && it["method"].is_number())
    }),
    Case::lines(Rule::InvalidRequest, V2026_07_28, |server| {
        accepting(server, |it| it["method"].is_string() && it["id"].is_object())
    }),
    Case::lines(Rule::ParseError, V2025_11_25, |server| refusing(server, -32600, is_garbage)),
    Case::lines(Rule::ParseError, V2024_11_05, |server| accepting(server, is_garbage)),
    Case::lines(Rule::ParseError, V2026_07_28, |server| refusing(server, -32603, is_garbage)),
    Case::lines(Rule::ParseError, V2026_07_28, |server| {
        // The result has the id of an earlier request.
        server.on_request(|message| match is_garbage(message) {
            true => result(&json!({"id": 1}), json!({"resultType": "complete"})),
            false => Action::Pass,
        })
    }),
    Case::lines(Rule::NotJson, V2025_11_25, |server| {
        answering_garbage(server, "SyntaxError: Unexpected token")
    }),
    Case::lines(Rule::WrongJsonrpc, V2024_11_05, |server| {
        answering_garbage(server, r#"{"id":null,"error":{"code":-32700,"message":"No JSON"}}"#)
    }),
    Case::lines(Rule::ErrorMalformed, V2026_07_28, |server| {
        answering_garbage(server, r#"{"jsonrpc":"2.0","error":{"code":-32700}}"#)
    }),
    Case::lines(Rule::EmptyBatch, V2025_03_26, |server| {
        server.on_request(|message| match is_batch_of_notifications(message) {
            true => Action::json(json!([])),
            false => Action::Pass,
        })
    }),
    Case::lines(Rule::Batch, V2025_03_26, |server| {
        server.on_request(|message| match is_batch_of_notifications(message) {
            true => error(&json!({"id": null}), -32600),
            false => Action::Pass,
        })
    }),
    Case::lines(Rule::Batch, V2025_03_26, |server| {
        // The failed requests are left out.
        server.on_line(|_, line| match serde_json::from_str(&line) {
            Ok(Value::Array(mut items)) => {
                items.retain(|it| it.get("error").is_none());
                vec![Value::Array(items).to_string()]
            }
            _ => vec![line],
        })
    }),
    Case::lines(Rule::NoAnswer, V2025_03_26, |server| {
        server.on_request(|message| match message["id"] == "" {
            true => Action::Answer(Vec::new()),
            false => Action::Pass,
        })
    }),
    Case::lines(Rule::UnknownResponse, V2024_11_05, |server| {
        server.on_response("ping", |_, response| {
            let id = response["id"].as_i64().filter(|it| i32::try_from(*it).is_err());
            if let Some(id) = id {
                response["id"] = json!(id as i32);
            }
        })
    })
    .also(&[Rule::NoAnswer]),
    Case::lines(Rule::BrokenMessage, V2025_11_25, |server| {
        server.on_request(|message| match is_garbage(message) {
            true => Action::Close,
            false => Action::Pass,
        })
    }),
    Case::lines(Rule::BrokenMessage, V2026_07_28, |server| {
        server.on_request(|message| match message.is_number() {
            true => Action::Close,
            false => Action::Pass,
        })
    }),
    Case::lines(Rule::BrokenMessage, V2025_06_18, |server| {
        server.on_connect(|server| {
            let stuck = std::sync::atomic::AtomicBool::new(false);
            server.on_request(move |message| {
                use std::sync::atomic::Ordering::SeqCst;
                stuck.fetch_or(is_garbage(message), SeqCst);
                match stuck.load(SeqCst) {
                    true => Action::Answer(Vec::new()),
                    false => Action::Pass,
                }
            })
        })
    }),
    Case::lines(Rule::Batch, V2025_03_26, |server| refusing(server, -32600, is_full_batch)),
    Case::lines(Rule::Batch, V2025_03_26, |server| {
        server.on_request(|message| match is_full_batch(message) {
            true => result(&message[0], json!({})),
            false => Action::Pass,
        })
    }),
    Case::lines(Rule::Batch, V2025_03_26, |server| {
        server.on_request(|message| match is_full_batch(message) {
            true => Action::Answer(Vec::new()),
            false => Action::Pass,
        })
    }),
    Case::lines(Rule::InvalidParams, V2025_11_25, |server| {
        server.on_method("initialize", |request| match request["params"]["protocolVersion"] {
            Value::String(_) => Action::Pass,
            _ => result(
                request,
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "serverInfo": {"name": "broken", "version": "1.0.0"},
                }),
            ),
        })
    }),
    Case::lines(Rule::InvalidParams, V2026_07_28, |server| {
        accepting(server, |it| {
            it["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] == "text"
        })
    }),
    Case::lines(Rule::InvalidParams, V2026_07_28, |server| {
        accepting(server, |it| {
            it["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == 42
        })
    }),
    Case::lines(Rule::InvalidParamsCode, V2025_11_25, |server| {
        refusing(server, -32603, |it| {
            it["method"] == "initialize" && !it["params"]["protocolVersion"].is_string()
        })
    }),
    Case::lines(Rule::InvalidParamsCode, V2026_07_28, |server| {
        refusing(server, -32603, |it| {
            it["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] == "text"
        })
    }),
    Case::lines(Rule::UnknownField, V2025_11_25, |server| {
        refusing(server, -32602, |it| it["params"].get("sparringUnknown").is_some())
    }),
    Case::lines(Rule::UnknownField, V2025_06_18, |server| {
        refusing(server, -32602, |it| it["params"]["_meta"].get("com.example/sparring").is_some())
    }),
    Case::lines(Rule::UnknownField, V2025_11_25, |server| {
        refusing(server, -32602, |it| {
            let has_key = it["params"]["_meta"].get("com.example/sparring").is_some();
            it["method"] == "tools/call" && has_key
        })
    }),
    Case::lines(Rule::UnknownField, V2026_07_28, |server| {
        refusing(server, -32602, |it| {
            let is_strict = it["method"] == "resources/read";
            is_strict && it["params"].get("sparringUnknown").is_some()
        })
    }),
    Case::lines(Rule::UnknownField, V2025_03_26, |server| {
        refusing(server, -32602, |it| {
            it["params"]["name"] == "picture" && it["params"].get("arguments").is_none()
        })
    }),
    Case::lines(Rule::UnknownField, V2025_06_18, |server| {
        refusing(server, -32602, |it| it["params"].get("context").is_some())
    }),
    Case::lines(Rule::UnknownField, V2024_11_05, |server| {
        refusing(server, -32602, |it| it["params"]["capabilities"].get("sparringUnknown").is_some())
    }),
    Case::lines(Rule::UnknownField, V2026_07_28, |server| {
        refusing(server, -32602, |it| {
            let capabilities = "io.modelcontextprotocol/clientCapabilities";
            it["params"]["_meta"][capabilities].get("sparringUnknown").is_some()
        })
    }),
];

fn is_full_batch(message: &Value) -> bool {
    message.as_array().is_some_and(|items| !items.is_empty())
}
