//! Requests and notifications of JSON-RPC: unknown methods, unknown fields, invalid params.

use futures_util::future::join_all;
use serde_json::{Value, json};
use sparring_peer::client::Error;
use sparring_wire::{Entry, Rule, Side, code};

use super::refusals::require_refusal;
use super::{Probe, probe};
use crate::connection::Reply;
use crate::context::{Context, ProbeResult};
use crate::http::{request, with_metadata};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[
    probe!([UnknownMethod], unknown_method),
    probe!([AnsweredNotification], unknown_notification),
    probe!([ResponseIdType, UnknownResponse], ids_of_responses),
    probe!([UndeclaredMethod], undeclared_methods),
    probe!([UnknownField], unknown_fields),
    probe!([InvalidParams, InvalidParamsCode], invalid_params),
];

/// The lists, each with its capability.
pub(super) const LISTS: [(&str, &str); 4] = [
    ("tools", "tools/list"),
    ("prompts", "prompts/list"),
    ("resources", "resources/list"),
    ("resources", "resources/templates/list"),
];

/// The largest integer that every JSON library reads exactly.
const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;

async fn unknown_method(context: &Context) -> ProbeResult {
    // A server that answers with the status 404 ends the session, which a second try tells from
    // a session that was lost for another reason.
    let mut reply = context.spare().await?.request("sparring/unknown", Some(json!({}))).await;
    if reply.is_session_lost() {
        reply = context.spare().await?.request("sparring/unknown", Some(json!({}))).await;
    }
    context.require_error(Rule::UnknownMethod, &reply, &[code::METHOD_NOT_FOUND]);
    Ok(())
}

/// A server that answers a notification sends a frame before it answers the ping.
async fn unknown_notification(context: &Context) -> ProbeResult {
    let connection = context.take_unjudged().await?;
    // A server of both eras may expect a request as the first message.
    connection.ping().await;
    let start = connection.recording().len();
    connection.client().notify("notifications/sparring-unknown", None);
    let ping = connection.ping().await;
    let frames = connection.recording().entries_from(start);
    let ping_id = ping.outcome().ok().and_then(|response| response.raw().id().cloned());
    let answer = frames.iter().find(|entry| {
        let frame = &entry.frame;
        entry.from == Side::Server && frame.is_response_like() && frame.id() != ping_id.as_ref()
    });
    match answer {
        Some(_) => {
            let finding = Finding::new("the server answered a notification").with_frames(&frames);
            context.fail(Rule::AnsweredNotification, finding);
        }
        None if ping.is_answered() => {
            context.pass(Rule::AnsweredNotification);
            context.give_back_unjudged(connection);
            return Ok(());
        }
        None => context.undecided(Rule::AnsweredNotification, ping.describe()),
    }
    connection.close().await;
    Ok(())
}

/// Sends requests with unusual ids, and several requests at the same time. The check of the
/// traffic compares the ids of the responses.
async fn ids_of_responses(context: &Context) -> ProbeResult {
    context.pass(Rule::ResponseIdType);
    context.pass(Rule::UnknownResponse);
    let connection = context.main();
    let (method, params) = match context.revision.is_modern() {
        true => ("server/discover", Some(with_metadata(json!({}), context.revision))),
        false => ("ping", None),
    };
    let long = "sparring-ü→😀".repeat(20);
    let texts = ["sparring", "8001", "", &long].map(|it| json!(it));
    let numbers = [0, -8002, 3_000_000_000, MAX_SAFE_INTEGER].map(|it| json!(it));
    for id in texts.into_iter().chain(numbers) {
        let text = request(id, method, params.clone()).to_string();
        // One id without a response is enough, since each takes time.
        if !connection.request_bytes(text).await.is_answered() {
            break;
        }
    }
    let facts = context.facts();
    let lists = LISTS.iter().filter(|(capability, _)| facts.declares(capability));
    let methods = [method].into_iter().chain(lists.map(|(_, method)| *method)).chain([method]);
    join_all(methods.map(|method| connection.request(method, None))).await;
    Ok(())
}

/// Methods of completions and tasks have rules of their own.
async fn undeclared_methods(context: &Context) -> ProbeResult {
    let facts = context.facts();
    let mut methods: Vec<(&str, Value)> = LISTS
        .into_iter()
        .filter(|(capability, _)| !facts.declares(capability))
        .map(|(_, method)| (method, json!({})))
        .collect();
    if !context.revision.is_modern() && !facts.declares("logging") {
        methods.push(("logging/setLevel", json!({"level": "info"})));
    }
    if methods.is_empty() {
        let reason = "the server declares all capabilities that have methods";
        context.not_applicable(Rule::UndeclaredMethod, reason);
        return Ok(());
    }
    for (method, params) in methods {
        let reply = context.request(method, Some(params)).await;
        match reply.error_code() {
            Some(code) if code != code::METHOD_NOT_FOUND => {
                let expected = "expected the error -32601 for a method of an undeclared capability";
                context.fail(Rule::UndeclaredMethod, reply.finding(expected).about(method));
            }
            _ if reply.is_answered() => context.pass(Rule::UndeclaredMethod),
            _ => context.undecided(Rule::UndeclaredMethod, reply.describe()),
        }
    }
    Ok(())
}

