//! Batches of messages, which only revision 2025-03-26 has.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::json::parse_value;
use sparring_wire::{Entry, Rule, Side};
use tokio::time::Instant;

use super::broken_messages::ping_id;
use super::{Probe, probe};
use crate::connection::Connection;
use crate::context::{Context, ProbeResult, Stopped};
use crate::http::HttpServer;
use crate::verdict::{Finding, ShownFrame};

pub(super) const PROBES: &[Probe] = &[probe!([Batch], batch)];

/// The wait for the responses to a batch after the response to a later request.
const RESPONSES_TIMEOUT: Duration = Duration::from_secs(1);

const FIRST: &str = "sparring-batch-1";
const SECOND: &str = "sparring-batch-2";

/// The id of a request with an unknown method between the pings. It is a number, since servers
/// handle ids of both types.
const UNKNOWN: i64 = 8103;

/// The responses to a batch, one by one.
struct Responses {
    responses: Vec<Value>,
    shown: Vec<ShownFrame>,
    /// True if the server answers later requests.
    is_alive: bool,
}

async fn batch(context: &Context) -> ProbeResult {
    let ping = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/sparring-unknown"});
    let unknown = json!({"jsonrpc": "2.0", "id": UNKNOWN, "method": "sparring/unknown"});
    let requests = json!([ping(FIRST), notification, unknown, ping(SECOND)]);
    let found = match context.http() {
        Some(server) if server.speaks_streamable_http().await => post(server, &requests).await?,
        _ => {
            let connection = context.take_unjudged().await?;
            let found = send(&connection, &requests).await;
            if found.is_alive {
                let notifications = json!([notification, notification]);
                judge_notifications(context, &send(&connection, &notifications).await);
                context.give_back_unjudged(connection);
            }
            found
        }
    };
    let results = |id: &str| {
        let answers = |it: &&Value| it["id"] == id && it.get("result").is_some();
        found.responses.iter().filter(answers).count()
    };
    let other = found.responses.iter().find(|it| is_other(it));
    let answers_unknown = |it: &Value| it["id"] == UNKNOWN && it.get("error").is_some();
    let problem = match (results(FIRST), results(SECOND), other) {
        (1, 1, None) if found.responses.iter().any(answers_unknown) => {
            return {
                context.pass(Rule::Batch);
                Ok(())
            };
        }
        (1, 1, None) => "the server did not answer the request with an unknown method with an \
                         error"
            .to_owned(),
        (1, 1, Some(_)) => "the server also answered the notification in the batch".to_owned(),
        (0, 0, Some(other)) => match other["error"]["code"].as_i64() {
            Some(code) => format!("the server answered the batch with the error {code}"),
            None => "the server answered neither request".to_owned(),
        },
        (0, 0, None) => "the server answered neither request with a result".to_owned(),
        (0, _, _) | (_, 0, _) => "the server answered only one request with a result".to_owned(),
        _ => "the server answered a request twice".to_owned(),
    };
    let expected = "expected one response to each request in a batch";
    let finding = Finding::new(format!("{expected}; {problem}"));
    context.fail(Rule::Batch, finding.with_frames(found.shown));
    Ok(())
}

/// A server does not answer a batch that has only notifications.
fn judge_notifications(context: &Context, found: &Responses) {
    if found.responses.iter().any(is_other) {
        let message = "expected no answer to a batch of notifications";
        let finding = Finding::new(message).with_frames(found.shown.clone());
        context.fail(Rule::Batch, finding);
    }
}

/// Returns true for a response to none of the requests.
fn is_other(response: &Value) -> bool {
    response["id"] != FIRST && response["id"] != SECOND && response["id"] != UNKNOWN
}

/// Sends a batch on a connection.
async fn send(connection: &Connection, batch: &Value) -> Responses {
    let start = connection.recording().len();
    connection.send_bytes(batch.to_string());
    let answers = |entry: &Entry, id: &Value| {
        let parsed = parse_value(entry.frame.bytes());
        parsed.is_ok_and(|it| flatten(it).iter().any(|it| it["id"] == *id))
    };
    let is_alive = connection.is_alive().await.is_ok();
    let deadline = Instant::now() + RESPONSES_TIMEOUT;
    let ids = batch.as_array().into_iter().flatten().filter_map(|it| it.get("id"));
    for id in ids.filter(|_| is_alive) {
        let recording = connection.recording();
        let fits = |entry: &Entry| entry.from == Side::Server && answers(entry, id);
        let left = deadline.saturating_duration_since(Instant::now());
        recording.wait_for(start, left, fits).await;
    }
    let entries = connection.recording().entries_from(start);
    let ping = ping_id(&entries);
    let is_ping = |value: &Value| ping.is_some_and(|id| value["id"] == id);
    let received = entries.iter().filter(|entry| entry.from == Side::Server);
    let values = received.filter_map(|entry| parse_value(entry.frame.bytes()).ok());
    let values = values.flat_map(flatten).filter(|it| is_response(it) && !is_ping(it));
    Responses {
        responses: values.collect(),
        shown: entries.iter().map(ShownFrame::from).collect(),
        is_alive,
    }
}

/// Posts a batch over HTTP.
async fn post(server: &HttpServer, batch: &Value) -> Result<Responses, Stopped> {
    let sent = server.session().await?.post(batch);
    let mut open = server.start(&sent).await?;
    let responses = |open: &crate::http::OpenStream| -> Vec<Value> {
        open.exchange().messages().into_iter().filter(is_response).collect()
    };
    if !open.exchange().is_stream() {
        let exchange = open.read_body(Instant::now() + RESPONSES_TIMEOUT).await?;
        let found = exchange.messages().into_iter().filter(is_response).collect();
        return Ok(Responses {
            responses: found,
            shown: exchange.shown().to_vec(),
            is_alive: true,
        });
    }
    let deadline = Instant::now() + RESPONSES_TIMEOUT;
    while responses(&open).len() < 3 && open.read_event(deadline).await {}
    Ok(Responses {
        responses: responses(&open),
        shown: open.exchange().shown().to_vec(),
        is_alive: true,
    })
}

fn flatten(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        value => vec![value],
    }
}

fn is_response(value: &Value) -> bool {
    value.get("result").or(value.get("error")).is_some()
}
