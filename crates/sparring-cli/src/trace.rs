//! One line of JSON for each frame: the trace file, and `spar raw --json`.

use serde_json::{Value, json};
use sparring_wire::{Entry, RawJson, Violation};

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

fn violation(violation: &Violation) -> Value {
    json!({
        "rule": violation.rule.name(),
        "path": violation.path,
        "message": violation.message,
        "section": violation.section,
    })
}
