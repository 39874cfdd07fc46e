//! Resources and their templates.

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use super::lists::{answer, answer_cacheable, refuse};
use crate::support::{Action, AlteredServer};

const V2024_11_05: Revision = Revision::V2024_11_05;
const V2025_03_26: Revision = Revision::V2025_03_26;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

const UNKNOWN_URI: &str = "sparring://unknown/resource";

/// Answers requests to read that fit.
fn on_reads(
    server: AlteredServer,
    fits: fn(&Value) -> bool,
    answer: fn(&Value) -> Action,
) -> AlteredServer {
    server.on_method("resources/read", move |request| match fits(&request["params"]["uri"]) {
        true => answer(request),
        false => Action::Pass,
    })
}

/// Answers with a text.
fn serve(request: &Value) -> Action {
    let uri = request["params"]["uri"].as_str().unwrap_or("test://text");
    // The URI of the result is valid in any case.
    let uri = if uri.contains([' ', '\\']) || uri.is_empty() { "test://text" } else { uri };
    answer_cacheable(request, json!({"contents": [{"uri": uri, "text": "A text."}]}))
}

fn serve_nothing(request: &Value) -> Action {
    answer_cacheable(request, json!({"contents": []}))
}

fn has(uri: &Value, part: &str) -> bool {
    uri.as_str().is_some_and(|it| it.contains(part))
}

/// Other rules about malformed params.
const MALFORMED: &[Rule] = &[Rule::InvalidParams, Rule::InvalidParamsCode];

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::ResourceNotFound, V2026_07_28, |server| {
        on_reads(server, |uri| uri == UNKNOWN_URI, |request| refuse(request, -32002))
    })
    .also(&[Rule::WrongErrorCode]),
    Case::lines(Rule::ResourceNotFound, V2026_07_28, |server| {
        on_reads(server, |uri| has(uri, "sparring-unknown"), |request| refuse(request, -32603))
    }),
    Case::http(Rule::ResourceNotFound, V2026_07_28, |server| {
        server.on_body(|_, request, body| {
            let is_unknown = String::from_utf8_lossy(request).contains(UNKNOWN_URI);
            if is_unknown { body.replace("-32602", "-32603") } else { body }
        })
    }),
    Case::lines(Rule::EmptyContents, V2026_07_28, |server| {
        on_reads(server, |uri| uri == UNKNOWN_URI, serve_nothing)
    })
    .also(&[Rule::ResourceNotFound, Rule::UnsupportedVersion, Rule::MissingMeta]),
    Case::lines(Rule::ResourceNotFoundCode, V2024_11_05, |server| {
        on_reads(server, |uri| uri == UNKNOWN_URI, |request| refuse(request, -32602))
    }),
    Case::lines(Rule::ResourceNotFoundCode, V2025_06_18, |server| {
        on_reads(server, |uri| uri == UNKNOWN_URI, serve_nothing)
    }),
    Case::lines(Rule::ResourceNotFoundCode, V2025_11_25, |server| {
        on_reads(server, |uri| has(uri, "sparring-unknown"), |request| refuse(request, 0))
    }),
    Case::lines(Rule::MalformedRead, V2024_11_05, |server| on_reads(server, Value::is_null, serve))
        .also(MALFORMED),
    Case::lines(Rule::MalformedRead, V2025_03_26, |server| {
        on_reads(server, |uri| uri == "not a URI", serve)
    }),
    Case::lines(Rule::MalformedRead, V2025_11_25, |server| {
        on_reads(server, Value::is_number, serve)
    })
    .also(MALFORMED),
    Case::lines(Rule::MalformedRead, V2026_07_28, |server| {
        on_reads(server, |uri| uri == "", serve)
    }),
    Case::lines(Rule::MalformedRead, V2025_06_18, |server| {
        server.on_method("resources/subscribe", |request| {
            match request["params"]["uri"] == "not a URI" {
                true => answer(request, json!({})),
                false => Action::Pass,
            }
        })
    }),
    Case::lines(Rule::PathTraversal, V2024_11_05, |server| {
        on_reads(server, |uri| has(uri, "file://") && has(uri, "/../"), serve)
    }),
    Case::lines(Rule::PathTraversal, V2025_11_25, |server| {
        on_reads(server, |uri| has(uri, "file://") && has(uri, "/%2e%2e/"), serve)
    }),
    Case::lines(Rule::PathTraversal, V2026_07_28, |server| {
        on_reads(server, |uri| has(uri, "file://") && has(uri, "..%2F"), serve)
    })
    .also(&[Rule::UnsupportedVersion, Rule::MissingMeta]),
    // A template with a path of another scheme.
    Case::lines(Rule::PathTraversal, V2025_06_18, |server| {
        on_reads(
            server,
            |uri| has(uri, "test://items/..%2F"),
            |request| {
                let content = json!({"uri": "test://items/1", "text": "root:x:0:0:root:/root"});
                answer_cacheable(request, json!({"contents": [content]}))
            },
        )
    }),
    Case::lines(Rule::UnreadableResource, V2025_11_25, |server| {
        on_reads(server, |uri| uri == "test://binary", |request| refuse(request, -32002))
    }),
    Case::lines(Rule::UnreadableResource, V2026_07_28, |server| {
        on_reads(server, |uri| uri == "test://binary", |request| refuse(request, -32602))
    }),
    Case::lines(Rule::BinaryText, V2025_06_18, |server| {
        server.on_result("resources/read", |result| {
            let content = &mut result["contents"][0];
            if let Some(blob) = content.as_object_mut().unwrap().remove("blob") {
                content["text"] = blob;
            }
        })
    }),
    Case::lines(Rule::BinaryText, V2026_07_28, |server| {
        on_reads(
            server,
            |uri| uri == "test://text",
            |request| {
                let content = json!({"uri": "test://text", "text": "PK\u{3}\u{4}\u{0}"});
                answer_cacheable(request, json!({"contents": [content]}))
            },
        )
    })
    .also(&[Rule::UnsupportedVersion, Rule::MissingMeta]),
    Case::lines(Rule::TemplateMediaType, V2024_11_05, set_item_type),
    Case::lines(Rule::TemplateMediaType, V2026_07_28, set_item_type),
];

/// Sets another MIME type of the resources of the template.
fn set_item_type(server: AlteredServer) -> AlteredServer {
    server.on_response("resources/read", |request, response| {
        if has(&request["params"]["uri"], "test://items/") && response.get("result").is_some() {
            response["result"]["contents"][0]["mimeType"] = json!("text/plain");
        }
    })
}
