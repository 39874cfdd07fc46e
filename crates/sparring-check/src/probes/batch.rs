//! Batches of messages, which only revision 2025-03-26 has.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::json::parse_value;
use sparring_wire::{Entry, Rule, Side};
use tokio::time::Instant;

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
    let requests = json!([ping(FIRST), notification, ping(SECOND)]);
    let found = match context.http() {
        Some(server) if server.speaks_streamable_http().await => post(server, &requests).await?,
        _ => {
            let connection = context.take_unjudged().await?;
            let found = send(&connection, &requests).await;
            if found.is_alive {
                context.give_back_unjudged(connection);
            }
            found
        }
    };
    let results = |id: &str| {
        let answers = |it: &&Value| it["id"] == id && it.get("result").is_some();
        found.responses.iter().filter(answers).count()
    };
    let is_other = |it: &&Value| it["id"] != FIRST && it["id"] != SECOND;
    let other = found.responses.iter().find(is_other);
    let problem = match (results(FIRST), results(SECOND), other) {
        (1, 1, None) => {
            return {
                context.pass(Rule::Batch);
                Ok(())
            };
        }
        (1, 1, Some(_)) => "the server also answered the notification in the batch".to_owned(),
        (0, 0, Some(other)) => match other["error"]["code"].as_i64() {
            Some(code) => format!("the server answered the batch with the error {code}"),
            None => "the server answered neither request".to_owned(),
        },
        (0, 0, None) => "the server answered neither request with a result".to_owned(),
        (0, _, _) | (_, 0, _) => "the server answered only one request with a result".to_owned(),
        _ => "the server answered a request twice".to_owned(),
    };
    let expected = "expected one result for each of the two pings in a batch";
    let finding = Finding::new(format!("{expected}; {problem}"));
    context.fail(Rule::Batch, finding.with_frames(found.shown));
    Ok(())
}

/// Sends a batch on a connection.
async fn send(connection: &Connection, batch: &Value) -> Responses {
    let start = connection.recording().len();
    connection.send_bytes(batch.to_string());
    let is_last = |entry: &Entry| {
        let parsed = parse_value(entry.frame.bytes());
        parsed.is_ok_and(|it| flatten(it).iter().any(|it| it["id"] == SECOND))
    };
    let is_alive = connection.is_alive().await.is_ok();
    if is_alive {
        let recording = connection.recording();
        let fits = |entry: &Entry| entry.from == Side::Server && is_last(entry);
        recording.wait_for(start, RESPONSES_TIMEOUT, fits).await;
    }
    let entries = connection.recording().entries_from(start);
    let is_ping = |value: &Value| value["id"].is_number();
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
    while responses(&open).len() < 2 && open.read_event(deadline).await {}
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
