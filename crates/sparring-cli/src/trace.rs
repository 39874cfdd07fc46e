//! The lines of the trace file: one line of JSON for each frame, each HTTP exchange,
//! and each violation that no frame shows.
//! `spar raw --json` prints the same lines for frames.

use std::time::Duration;

use serde_json::{Map, Value, json};
use sparring_wire::{Entry, Exchange, Headers, RawJson, Violation};

use crate::args::text_source;

/// `{"at": seconds, "from": "client", "frame": …, "violations": […]}`. The frame is the
/// JSON as it was spelled, or a string if it is not JSON.
pub(crate) fn frame_line(entry: &Entry) -> String {
    let text = entry.frame.text();
    let frame = match RawJson::parse(&text) {
        Ok(json) => text_source::to_one_line(&json),
        Err(_) => RawJson::string(&text),
    };
    let at = RawJson::from(json!(entry.at.as_secs_f64()));
    let from = RawJson::string(entry.from.name());
    let violations: Vec<Value> = entry.violations.iter().map(violation).collect();
    let violations = RawJson::from(json!(violations));
    let members = [
        ("at", at.view()),
        ("from", from.view()),
        ("frame", frame.view()),
        ("violations", violations.view()),
    ];
    let object = RawJson::empty_object().with_defaults(&members);
    format!("{}\n", object.text())
}

/// `{"at": seconds, "exchange": {…}}`, written at the end of the exchange; `at` is its
/// beginning. `connect` is `null` if the connection existed before, and `error` is `null`
/// without an error.
pub(crate) fn exchange_line(exchange: &Exchange) -> String {
    let line = json!({
        "at": exchange.at.as_secs_f64(),
        "exchange": {
            "method": exchange.method,
            "url": &*exchange.url,
            "status": exchange.status,
            "request_headers": headers(&exchange.request_headers),
            "response_headers": headers(&exchange.response_headers),
            "milliseconds": {
                "connect": exchange.connect.map(milliseconds),
                "first_byte": exchange.first_byte.map(milliseconds),
                "done": milliseconds(exchange.total),
            },
            "error": exchange.error,
        },
    });
    format!("{line}\n")
}

/// `{"violation": {…}}` for a violation that no frame shows.
pub(crate) fn violation_line(found: &Violation) -> String {
    format!("{}\n", json!({ "violation": violation(found) }))
}

/// The headers by name. Values with the same name are joined, as in HTTP.
fn headers(headers: &Headers) -> Value {
    let mut object = Map::new();
    for (name, value) in headers.iter() {
        match object.get_mut(name) {
            Some(Value::String(known)) => *known = format!("{known}, {value}"),
            _ => drop(object.insert(name.to_owned(), value.into())),
        }
    }
    object.into()
}

/// Milliseconds, to the microsecond.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn violation(violation: &Violation) -> Value {
    json!({
        "rule": violation.rule.id(),
        "path": violation.path,
        "message": violation.message,
        "section": violation.section,
    })
}
