//! The text of messages, the fields of JSON-RPC, and the methods of a revision.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use crate::support::{Action, AlteredHttp, AlteredServer};

const V2024_11_05: Revision = Revision::V2024_11_05;
const V2025_03_26: Revision = Revision::V2025_03_26;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

/// The length of a line that no client accepts.
const TOO_LONG: usize = 9 * 1024 * 1024;

/// Sends another line after each list of prompts.
fn extra(server: AlteredServer, line: impl Into<String>) -> AlteredServer {
    let line = line.into();
    server.after_response("prompts/list", move || vec![line.clone()])
}

/// Sends another message after each list of prompts.
fn extra_json(server: AlteredServer, message: Value) -> AlteredServer {
    extra(server, message.to_string())
}

/// A correct log message with this text.
fn log(text: &str) -> Value {
    let params = json!({"level": "error", "data": text});
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
}

/// Replaces a text in each response to `prompts/list`.
fn replace(server: AlteredServer, old: &'static str, new: &'static str) -> AlteredServer {
    server.on_line(move |request, line| match request {
        Some(request) if request["method"] == "prompts/list" => vec![line.replacen(old, new, 1)],
        _ => vec![line],
    })
}

/// Replaces a text in the body of each response to `prompts/list`.
fn replace_body(server: AlteredHttp, old: &'static str, new: &'static str) -> AlteredHttp {
    server.on_body(move |_, request, body| {
        let is_list = String::from_utf8_lossy(request).contains("\"prompts/list\"");
        if is_list { body.replacen(old, new, 1) } else { body }
    })
}

/// Asks the client something after each list of prompts, and drops the answer.
fn ask(server: AlteredServer, method: &'static str, params: Value) -> AlteredServer {
    let is_answer = |message: &Value| {
        message["id"].as_str().is_some_and(|it| it.starts_with("asked"))
            && message.get("method").is_none()
    };
    let server = server.on_request(move |message| match is_answer(message) {
        true => Action::Answer(Vec::new()),
        false => Action::Pass,
    });
    let number = AtomicUsize::new(0);
    server.after_response("prompts/list", move || {
        let id = format!("asked {}", number.fetch_add(1, Ordering::Relaxed));
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        vec![request.to_string()]
    })
}

/// Answers an unknown method with this error.
fn refuse_unknown(server: AlteredServer, error: Value) -> AlteredServer {
    server.on_response("sparring/unknown", move |_, response| response["error"] = error.clone())
}

/// Answers a request as an unknown method.
fn refuse(request: &Value) -> Action {
    let error = json!({"code": -32601, "message": "Method not found"});
    Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
}

/// Does not know `ping`. The probes of malformed requests send it with more.
fn refuse_ping(request: &Value) -> Action {
    let is_plain = request["jsonrpc"] == "2.0" && request.get("params").is_none();
    let has_id = request["id"].is_string() || request["id"].is_u64();
    if is_plain && has_id { refuse(request) } else { Action::Pass }
}

