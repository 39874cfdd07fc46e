//! Messages without a response, bodies that are not a single message, and batches in 2025-03-26.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_transport::http::RawRequest;
use sparring_wire::Rule;
use sparring_wire::mirrored_headers::{METHOD_HEADER, PROTOCOL_VERSION_HEADER};
use tokio::time::Instant;

use super::ping;
use crate::context::{Context, ProbeResult, Stopped};
use crate::http::{
    Exchange, HttpServer, Refusal, RequestExt, Session, modern_body, post, require_refusal,
    streamable, with_metadata,
};

/// Bodies that are no message, each with its description.
const GARBAGE: [(&str, &str); 4] = [
    ("that is not JSON", "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": "),
    ("that is a string", "\"a text\""),
    ("that is an object without a method", "{\"jsonrpc\": \"2.0\"}"),
    ("that is empty", ""),
];

/// The longest wait for the head of an event stream.
pub(super) const HEAD: Duration = Duration::from_secs(1);

pub(super) async fn garbage(context: &Context) -> ProbeResult {
    let rule = Rule::AcceptedGarbage;
    let Some(server) = streamable(context, &[rule]).await else { return Ok(()) };
    let session = match context.revision.is_modern() {
        true => None,
        false => Some(server.another_session().await?),
    };
    for (description, body) in GARBAGE {
        let request = match &session {
            Some(session) => session.post_text(body),
            None => post(body)
                .with(PROTOCOL_VERSION_HEADER, context.revision.name())
                .with(METHOD_HEADER, "server/discover"),
        };
        let expected = format!("an error status or a JSON-RPC error for a body {description}");
        match server.send(&request).await {
            // A JSON-RPC error refuses it too.
            Ok(exchange) if exchange.error_code().is_some() => context.pass(rule),
            Ok(exchange) if exchange.status >= 400 => context.pass(rule),
            Ok(exchange) => context.fail(rule, exchange.finding(format!("expected {expected}"))),
            Err(_) => {
                require_refusal(context, server, rule, &request, Refusal::ANY, expected).await;
            }
        }
    }
    end(server, session.as_ref()).await;
    Ok(())
}

pub(super) async fn batch(context: &Context) -> ProbeResult {
    let rule = Rule::UnansweredBatch;
    let Some(server) = streamable(context, &[rule]).await else { return Ok(()) };
    let session = server.another_session().await?;
    let cancelled = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": "sparring-unknown"},
    });
    let (first, second, third) = (ping(server), ping(server), ping(server));
    let ids = [&first["id"], &second["id"], &third["id"]].map(Clone::clone);
    let batches = [
        (json!([first, second]), &ids[..2], "the responses to both requests of a batch"),
        (
            json!([cancelled, third]),
            &ids[2..],
            "the response to the request of a batch with a notification",
        ),
    ];
    for (batch, ids, expected) in batches {
        let exchange = answered(server, &session.post(&batch), ids).await?;
        match ids.iter().all(|id| exchange.response_to(id).is_some()) {
            true => context.pass(rule),
            false if exchange.is_unrelated_refusal() => {
                context.undecided(rule, exchange.describe());
            }
            false => context.fail(rule, exchange.finding(format!("expected {expected}"))),
        }
    }
    let request = session.post(&json!([cancelled]));
    let accepted = Refusal::status(&[202]);
    let expected = "the status 202 for a batch of notifications";
    require_refusal(context, server, rule, &request, accepted, expected).await;
    end(server, Some(&session)).await;
    Ok(())
}

/// A message without a response is accepted with the status 202 and no body, or refused. A GET
/// request gets an event stream or the status 405.
pub(super) async fn messages_without_response(context: &Context) -> ProbeResult {
    let rules = [Rule::WrongStatus, Rule::UnexpectedBody];
    let Some(server) = streamable(context, &rules).await else { return Ok(()) };
    let cancelled = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": "sparring-unknown"},
    });
    let notification = "a notification";
    if context.revision.is_modern() {
        let mut cancelled = cancelled;
        cancelled["params"] = with_metadata(cancelled["params"].take(), context.revision);
        check_accepted(context, &server.send(&modern_body(cancelled)).await?, notification);
        return Ok(());
    }
    let session = server.another_session().await?;
    let response = json!({"jsonrpc": "2.0", "id": "sparring-unknown", "result": {}});
    for (message, what) in [(cancelled, notification), (response, "a response")] {
        check_accepted(context, &server.send(&session.post(&message)).await?, what);
    }
    // A server whose response has no head until the first event is judged elsewhere.
    if let Ok(Ok(listened)) = tokio::time::timeout(HEAD, server.send(&session.get())).await {
        let is_allowed = match listened.status {
            405 => true,
            // The token may not be enough.
            403 => has_credentials(server),
            // Some servers allow one stream for all clients without a session.
            409 => session.id.is_none(),
            _ => listened.is_success(),
        };
        if !is_allowed && !listened.is_unrelated_refusal() {
            let expected = "expected an event stream or the status 405 for a GET request";
            context.fail(Rule::WrongStatus, listened.finding(expected));
        }
    }
    end(server, Some(&session)).await;
    Ok(())
}

fn has_credentials(server: &HttpServer) -> bool {
    let target = server.target();
    target.credentials.is_some() || !target.headers.is_empty()
}

fn check_accepted(context: &Context, exchange: &Exchange, what: &str) {
    if exchange.status == 202 && !exchange.is_empty() {
        let expected = format!("expected no body in the response with status 202 to {what}");
        context.fail(Rule::UnexpectedBody, exchange.finding(expected));
    }
    if exchange.is_success() && exchange.status != 202 {
        let expected = format!("expected the status 202 or an error status for {what}");
        context.fail(Rule::WrongStatus, exchange.finding(expected));
    }
    context.pass(Rule::WrongStatus);
    context.pass(Rule::UnexpectedBody);
}

/// Sends a batch, and reads until all of its responses have arrived.
async fn answered(
    server: &HttpServer,
    request: &RawRequest,
    ids: &[Value],
) -> Result<Exchange, Stopped> {
    let deadline = Instant::now() + server.timeout();
    let mut open = server.start(request).await?;
    if !open.exchange().is_stream() {
        return open.read_body(deadline).await;
    }
    let misses = |exchange: &Exchange| ids.iter().any(|id| exchange.response_to(id).is_none());
    while misses(open.exchange()) && open.read_event(deadline).await {}
    Ok(open.exchange().clone())
}

/// Ends a session, if it has an id.
pub(super) async fn end(server: &HttpServer, session: Option<&Session>) {
    if let Some(session) = session.filter(|it| it.id.is_some()) {
        drop(server.send(&session.delete()).await);
    }
}
