//! What ordinary traffic shows: statuses, bodies, content types and session ids.

use axum::body::Body;
use axum::response::Response;
use sparring_wire::Rule;

use super::sessions::rename_sessions;
use super::{
    V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28, empty_response, is, json_response, message,
    set_status,
};
use crate::pairs::Case;
use crate::support::AlteredHttp;

fn accepts_with(server: AlteredHttp, status: u16) -> AlteredHttp {
    server.on_response(move |_, _, response| {
        if response.status() == 202 {
            set_status(response, status);
        }
    })
}

fn accepts_with_a_body(server: AlteredHttp) -> AlteredHttp {
    server.on_response(|_, body, response| {
        if response.status() == 202 && message(body).is_object() {
            *response.body_mut() = Body::from("accepted");
        }
    })
}

/// Sends a response on the streams of GET requests.
fn answers_on_listening_streams(server: AlteredHttp) -> AlteredHttp {
    server.on_request(|parts, _| {
        let response = "data: {\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{}}\n\n";
        let response = Response::builder()
            .header("content-type", "text/event-stream")
            .body(Body::from(response));
        is(parts, "GET").then(|| response.unwrap())
    })
}

pub(in crate::pairs) const CASES: &[Case] = &[
    Case::http(Rule::WrongStatus, V2025_03_26, |server| accepts_with(server, 200))
        .also(&[Rule::UnansweredBatch]),
    Case::http(Rule::WrongStatus, V2025_11_25, |server| accepts_with(server, 204)),
    Case::http(Rule::WrongStatus, V2026_07_28, |server| accepts_with(server, 204)),
    Case::http(Rule::WrongStatus, V2025_11_25, |server| {
        server.on_request(|parts, _| is(parts, "GET").then(|| empty_response(501)))
    })
    .also(OF_GET_REQUESTS),
    Case::http(Rule::WrongStatus, V2026_07_28, |server| {
        server.on_response(|_, _, response| {
            if response.status() == 404 {
                set_status(response, 200);
            }
        })
    }),
    Case::http(Rule::UnexpectedBody, V2025_06_18, accepts_with_a_body),
    Case::http(Rule::UnexpectedBody, V2026_07_28, accepts_with_a_body),
    Case::http(Rule::WrongContentType, V2025_11_25, |server| {
        server.on_request(|parts, _| {
            is(parts, "GET").then(|| json_response(200, &serde_json::json!({})))
        })
    })
    .also(OF_GET_REQUESTS),
    Case::http(Rule::InvalidSessionId, V2025_06_18, |server| {
        rename_sessions(server, |_, id| format!("session {id}"))
    }),
    Case::http(Rule::ResponseOnListeningStream, V2025_06_18, answers_on_listening_streams)
        .also(OF_GET_REQUESTS),
];

/// The rules about GET requests that a server breaks which answers all of them in the same way.
const OF_GET_REQUESTS: &[Rule] = &[
    Rule::ForeignOrigin,
    Rule::MissingSession,
    Rule::UnknownSession,
    Rule::DeletedSession,
    Rule::VersionHeader,
    Rule::UnknownResponse,
    Rule::Broadcast,
];
