//! Sessions, the header with the version, garbage and batches.

use std::collections::HashSet;
use std::sync::Mutex;

use serde_json::{Value, json};
use sparring_wire::Rule;

use super::{
    SESSION_HEADER, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28, empty_response, header, is,
    json_response, message, set_status,
};
use crate::pairs::Case;
use crate::support::AlteredHttp;

/// Replaces the session ids by other ones.
pub(super) fn rename_sessions(server: AlteredHttp, name: fn(usize, &str) -> String) -> AlteredHttp {
    let known = std::sync::Arc::new(Mutex::new(Vec::<(String, String)>::new()));
    let names = std::sync::Arc::clone(&known);
    let server = server.on_headers(move |_, _, headers| {
        let names = names.lock().unwrap();
        let found = names.iter().find(|(name, _)| name == header(headers, SESSION_HEADER));
        if let Some((_, id)) = found {
            headers.insert(SESSION_HEADER, id.parse().unwrap());
        }
    });
    server.on_response(move |_, _, response| {
        let id = header(response.headers(), SESSION_HEADER).to_owned();
        if !id.is_empty() {
            let mut known = known.lock().unwrap();
            let name = name(known.len() + 1, &id);
            response.headers_mut().insert(SESSION_HEADER, name.parse().unwrap());
            known.push((name, id));
        }
    })
}

/// Accepts bodies that are not JSON, and those that are not a message.
fn accepts_garbage(server: AlteredHttp) -> AlteredHttp {
    server.on_request(|parts, body| {
        let message = message(body);
        let is_message = message.get("method").is_some()
            || message.get("result").is_some()
            || message.get("error").is_some()
            || message.is_array();
        (is(parts, "POST") && !is_message).then(|| empty_response(202))
    })
}

/// Accepts any object.
fn accepts_objects(server: AlteredHttp) -> AlteredHttp {
    server.on_request(|parts, body| {
        let is_empty = message(body) == json!({"jsonrpc": "2.0"});
        (is(parts, "POST") && is_empty).then(|| json_response(200, &json!({})))
    })
}

fn keeps_deleted_sessions(server: AlteredHttp) -> AlteredHttp {
    server.on_request(|parts, _| {
        let is_own = is(parts, "DELETE") && !parts.headers.contains_key("origin");
        is_own.then(|| empty_response(200))
    })
}

/// Answers with status 400 instead of 404 to known or unknown session ids.
fn answers_with_400(server: AlteredHttp, to_known: bool) -> AlteredHttp {
    let known = Mutex::new(HashSet::new());
    server.on_response(move |parts, _, response| {
        let mut known = known.lock().unwrap();
        known.insert(header(response.headers(), SESSION_HEADER).to_owned());
        let is_known = known.contains(header(&parts.headers, SESSION_HEADER));
        if response.status() == 404 && is_known == to_known {
            set_status(response, 400);
        }
    })
}

fn answers_missing_sessions_with_404(server: AlteredHttp) -> AlteredHttp {
    server.on_response(|parts, _, response| {
        if !parts.headers.contains_key(SESSION_HEADER) && response.status() == 400 {
            set_status(response, 404);
        }
    })
}

/// Treats every version in the header as the one of the session.
fn ignores_the_version(server: AlteredHttp) -> AlteredHttp {
    server.on_headers(|_, _, headers| {
        if !header(headers, "mcp-protocol-version").starts_with("20") {
            headers.remove("mcp-protocol-version");
        }
    })
}

fn requires_the_version(server: AlteredHttp) -> AlteredHttp {
    server.on_request(|parts, _| {
        let in_session = is(parts, "POST") && parts.headers.contains_key(SESSION_HEADER);
        let is_missing = !parts.headers.contains_key("mcp-protocol-version");
        (in_session && is_missing).then(|| empty_response(400))
    })
}

