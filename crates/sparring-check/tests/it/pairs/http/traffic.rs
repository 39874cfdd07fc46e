//! Rules of ordinary HTTP traffic: statuses, bodies, content types and session ids.

use axum::body::Body;
use axum::response::Response;
use sparring_wire::Rule;

use super::sessions::rename_sessions;
use super::{
    V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28, is, message, set_content_type, set_status,
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

/// Alters the streams of GET requests.
fn on_listening(server: AlteredHttp, alter: fn(&mut Response)) -> AlteredHttp {
    server.on_response(move |parts, _, response| {
        let resumes = parts.headers.contains_key("last-event-id");
        if is(parts, "GET") && !resumes && response.status() == 200 {
            *response.body_mut() = Body::empty();
            alter(response);
        }
    })
}

pub(in crate::pairs) const CASES: &[Case] = &[
    Case::http(Rule::WrongStatus, V2025_03_26, |server| accepts_with(server, 200))
        .also(&[Rule::UnansweredBatch]),
    Case::http(Rule::WrongStatus, V2025_11_25, |server| accepts_with(server, 204)),
    Case::http(Rule::WrongStatus, V2026_07_28, |server| accepts_with(server, 204)),
    Case::http(Rule::WrongStatus, V2025_11_25, |server| {
        on_listening(server, |response| set_status(response, 501))
    }),
    Case::http(Rule::WrongStatus, V2026_07_28, |server| {
        server.on_response(|_, _, response| {
            if response.status() == 404 {
                set_status(response, 200);
            }
        })
    }),
    Case::http(Rule::WrongStatus, V2025_06_18, |server| {
        on_listening(server, |response| set_status(response, 404))
    }),
    Case::http(Rule::WrongStatus, V2025_03_26, |server| {
        on_listening(server, |response| set_status(response, 403))
    }),
    Case::http(Rule::WrongStatus, V2025_11_25, |server| {
        on_listening(server, |response| set_status(response, 409))
    }),
    Case::http(Rule::WrongStatus, V2025_06_18, |server| {
        server.on_response(|_, body, response| {
            if message(body).get("result").is_some() {
                set_status(response, 200);
            }
        })
    }),
    Case::http(Rule::UnexpectedBody, V2025_06_18, accepts_with_a_body),
    Case::http(Rule::UnexpectedBody, V2026_07_28, accepts_with_a_body),
    Case::http(Rule::WrongContentType, V2025_11_25, |server| {
        on_listening(server, |response| set_content_type(response, "application/json"))
    }),
    // The last line of the event lacks its end.
    Case::http(Rule::WrongContentType, V2025_06_18, |server| {
        server.on_body(|parts, body, text| {
            let is_call = is(parts, "POST") && message(body)["method"] == "tools/call";
            match is_call && text.contains("data:") && text.contains("\"result\"") {
                true => text.trim_end().to_owned(),
                false => text,
            }
        })
    })
    .also(&[Rule::NoAnswer, Rule::StreamWithoutResponse]),
    Case::http(Rule::InvalidSessionId, V2025_06_18, |server| {
        rename_sessions(server, |_, id| format!("session {id}"))
    }),
    Case::http(Rule::ResponseOnListeningStream, V2025_06_18, |server| {
        on_listening(server, |response| {
            let event = "data: {\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{}}\n\n";
            *response.body_mut() = Body::from(event);
        })
    })
    .also(&[Rule::UnknownResponse, Rule::Broadcast, Rule::AnsweredNotification]),
];
