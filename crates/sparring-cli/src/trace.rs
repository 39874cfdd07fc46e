//! One line of JSON for each frame and each exchange over HTTP: the trace file,
//! and of the frames also `spar raw --json`.

use std::time::Duration;

use serde_json::{Map, Value, json};
use sparring_wire::{Entry, Exchange, Headers, RawJson, Violation};

use crate::args::given;

/// `{"at": seconds, "from": "client", "frame": …, "violations": […]}`. The frame
/// is the JSON as it was spelled, or a string where it is no JSON.
pub(crate) fn line(entry: &Entry) -> String {
    let text = entry.frame.text();
    let frame = match RawJson::parse(&text) {
        Ok(json) => given::one_line(&json),
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

/// `{"at": seconds, "exchange": {…}}`, written when the exchange is over; `at` is
/// when it began. Nothing is `null` but what did not come to be: `connect` where
/// a connection was there already, `error` where all is well.
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
                "done": milliseconds(exchange.done),
            },
            "error": exchange.error,
        },
    });
    format!("{line}\n")
}

/// The headers by name; values of the same name are joined, as HTTP does.
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
        "rule": violation.rule.name(),
        "path": violation.path,
        "message": violation.message,
        "section": violation.section,
    })
}