pub(super) const TEXT: &[Case] = &[
    Case::lines(Rule::NotJson, V2024_11_05, |server| extra(server, "Listing the prompts")),
    Case::lines(Rule::NotJson, V2026_07_28, |server| {
        extra(server, r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"#)
    }),
    Case::lines(Rule::InvalidUtf8, V2025_06_18, |server| {
        extra_json(server, log("caf\u{e9}")).on_bytes(|bytes| {
            let at = bytes.windows(2).position(|it| it == "\u{e9}".as_bytes());
            match at {
                Some(at) => [&bytes[..at], b"\xE9", &bytes[at + 2..]].concat(),
                None => bytes,
            }
        })
    }),
    Case::lines(Rule::ByteOrderMark, V2025_11_25, |server| replace(server, "{", "\u{feff}{")),
    Case::lines(Rule::TooDeep, V2025_11_25, |server| {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        extra(server, log("deep").to_string().replace("\"deep\"", &deep))
    }),
    Case::lines(Rule::TooLarge, V2025_03_26, |server| {
        extra_json(server, log(&"long".repeat(TOO_LONG / 4)))
    }),
    Case::lines(Rule::NotAnObject, V2025_11_25, |server| extra(server, "\"ready\"")),
    Case::lines(Rule::NotAnObject, V2026_07_28, |server| extra(server, "42")),
    Case::lines(Rule::DuplicateKey, V2025_11_25, |server| {
        replace(server, r#""prompts":[{"#, r#""prompts":[{"name":"greeting","#)
    }),
];

pub(super) const FIELDS: &[Case] = &[
    Case::lines(Rule::WrongJsonrpc, V2024_11_05, |server| {
        replace(server, r#""jsonrpc":"2.0""#, r#""jsonrpc":"1.0""#)
    })
    .also(&[Rule::ListFails]),
    Case::lines(Rule::WrongJsonrpc, V2026_07_28, |server| {
        replace(server, r#""jsonrpc":"2.0","#, "")
    })
    .also(&[
        Rule::ListFails,
        Rule::UnsupportedVersion,
        Rule::MissingMeta,
        Rule::RequiredClientInfo,
    ]),
    Case::http(Rule::WrongJsonrpc, V2025_06_18, |server| {
        replace_body(server, r#""jsonrpc":"2.0""#, r#""jsonrpc":2.0"#)
    })
    .also(&[Rule::ListFails]),
    Case::http(Rule::WrongJsonrpc, V2026_07_28, |server| {
        replace_body(server, r#""jsonrpc":"2.0","#, "")
    })
    .also(&[
        Rule::ListFails,
        Rule::UnsupportedVersion,
        Rule::MissingMeta,
        Rule::RequiredClientInfo,
    ]),
    Case::lines(Rule::IdMissing, V2025_06_18, |server| {
        extra_json(server, json!({"jsonrpc": "2.0", "result": {}}))
    }),
    Case::lines(Rule::IdNull, V2025_11_25, |server| {
        extra_json(server, json!({"jsonrpc": "2.0", "id": null, "result": {}}))
    }),
    Case::lines(Rule::IdNull, V2024_11_05, |server| {
        extra_json(server, json!({"jsonrpc": "2.0", "id": null, "method": "ping"}))
    }),
    Case::lines(Rule::IdFractional, V2025_03_26, |server| {
        extra_json(server, json!({"jsonrpc": "2.0", "id": 1.5, "result": {}}))
    }),
    Case::lines(Rule::IdWrongType, V2025_11_25, |server| {
        extra_json(server, json!({"jsonrpc": "2.0", "id": ["1"], "result": {}}))
    }),
    Case::lines(Rule::MethodWrongType, V2025_11_25, |server| {
        extra_json(server, json!({"jsonrpc": "2.0", "method": 7}))
    }),
    Case::lines(Rule::ParamsWrongType, V2025_11_25, |server| {
        let mut message = log("params");
        message["params"] = json!(["error", "params"]);
        extra_json(server, message)
    }),
    Case::lines(Rule::ResultWrongType, V2025_11_25, |server| {
        server.on_response("ping", |_, response| response["result"] = json!("pong"))
    }),
    Case::http(Rule::ResultWrongType, V2025_06_18, |server| {
        server.on_body(|_, request, body| {
            let is_ping = String::from_utf8_lossy(request).contains("\"ping\"");
            if is_ping { body.replace(r#""result":{}"#, r#""result":null"#) } else { body }
        })
    }),
    Case::lines(Rule::ErrorMalformed, V2025_06_18, |server| {
        refuse_unknown(server, json!({"code": -32601}))
    }),
    Case::lines(Rule::ErrorMalformed, V2026_07_28, |server| {
        refuse_unknown(server, json!({"code": -32601, "message": {"text": "Method not found"}}))
    }),
    Case::lines(Rule::ErrorMalformed, V2025_11_25, |server| {
        refuse_unknown(server, json!({"code": "-32601", "message": "Method not found"}))
    })
    .also(&[Rule::UnknownMethod]),
    Case::lines(Rule::ResultAndError, V2025_11_25, |server| {
        let error = json!({"code": -32603, "message": "It failed."});
        extra_json(server, json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": error}))
    }),
    Case::lines(Rule::EmptyMessage, V2025_03_26, |server| {
        extra_json(server, json!({"jsonrpc": "2.0", "id": 1}))
    }),
    Case::lines(Rule::RequestAndResponse, V2025_11_25, |server| {
        let mut message = log("both");
        message["result"] = json!({});
        extra_json(server, message)
    }),
    Case::lines(Rule::EmptyBatch, V2025_03_26, |server| extra(server, "[]")),
    Case::lines(Rule::BatchNotAllowed, V2025_06_18, |server| {
        extra_json(server, json!([log("in a batch")]))
    }),
    Case::lines(Rule::BatchNotAllowed, V2024_11_05, |server| {
        extra_json(server, json!([log("in a batch")]))
    }),
];

pub(super) const METHODS: &[Case] = &[
    Case::lines(Rule::WrongDirection, V2025_06_18, |server| {
        let method = "notifications/initialized";
        extra_json(server, json!({"jsonrpc": "2.0", "method": method}))
    }),
    Case::lines(Rule::WrongDirection, V2025_11_25, |server| ask(server, "tools/list", json!({}))),
    Case::lines(Rule::WrongDirection, V2026_07_28, |server| {
        let message = json!({"role": "user", "content": {"type": "text", "text": "Hello"}});
        let params = json!({"messages": [message], "maxTokens": 10});
        ask(server, "sampling/createMessage", params)
    }),
    Case::lines(Rule::NotInRevision, V2025_03_26, |server| {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let params = json!({"message": "What is your name?", "requestedSchema": schema});
        ask(server, "elicitation/create", params)
    }),
    Case::lines(Rule::NotInRevision, V2025_06_18, |server| {
        let method = "notifications/elicitation/complete";
        let params = json!({"elicitationId": "1"});
        extra_json(server, json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }),
    Case::lines(Rule::NotImplemented, V2024_11_05, |server| server.on_method("ping", refuse_ping)),
    Case::lines(Rule::NotImplemented, V2025_11_25, |server| server.on_method("ping", refuse_ping)),
    Case::lines(Rule::NotImplemented, V2025_06_18, |server| {
        server.on_connect(|server| {
            let is_ready = std::sync::atomic::AtomicBool::new(false);
            server.on_request(move |message| {
                let is_initialized = message["method"] == "notifications/initialized";
                is_ready.fetch_or(is_initialized, Ordering::Relaxed);
                match message["method"] == "ping" && !is_ready.load(Ordering::Relaxed) {
                    true => refuse(message),
                    false => Action::Pass,
                }
            })
        })
    }),
    Case::lines(Rule::NotImplemented, V2026_07_28, |server| {
        server.on_method("prompts/list", refuse)
    })
    .also(&[Rule::ListFails]),
];
