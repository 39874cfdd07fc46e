//! Ping, progress, cancellation and logging.

use std::time::Duration;

use axum::response::Response;
use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use crate::support::{Action, AlteredServer, CORRECT};

const V2024_11_05: Revision = Revision::V2024_11_05;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

/// Returns an error for a request.
pub(super) fn error(request: &Value, code: i64) -> Action {
    let error = json!({"code": code, "message": "No."});
    Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
}

/// Returns a result for a request.
pub(super) fn result(request: &Value, mut result: Value) -> Action {
    if result["resultType"].is_string() {
        result["_meta"] = server_info();
    }
    Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
}

/// The metadata of each result since 2026-07-28.
pub(super) fn server_info() -> Value {
    let info = json!({"name": "correct", "version": "1.0.0"});
    json!({"io.modelcontextprotocol/serverInfo": info})
}

/// Sends a message before the call of the tool `slow` runs.
fn before_slow(server: AlteredServer, message: fn(&Value) -> Option<Value>) -> AlteredServer {
    server.on_method("tools/call", move |call| {
        match message(call).filter(|_| call["params"]["name"] == "slow") {
            Some(message) => Action::AnswerAndPass(vec![message.to_string()]),
            None => Action::Pass,
        }
    })
}

fn log(level: &str, data: Value) -> Value {
    json!({
        "jsonrpc": "2.0", "method": "notifications/message",
        "params": {"level": level, "data": data},
    })
}

fn progress(token: &Value, progress: f64) -> Value {
    json!({
        "jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": token, "progress": progress},
    })
}

fn token(call: &Value) -> &Value {
    &call["params"]["_meta"]["progressToken"]
}

/// The correct server with a tool that takes a while.
pub(super) fn with_slow_tool(_: AlteredServer) -> AlteredServer {
    let step = "{progress: {progress: 1, total: 2}}";
    AlteredServer::new(&CORRECT.replace(step, &format!("{step}\n      - {{delay: 200ms}}")))
}

fn ignore_cancellations(server: AlteredServer) -> AlteredServer {
    with_slow_tool(server).on_method("notifications/cancelled", |_| Action::Answer(Vec::new()))
}