/// Sends requests with fields that no revision has.
async fn unknown_fields(context: &Context) -> ProbeResult {
    let rule = Rule::UnknownField;
    let connected = context
        .connect_with(|client| client.capability("sparringUnknown", json!({"nested": [1, 2]})));
    let connection = match connected.await {
        Ok(connection) => connection,
        Err(stopped) => {
            // A server that accepts no other connection at all shows nothing.
            context.connect().await?.close().await;
            let expected = "expected a connection of a client that declares an unknown capability";
            context.fail(rule, Finding::new(format!("{expected}; {stopped}")));
            return Ok(());
        }
    };
    let facts = context.facts();
    let list = LISTS.into_iter().find(|(capability, _)| facts.declares(capability));
    let alive = if context.revision.is_modern() { "server/discover" } else { "ping" };
    let methods = [alive].into_iter().chain(list.map(|(_, method)| method));
    for method in methods {
        if !connection.request(method, None).await.is_success() {
            // Another rule reports that.
            continue;
        }
        let fields = [
            ("an unknown field in its params", json!({"sparringUnknown": {"nested": [1, 2]}})),
            ("an unknown key in its `_meta`", json!({"_meta": {"com.example/sparring": true}})),
        ];
        for (description, params) in fields {
            let reply = connection.request(method, Some(params)).await;
            match reply.is_success() {
                true => context.pass(rule),
                false if reply.is_answered() => {
                    let expected = format!("expected a result for a request with {description}");
                    context.fail(rule, reply.finding(expected).about(method));
                }
                false => context.undecided(rule, reply.describe()),
            }
        }
    }
    connection.close().await;
    Ok(())
}

/// Sends requests without required params. Those of tools, resources, prompts and completions
/// have rules of their own.
async fn invalid_params(context: &Context) -> ProbeResult {
    if context.revision.is_modern() {
        return invalid_modern_params(context).await;
    }
    let facts = context.facts();
    let mut requests = Vec::new();
    if facts.declares("logging") {
        requests.push(("logging/setLevel", json!({}), "`level`"));
    }
    if facts.declares_member("resources", "subscribe") {
        requests.push(("resources/subscribe", json!({}), "`uri`"));
        requests.push(("resources/subscribe", json!({"uri": 7}), "a string as its `uri`"));
    }
    for (method, params, missing) in requests {
        let reply = context.request(method, Some(params)).await;
        judge_invalid_params(context, &reply, method, missing);
    }
    let info = json!({"name": "sparring", "version": env!("CARGO_PKG_VERSION")});
    let params = [
        (json!({"capabilities": {}, "clientInfo": info}), "`protocolVersion`"),
        (
            json!({"protocolVersion": {}, "capabilities": {}, "clientInfo": info}),
            "a string as its `protocolVersion`",
        ),
    ];
    let mut connection = None;
    for (params, missing) in params {
        let current = match connection.take() {
            Some(connection) => connection,
            None => context.connect_raw().await?,
        };
        let reply = current.request_leniently("initialize", Some(params)).await;
        judge_invalid_params(context, &reply, "initialize", missing);
        // After a refusal, the server still waits for the handshake.
        match reply.error_code() {
            Some(_) => connection = Some(current),
            None => drop(current.close().await),
        }
    }
    if let Some(connection) = connection {
        connection.close().await;
    }
    Ok(())
}

async fn invalid_modern_params(context: &Context) -> ProbeResult {
    let connection = context.take_unjudged().await?;
    let params = json!({"_meta": {"io.modelcontextprotocol/clientCapabilities": "text"}});
    let reply = connection.request("server/discover", Some(params)).await;
    let missing = "an object as the `clientCapabilities` in its `_meta`";
    judge_invalid_params(context, &reply, "server/discover", missing);
    let params = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": 42}});
    let reply = connection.request("server/discover", Some(params)).await;
    // The error can also be that about an unknown version, or about a header.
    require_refusal(
        context,
        Rule::InvalidParams,
        &reply,
        "a request without a string as the `protocolVersion` in its `_meta`",
    );
    let start = connection.recording().len();
    let method = "subscriptions/listen";
    let acknowledged =
        |entry: &Entry| entry.frame.method() == Some("notifications/subscriptions/acknowledged");
    let was_refused = tokio::select! {
        reply = connection.request(method, Some(json!({}))) => {
            if reply.error_code() != Some(code::METHOD_NOT_FOUND) {
                judge_invalid_params(context, &reply, method, "`notifications`");
            }
            reply.is_answered()
        }
        Some(_) = connection.wait_for_frame(start, acknowledged) => {
            let message = "expected an error for a request without `notifications`; \
                           the server acknowledged the subscription";
            let frames = connection.recording().entries_from(start);
            let finding = Finding::new(message).about(method).with_frames(&frames);
            context.fail(Rule::InvalidParams, finding);
            false
        }
    };
    if was_refused {
        context.give_back_unjudged(connection);
        return Ok(());
    }
    connection.close().await;
    Ok(())
}

fn judge_invalid_params(context: &Context, reply: &Reply, method: &str, missing: &str) {
    // Over HTTP, an invalid `initialize` is a request without a session.
    let has_other_code = context.http().is_some() && method == "initialize";
    match (reply.error_code(), reply.outcome()) {
        (Some(code), _) if code == code::INVALID_PARAMS || has_other_code => {
            context.pass(Rule::InvalidParams);
            context.pass(Rule::InvalidParamsCode);
        }
        (Some(_), _) => {
            let expected = format!("expected the error -32602 for a request without {missing}");
            context.pass(Rule::InvalidParams);
            context.fail(Rule::InvalidParamsCode, reply.finding(expected).about(method));
        }
        // The server refuses without a response.
        (None, Err(Error::Closed { .. })) => context.pass(Rule::InvalidParams),
        (None, Err(error)) => context.undecided(Rule::InvalidParams, error.to_string()),
        (None, Ok(_)) => {
            let expected = format!("expected an error for a request without {missing}");
            context.fail(Rule::InvalidParams, reply.finding(expected).about(method));
            context.pass(Rule::InvalidParamsCode);
        }
    }
}
