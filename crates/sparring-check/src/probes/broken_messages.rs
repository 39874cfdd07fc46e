//! Messages that are not valid: the server must answer them with an error or not at all, and
//! must go on with the next message.

use serde_json::{Value, json};
use sparring_transport::http::RawRequest;
use sparring_wire::json::parse_value;
use sparring_wire::{Entry, FrameKind, Id, Revision, Rule, Side, code};

use super::{Probe, probe};
use crate::connection::Connection;
use crate::context::{Context, ProbeResult, Stopped};
use crate::http::{Exchange, HttpServer, modern_body, request, with_metadata};
use crate::verdict::{Finding, ShownFrame};

pub(super) const PROBES: &[Probe] =
    &[probe!([ParseError, InvalidRequest, BrokenMessage], broken_messages)];

/// Texts that are not JSON, each with a description.
const NOT_JSON: [(&str, &str); 4] = [
    ("a text that is not JSON", "This is not JSON."),
    ("half a message", r#"{"jsonrpc": "2.0", "id": "sparring-half", "method": "ping""#),
    ("a lone brace", "{"),
    ("an object with single quotes", "{'jsonrpc': '2.0', 'id': 1, 'method': 'ping'}"),
];

/// The codes of errors that a message that is no valid request can get.
const INVALID_REQUEST_CODES: [i64; 3] =
    [code::INVALID_REQUEST, code::PARSE_ERROR, code::INVALID_PARAMS];

/// The way to send a broken message.
enum Channel<'a> {
    /// A connection of its own. Its traffic is not judged.
    Connection(Connection),
    /// Single HTTP requests, because only they show each response.
    Http(&'a HttpServer),
}

/// The reaction of a server to one broken message.
struct Reaction {
    /// The responses of the server, those of batches one by one.
    responses: Vec<Value>,
    shown: Vec<ShownFrame>,
    /// The reason if the server does not answer valid requests any more.
    failure: Option<String>,
}

/// A broken message, with the rule about the response to it.
struct BrokenMessage {
    rule: Rule,
    description: &'static str,
    text: String,
}

async fn broken_messages(context: &Context) -> ProbeResult {
    // First those that are not JSON, so that a late response to one of them is not taken for a
    // wrong response to another kind.
    for messages in [not_json(), invalid_requests(context.revision)] {
        let channel = Channel::open(context).await?;
        let mut is_alive = true;
        for message in messages {
            let reaction = channel.send(&message.text).await?;
            judge_responses(context, &message, &reaction);
            let Some(reason) = reaction.failure else {
                context.pass(Rule::BrokenMessage);
                continue;
            };
            let description = message.description;
            let expected = "expected answers to valid requests also after";
            let finding = Finding::new(format!("{expected} {description}; {reason}"));
            context.fail(Rule::BrokenMessage, finding.with_frames(reaction.shown));
            is_alive = false;
            break;
        }
        match channel {
            Channel::Connection(connection) if is_alive => context.give_back_unjudged(connection),
            Channel::Connection(connection) => drop(connection.close().await),
            Channel::Http(_) => {}
        }
    }
    Ok(())
}

fn judge_responses(context: &Context, message: &BrokenMessage, reaction: &Reaction) {
    let BrokenMessage { rule, description, .. } = *message;
    let over_http = context.http().is_some();
    for response in &reaction.responses {
        let found = response["error"]["code"].as_i64();
        let has_error = response.get("error").is_some();
        // The headers of a request are compared with its body, which has no method.
        let is_mismatch = found == Some(code::HEADER_MISMATCH) && over_http;
        let is_expected = match (rule, found) {
            _ if is_mismatch => true,
            (Rule::ParseError, Some(found)) => found == code::PARSE_ERROR,
            (_, Some(found)) => INVALID_REQUEST_CODES.contains(&found),
            (_, None) => false,
        };
        if !is_expected {
            let expected = match (rule, found) {
                (Rule::ParseError, _) => "the error -32700",
                (_, Some(_)) => "the error -32600",
                (_, None) => "an error",
            };
            let found = match found {
                Some(found) => format!("the error {found}"),
                None if has_error => "an error without an integer as its code".to_owned(),
                None => "a result".to_owned(),
            };
            let finding = Finding::new(format!(
                "expected {expected} or no answer to {description}; the server answered with {found}"
            ));
            context.fail(rule, finding.with_frames(reaction.shown.clone()));
        }
    }
    context.pass(rule);
}

fn not_json() -> Vec<BrokenMessage> {
    let messages = NOT_JSON.into_iter().map(|(description, text)| BrokenMessage {
        rule: Rule::ParseError,
        description,
        text: text.to_owned(),
    });
    messages.collect()
}

/// Returns JSON values that are not valid requests.
fn invalid_requests(revision: Revision) -> Vec<BrokenMessage> {
    let with = |key: &str, value: Value| {
        let mut message = valid_request(revision, "sparring-invalid");
        message[key] = value;
        message
    };
    let without = |key: &str| {
        let mut message = valid_request(revision, "sparring-invalid");
        message.as_object_mut().map(|it| it.remove(key));
        message
    };
    let values = [
        ("a number", json!(42)),
        ("a string", json!("ping")),
        ("an empty array", json!([])),
        ("an empty object", json!({})),
        ("a message without a method", without("method")),
        ("a request whose method is a number", with("method", json!(7))),
        ("a request whose params are a string", with("params", json!("text"))),
        ("a request whose id is an object", with("id", json!({"a": 1}))),
        ("a request whose id is null", with("id", json!(null))),
        ("a request without `jsonrpc`", without("jsonrpc")),
        ("a request with another `jsonrpc` than \"2.0\"", with("jsonrpc", json!("1.0"))),
    ];
    let messages = values.into_iter().map(|(description, value)| BrokenMessage {
        rule: Rule::InvalidRequest,
        description,
        text: value.to_string(),
    });
    messages.collect()
}

/// Returns a request that every server of the revision answers.
fn valid_request(revision: Revision, id: &str) -> Value {
    match revision.is_modern() {
        true => {
            let params = with_metadata(json!({}), revision);
            request(json!(id), "server/discover", Some(params))
        }
        false => request(json!(id), "ping", None),
    }
}

impl<'a> Channel<'a> {
    async fn open(context: &'a Context) -> Result<Channel<'a>, Stopped> {
        match context.http() {
            Some(server) if server.speaks_streamable_http().await => Ok(Channel::Http(server)),
            _ => Ok(Channel::Connection(context.take_unjudged().await?)),
        }
    }

    /// Sends a broken message, and then a valid request.
    async fn send(&self, text: &str) -> Result<Reaction, Stopped> {
        match self {
            Channel::Connection(connection) => Ok(send_line(connection, text).await),
            Channel::Http(server) => post(server, text).await,
        }
    }
}

/// The responses to a line come before the response to the valid request after it.
async fn send_line(connection: &Connection, text: &str) -> Reaction {
    let start = connection.recording().len();
    connection.send_bytes(text);
    let failure = connection.is_alive().await.err().map(|error| error.to_string());
    let entries = connection.recording().entries_from(start);
    let ping = ping_id(&entries);
    let is_ping = |value: &Value| ping.is_some_and(|id| value["id"] == id);
    let values = entries.iter().filter(|entry| entry.from == Side::Server);
    let values = values.filter_map(|entry| parse_value(entry.frame.bytes()).ok());
    let values = values.flat_map(|value| match value {
        Value::Array(items) => items,
        value => vec![value],
    });
    let is_response = |value: &Value| value.get("result").or(value.get("error")).is_some();
    let responses = values.filter(|value| is_response(value) && !is_ping(value)).collect();
    let ping = ping.map(Id::Integer);
    let is_of_ping = |entry: &Entry| ping.is_some() && entry.frame.id() == ping.as_ref();
    let shown = entries.iter().filter(|entry| failure.is_some() || !is_of_ping(entry));
    Reaction { responses, shown: shown.map(ShownFrame::from).collect(), failure }
}

/// Returns the id of the valid request after a broken message. The ids of the client are
/// integers.
pub(super) fn ping_id(entries: &[Entry]) -> Option<i64> {
    let mut sent = entries.iter().rev().filter(|entry| entry.from == Side::Client);
    match sent.find(|entry| entry.frame.kind() == FrameKind::Request)?.frame.id()? {
        Id::Integer(id) => Some(*id),
        _ => None,
    }
}

async fn post(server: &HttpServer, text: &str) -> Result<Reaction, Stopped> {
    let valid = valid_request(server.revision, "sparring-valid");
    let broken = post_request(server, &valid, text).await?;
    // A refusal without a response is like no answer, as long as the server goes on.
    let exchange = server.send(&broken).await.ok();
    let messages = exchange.iter().flat_map(Exchange::messages);
    let responses = messages.filter(|it| it.get("result").or(it.get("error")).is_some()).collect();
    let shown = exchange.iter().flat_map(Exchange::shown).collect();
    let valid = post_request(server, &valid, &valid.to_string()).await?;
    let failure = match server.send(&valid).await {
        Ok(exchange) if exchange.response_to(&json!("sparring-valid")).is_some() => None,
        Ok(exchange) => Some(exchange.describe()),
        Err(Stopped(reason)) => Some(reason),
    };
    Ok(Reaction { responses, shown, failure })
}

/// Returns a POST request with the headers of a valid message, and this body.
async fn post_request(
    server: &HttpServer,
    valid: &Value,
    body: &str,
) -> Result<RawRequest, Stopped> {
    let mut sent = match server.revision.is_modern() {
        true => modern_body(valid.clone()),
        false => server.session().await?.post(valid),
    };
    sent.body = body.to_owned().into();
    Ok(sent)
}