pub(in crate::pairs) const CASES: &[Case] = &[
    Case::http(Rule::AcceptedGarbage, V2025_06_18, accepts_garbage),
    Case::http(Rule::AcceptedGarbage, V2026_07_28, accepts_garbage),
    Case::http(Rule::AcceptedGarbage, V2025_11_25, accepts_objects),
    Case::http(Rule::UnansweredBatch, V2025_03_26, |server| {
        server.on_request(|_, body| message(body).is_array().then(|| empty_response(400)))
    })
    .also(&[Rule::Batch]),
    Case::http(Rule::UnansweredBatch, V2025_03_26, |server| {
        server.on_body(|_, body, text| {
            let answered = serde_json::from_str(&text);
            match (message(body).is_array(), answered) {
                (true, Ok(Value::Array(answers))) => json!([answers[0]]).to_string(),
                _ => text,
            }
        })
    })
    .also(&[Rule::Batch]),
    Case::http(Rule::UnansweredBatch, V2025_03_26, |server| {
        server.on_response(|_, body, response| {
            if message(body).is_array() && response.status() == 202 {
                set_status(response, 200);
            }
        })
    }),
    Case::http(Rule::GuessableSession, V2025_03_26, |server| {
        rename_sessions(server, |number, _| format!("session-{number}"))
    }),
    Case::http(Rule::GuessableSession, V2025_11_25, |server| {
        rename_sessions(server, |number, _| format!("00000000-0000-0000-0000-{number:012}"))
    }),
    Case::http(Rule::MissingSession, V2025_06_18, answers_missing_sessions_with_404),
    // Handles requests without a session id in a session of its own.
    Case::http(Rule::MissingSession, V2025_11_25, |server| {
        server.on_response(|parts, body, response| {
            let message = message(body);
            let is_ping = is(parts, "POST") && message["method"] == "ping";
            if is_ping && !parts.headers.contains_key(SESSION_HEADER) {
                let result = json!({"jsonrpc": "2.0", "id": message["id"], "result": {}});
                *response = json_response(200, &result);
            }
        })
    }),
    Case::http(Rule::UnknownSession, V2025_03_26, |server| answers_with_400(server, false)),
    Case::http(Rule::UnknownSession, V2025_11_25, |server| answers_with_400(server, false)),
    Case::http(Rule::UnknownSession, V2025_06_18, |server| {
        server.on_response(|parts, _, response| {
            if is(parts, "DELETE") && response.status() == 404 {
                set_status(response, 200);
            }
        })
    }),
    Case::http(Rule::DeletedSession, V2025_03_26, |server| {
        server.on_response(|_, body, response| {
            let is_notification = message(body)["method"] == "notifications/cancelled";
            if is_notification && response.status() == 404 {
                set_status(response, 202);
            }
        })
    }),
    Case::http(Rule::DeletedSession, V2025_06_18, keeps_deleted_sessions)
        .also(&[Rule::UnknownSession, Rule::VersionHeader]),
    Case::http(Rule::DeletedSession, V2025_11_25, |server| answers_with_400(server, true)),
    Case::http(Rule::VersionHeader, V2025_06_18, ignores_the_version),
    Case::http(Rule::VersionHeader, V2025_06_18, |server| {
        server.on_headers(|_, _, headers| {
            if header(headers, "mcp-protocol-version") == "2099-01-01" {
                headers.remove("mcp-protocol-version");
            }
        })
    }),
    Case::http(Rule::VersionHeader, V2025_11_25, |server| {
        server.on_headers(|parts, _, headers| {
            if is(parts, "DELETE") {
                headers.remove("mcp-protocol-version");
            }
        })
    }),
    Case::http(Rule::VersionHeader, V2025_11_25, |server| {
        server.on_headers(|_, _, headers| {
            if header(headers, "mcp-protocol-version") == "1999-01-01" {
                headers.remove("mcp-protocol-version");
            }
        })
    }),
    Case::http(Rule::VersionHeader, V2025_11_25, |server| {
        server.on_response(|parts, _, response| {
            let version = header(&parts.headers, "mcp-protocol-version");
            if version == "sparring" && response.status() == 400 {
                set_status(response, 406);
            }
        })
    }),
    Case::http(Rule::MissingVersionHeader, V2025_06_18, requires_the_version),
    Case::http(Rule::MissingVersionHeader, V2025_11_25, requires_the_version),
];
