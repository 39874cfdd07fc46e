//! Explains why no connection was possible: violations that keep every client out.

use serde_json::json;
use sparring_transport::http::{HttpTarget, RawRequest};
use sparring_wire::{Revision, Rule, code};

use super::legacy_sse;
use super::streams::wrong_content_type;
use crate::connection::is_early_end;
use crate::http::{Body, Exchange, HttpServer, initialize, modern};
use crate::options::CheckOptions;
use crate::verdict::Finding;

/// Returns the rules that a server broke while a client tried to connect in this revision.
pub(crate) async fn explain(
    target: &HttpTarget,
    options: &CheckOptions,
    revision: Revision,
) -> Vec<(Rule, Finding)> {
    let Some(server) = HttpServer::new(target, revision, options.rule_timeout) else {
        return Vec::new();
    };
    let first = || match revision.is_modern() {
        true => modern(revision, json!("initialize"), "server/discover", json!({})),
        false => initialize(revision),
    };
    let Ok(exchange) = server.send(&first()).await else { return Vec::new() };
    let mut found = wrong_response(&exchange);
    if revision.is_modern() && exchange.error_code() == Some(code::HEADER_MISMATCH) {
        let in_title_case = RawRequest { title_case: true, ..first() };
        let accepted = server.send(&in_title_case).await;
        if accepted.is_ok_and(|it| it.has_result()) {
            let expected = "expected header names in lower case to be accepted";
            found.push((Rule::HeaderNameCase, exchange.finding(expected)));
        }
    }
    let is_refused = matches!(exchange.status, 400 | 404 | 405);
    if revision == Revision::V2024_11_05 && is_refused {
        found.extend(legacy_sse::findings(&server, &[]).await.unwrap_or_default());
    }
    found.retain(|(rule, _)| rule.applies_in(revision) && options.selects(*rule));
    found
}

/// Judges the response to the first request.
fn wrong_response(exchange: &Exchange) -> Vec<(Rule, Finding)> {
    let is_json = exchange.content_type().eq_ignore_ascii_case("application/json");
    // A page of another kind of server has no message.
    let has_message = match &exchange.body {
        Body::Whole(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            exchange.has_result() || text.contains("data:") && text.contains("\"jsonrpc\"")
        }
        Body::Stream { .. } => true,
    };
    // A server that takes a request for a notification accepts it without a response.
    let is_unanswered = exchange.status == 202 && exchange.is_empty();
    if !exchange.is_success() || !has_message && !is_unanswered {
        return Vec::new();
    }
    if !exchange.is_stream() && !is_json {
        return vec![(Rule::WrongContentType, wrong_content_type(exchange))];
    }
    if exchange.is_stream() && exchange.broken.as_deref().is_some_and(is_early_end) {
        let message = "expected a blank line at the end of each event; \
                       the stream ended in the middle of one";
        let finding = Finding::new(message).with_frames(exchange.shown());
        return vec![(Rule::WrongContentType, finding)];
    }
    let ended = matches!(exchange.body, Body::Stream { ended: true, .. });
    if ended && exchange.response_to(&json!("initialize")).is_none() {
        let message = "expected the response on the event stream of its request; \
                       the server ended the stream without it";
        let finding = Finding::new(message).with_frames(exchange.shown());
        return vec![(Rule::StreamWithoutResponse, finding)];
    }
    Vec::new()
}
