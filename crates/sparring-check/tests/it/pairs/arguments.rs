//! Generated arguments.

use axum::body::Body;
use axum::response::Response;
use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use crate::support::{Action, AlteredServer};

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::ArgumentsCrash, Revision::V2024_11_05, crash),
    Case::lines(Rule::ArgumentsCrash, Revision::V2026_07_28, crash),
    // A server can also crash for arguments that it should refuse.
    Case::lines(Rule::ArgumentsCrash, Revision::V2025_06_18, |server| {
        on_call(server, "echo", |arguments| match arguments.get("text") {
            None => Action::Close,
            Some(_) => Action::Pass,
        })
    }),
    // And right after its answer.
    Case::lines(Rule::ArgumentsCrash, Revision::V2025_11_25, |server| {
        let has_crashed = std::sync::Mutex::new(false);
        server.on_request(move |request| {
            let mut has_crashed = has_crashed.lock().unwrap();
            if request["method"] == "initialize" {
                *has_crashed = false;
            }
            if *has_crashed {
                return Action::Close;
            }
            *has_crashed = request["params"]["arguments"]["text"] == "";
            Action::Pass
        })
    }),
    // Over HTTP the connection is cut.
    Case::http(Rule::ArgumentsCrash, Revision::V2025_11_25, |server| {
        server.on_request(|_, body| {
            let request: Value = serde_json::from_slice(body).ok()?;
            let text = request["params"]["arguments"]["text"].as_str()?;
            let cut = async { Err::<Vec<u8>, _>(std::io::Error::other("cut")) };
            let body = Body::from_stream(futures_util::stream::once(cut));
            let response = Response::builder().header("content-type", "application/json");
            text.contains('😀').then(|| response.body(body).unwrap())
        })
    }),
    // An argument that the schema does not declare is no reason to crash.
    Case::lines(Rule::ArgumentsCrash, Revision::V2025_03_26, |server| {
        on_call(server, "echo", |arguments| {
            match arguments.as_object().is_some_and(|it| it.len() > 1) {
                true => Action::Close,
                false => Action::Pass,
            }
        })
    }),
    Case::lines(Rule::ArgumentsHang, Revision::V2025_03_26, hang),
    Case::lines(Rule::ArgumentsHang, Revision::V2026_07_28, hang),
    Case::lines(Rule::ArgumentsInternalError, Revision::V2025_11_25, internal_error),
    Case::lines(Rule::ArgumentsInternalError, Revision::V2026_07_28, internal_error),
    Case::lines(Rule::InvalidArgumentsAccepted, Revision::V2024_11_05, |server| {
        accept(server, |arguments| arguments.get("text").is_none() && arguments.get("a").is_none())
    }),
    Case::lines(Rule::InvalidArgumentsAccepted, Revision::V2026_07_28, |server| {
        accept(server, |arguments| arguments["text"].is_object())
    }),
    Case::lines(Rule::InvalidArgumentsAccepted, Revision::V2025_11_25, |server| {
        accept(server, |arguments| arguments["a"].is_string())
    }),
    Case::lines(Rule::InvalidArgumentsAccepted, Revision::V2025_03_26, |server| {
        accept(server, |arguments| arguments["a"].is_f64())
    }),
    Case::lines(Rule::ArgumentLimitIgnored, Revision::V2025_06_18, limit_ignored),
    Case::lines(Rule::ArgumentLimitIgnored, Revision::V2026_07_28, limit_ignored),
    Case::lines(Rule::ExtraArgumentAccepted, Revision::V2025_06_18, extra_accepted),
    Case::lines(Rule::ExtraArgumentAccepted, Revision::V2026_07_28, extra_accepted),
    Case::lines(Rule::OutputSchema, Revision::V2025_06_18, wrong_output),
    Case::lines(Rule::OutputSchema, Revision::V2026_07_28, wrong_output),
    Case::lines(Rule::OutputSchema, Revision::V2025_11_25, |server| {
        server.on_result("tools/call", |result| {
            if let Some(result) = result.as_object_mut() {
                result.remove("structuredContent");
            }
        })
    }),
    Case::http(Rule::ArgumentsInternalError, Revision::V2025_06_18, |server| {
        server.on_request(|_, body| {
            let request: Value = serde_json::from_slice(body).ok()?;
            let number = request["params"]["arguments"]["b"].as_i64()?;
            let error = json!({"code": -32603, "message": "Internal error"});
            let answer = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
            let response = Response::builder().header("content-type", "application/json");
            let is_broken = (-1000..0).contains(&number);
            is_broken.then(|| response.body(Body::from(answer.to_string())).unwrap())
        })
    }),
];

fn on_call(
    server: AlteredServer,
    tool: &'static str,
    alter: impl Fn(&Value) -> Action + Send + Sync + 'static,
) -> AlteredServer {
    server.on_method("tools/call", move |request| match request["params"]["name"] == tool {
        true => alter(&request["params"]["arguments"]),
        false => Action::Pass,
    })
}

fn crash(server: AlteredServer) -> AlteredServer {
    on_call(server, "echo", |arguments| match arguments["text"].as_str() {
        Some(text) if text.contains('😀') => Action::Close,
        _ => Action::Pass,
    })
}

fn hang(server: AlteredServer) -> AlteredServer {
    on_call(server, "echo", |arguments| match arguments["text"] == "" {
        true => Action::Answer(Vec::new()),
        false => Action::Pass,
    })
}

fn internal_error(server: AlteredServer) -> AlteredServer {
    server.on_method("tools/call", |request| {
        let number = request["params"]["arguments"]["b"].as_i64();
        match number.is_some_and(|number| (-1000..0).contains(&number)) {
            true => {
                let error = json!({"code": -32603, "message": "Internal error"});
                Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
            }
            false => Action::Pass,
        }
    })
}

/// Turns the refusal of these arguments into a success.
fn accept(
    server: AlteredServer,
    accepts: impl Fn(&Value) -> bool + Send + Sync + 'static,
) -> AlteredServer {
    server.on_response("tools/call", move |request, response| {
        let is_refusal = response["result"]["isError"] == true || response.get("error").is_some();
        let arguments = &request["params"]["arguments"];
        let tool = &request["params"]["name"];
        let has_arguments = *tool == "echo" || *tool == "add";
        if has_arguments && is_refusal && accepts(arguments) {
            let answer = response.as_object_mut().unwrap();
            answer.remove("error");
            let result = answer.entry("result").or_insert_with(|| json!({}));
            result["isError"] = json!(false);
            result["content"] = json!([{"type": "text", "text": "{\"a\":1,\"b\":1}"}]);
            if *tool == "add" {
                result["structuredContent"] = json!({"a": 1, "b": 1});
            }
        }
    })
}

fn limit_ignored(server: AlteredServer) -> AlteredServer {
    accept(server, |arguments| arguments["a"].as_i64().is_some_and(|a| a.abs() > 1000))
}

fn extra_accepted(server: AlteredServer) -> AlteredServer {
    accept(server, |arguments| {
        arguments["a"].is_number() && arguments["sparringUnexpected"].is_string()
    })
}

fn wrong_output(server: AlteredServer) -> AlteredServer {
    server.on_response("tools/call", |request, response| {
        if request["params"]["arguments"]["a"].as_i64().is_some_and(|a| a < 0) {
            let Some(result) = response.get_mut("result") else { return };
            if result["structuredContent"].is_object() {
                result["structuredContent"]["a"] = json!("negative");
                let text = result["structuredContent"].to_string();
                result["content"] = json!([{"type": "text", "text": text}]);
            }
        }
    })
}