/// Ends when it gets this notification with params that fit.
fn ends_on(server: AlteredServer, method: &'static str, fits: fn(&Value) -> bool) -> AlteredServer {
    server.on_method(method, move |message| match fits(&message["params"]) {
        true => Action::Close,
        false => Action::Pass,
    })
}

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::NonEmptyPing, V2025_06_18, |server| {
        server.on_result("ping", |result| result["pong"] = json!(true))
    }),
    Case::lines(Rule::SlowPing, V2025_11_25, |server| {
        server.on_method("ping", |_| Action::PassAfter(Duration::from_millis(1_100)))
    })
    .with_options(|options| options.only = vec![Rule::SlowPing]),
    Case::lines(Rule::SlowPing, V2024_11_05, |server| {
        server.on_method("ping", |ping| error(ping, -32603))
    })
    .with_options(|options| options.only = vec![Rule::SlowPing]),
    Case::lines(Rule::SlowPing, V2025_03_26, |server| {
        // A running call blocks the server.
        server.on_method("tools/call", |call| match call["params"]["name"] == "slow" {
            true => Action::PassAfter(Duration::from_millis(1_100)),
            false => Action::Pass,
        })
    })
    .with_options(|options| options.only = vec![Rule::SlowPing]),
    Case::lines(Rule::UnknownCancellation, V2025_06_18, |server| {
        server.on_method("tools/list", |_| {
            let params = json!({"requestId": 4711});
            let method = "notifications/cancelled";
            let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
            Action::AnswerAndPass(vec![message.to_string()])
        })
    }),
    Case::lines(Rule::AnsweredCancellation, V2025_06_18, ignore_cancellations)
        .correct(with_slow_tool),
    Case::lines(Rule::MessageAfterCancellation, V2026_07_28, ignore_cancellations)
        .correct(with_slow_tool)
        .also(&[Rule::AnsweredCancellation]),
    Case::lines(Rule::LateCancellation, V2025_11_25, |server| {
        ends_on(server, "notifications/cancelled", |params| {
            params["requestId"].as_i64().is_some_and(|id| id < 100_000)
        })
    })
    .also(&[Rule::Crash]),
    Case::lines(Rule::LateCancellation, V2026_07_28, |server| {
        server.on_method("notifications/cancelled", |message| {
            let id = &message["params"]["requestId"];
            let error = json!({"code": -32600, "message": "It is finished."});
            Action::json(json!({"jsonrpc": "2.0", "id": id, "error": error}))
        })
    })
    .also(&[
        Rule::InvalidCancellation,
        Rule::DuplicateResponse,
        Rule::UnknownResponse,
        Rule::MessageAfterCancellation,
        Rule::IdWrongType,
        Rule::IdNull,
        Rule::ClosedSubscription,
        Rule::UnidentifiedError,
    ]),
    Case::http(Rule::LateCancellation, V2025_11_25, |server| {
        server.on_request(|_, body| {
            let message: Value = serde_json::from_slice(body).ok()?;
            let is_cancellation = message["method"] == "notifications/cancelled";
            let is_late = message["params"]["requestId"].as_i64().is_some_and(|id| id < 100_000);
            let response = Response::builder().status(500);
            (is_cancellation && is_late).then(|| response.body("failed".into()).unwrap())
        })
    }),
    Case::http(Rule::InvalidProgress, V2026_07_28, |server| {
        // Progress without a token.
        server.on_request(|_, body| {
            let call: Value = serde_json::from_slice(body).ok()?;
            let message = progress(&json!("made-up"), 1.0);
            let result = json!({
                "content": [], "resultType": "complete", "_meta": server_info(),
            });
            let response = json!({"jsonrpc": "2.0", "id": call["id"], "result": result});
            let events = format!("data: {message}\n\ndata: {response}\n\n");
            let reply = Response::builder()
                .header("content-type", "text/event-stream")
                .header("x-accel-buffering", "no");
            let is_slow = call["params"]["name"] == "slow";
            is_slow.then(|| reply.body(events.into()).unwrap())
        })
    })
    .also(&[Rule::InvalidLogLevel, Rule::UnsupportedVersion, Rule::MissingMeta]),
    Case::lines(Rule::InvalidCancellation, V2025_03_26, |server| {
        ends_on(server, "notifications/cancelled", |params| params["requestId"].is_null())
    })
    .also(&[Rule::Crash]),
    Case::lines(Rule::InvalidCancellation, V2026_07_28, |server| {
        server.on_method("notifications/cancelled", |message| match &message["params"]["requestId"]
        {
            id if id == "sparring-unknown" => error(&json!({"id": id}), -32602),
            _ => Action::Pass,
        })
    })
    .also(&[Rule::UnknownResponse]),
    Case::lines(Rule::UnhandledRootsChange, V2025_06_18, |server| {
        ends_on(server, "notifications/roots/list_changed", |_| true)
    })
    .also(&[Rule::Crash]),
    Case::lines(Rule::InvalidProgress, V2024_11_05, |server| {
        // Progress without a token.
        before_slow(server, |call| token(call).is_null().then(|| progress(&json!(0), 1.0)))
    }),
    Case::lines(Rule::InvalidProgress, V2025_06_18, |server| {
        // The server adds a higher value before those of the correct server.
        before_slow(server, |call| (!token(call).is_null()).then(|| progress(token(call), 50.0)))
    }),
    Case::lines(Rule::InvalidProgress, V2025_11_25, |server| {
        // A number becomes a text.
        before_slow(server, |call| {
            let number = token(call).as_i64()?;
            Some(progress(&json!(number.to_string()), 0.5))
        })
    }),
    Case::lines(Rule::InvalidProgress, V2026_07_28, |server| {
        // Progress after the response.
        server.on_line(|request, line| match request.map(token) {
            Some(token) if !token.is_null() => {
                let late = progress(token, 100.0).to_string();
                vec![line, late]
            }
            _ => vec![line],
        })
    }),
    Case::lines(Rule::Undeclared, V2026_07_28, |server| {
        before_slow(server, |call| {
            let level = &call["params"]["_meta"][LOG_LEVEL_KEY];
            level.is_null().then(|| log("error", json!("without a level")))
        })
    }),
    Case::lines(Rule::InvalidProgress, V2025_11_25, |server| {
        // The same progress twice, while a resource is read.
        server.on_method("resources/read", |request| match token(request) {
            Value::Null => Action::Pass,
            token => Action::AnswerAndPass(vec![progress(token, 1.0).to_string(); 2]),
        })
    }),
    Case::lines(Rule::LogBelowLevel, V2026_07_28, |server| {
        before_slow(server, |call| {
            let level = &call["params"]["_meta"][LOG_LEVEL_KEY];
            (!level.is_null()).then(|| log("alert", json!("below emergency")))
        })
    }),
    Case::lines(Rule::LogBelowSetLevel, V2025_06_18, |server| {
        before_slow(server, |_| Some(log("info", json!("for every level"))))
    }),
    Case::lines(Rule::SensitiveLog, V2025_11_25, |server| {
        before_slow(server, |_| Some(log("emergency", json!("api_key=4f9a8b7c6d5e4f3a2b1c"))))
    }),
    Case::lines(Rule::RefusedLogLevel, V2024_11_05, |server| {
        server.on_method("logging/setLevel", |request| {
            match request["params"]["level"] == "notice" {
                true => error(request, -32602),
                false => Action::Pass,
            }
        })
    }),
    Case::lines(Rule::InvalidLogLevel, V2025_11_25, |server| {
        server.on_method("logging/setLevel", |request| {
            match request["params"]["level"] == "sparring" {
                true => result(request, json!({})),
                false => Action::Pass,
            }
        })
    }),
    Case::lines(Rule::InvalidLogLevel, V2026_07_28, |server| {
        server.on_method("tools/call", |request| {
            match request["params"]["_meta"][LOG_LEVEL_KEY] == "sparring" {
                true => result(request, json!({"content": [], "resultType": "complete"})),
                false => Action::Pass,
            }
        })
    }),
];

const V2025_03_26: Revision = Revision::V2025_03_26;
