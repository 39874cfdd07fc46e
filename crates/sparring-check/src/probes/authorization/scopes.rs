//! Requests that need more scopes than the given token has.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_transport::http::RawRequest;
use sparring_wire::Rule;
use tokio::time::Instant;

use super::access::{Conversation, Given, is_accepted};
use super::bearer_challenge::BearerChallenge;
use crate::context::{Context, ProbeResult, Stopped};
use crate::http::{Exchange, HttpServer, streamable};
use crate::tool_policy::{good_arguments, reason_against_call};

/// The number of requests that are tried.
const MAX_REQUESTS: usize = 40;

/// The wait for one answer. A refusal comes at once.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// The number of answers that may take longer.
const MAX_SLOW: usize = 2;

/// The wait for the first event of a stream.
const MAX_EVENT_WAIT: Duration = Duration::from_millis(100);

/// Sends one request for each tool, prompt and resource with the given token. One that needs
/// more scopes is refused.
pub(super) async fn insufficient_scope(context: &Context) -> ProbeResult {
    let rule = Rule::ScopeChallenge;
    if !context.is_connected() {
        context.not_applicable(rule, "the server needs a token");
        return Ok(());
    }
    let Some(server) = streamable(context, &[rule]).await else { return Ok(()) };
    if !Given::of(server.target()).is_token() {
        context.not_applicable(rule, "no token was given");
        return Ok(());
    }
    let conversation = Conversation::open(server).await?;
    let mut is_refused = false;
    let mut slow = 0;
    for (subject, method, params) in requests(context).into_iter().take(MAX_REQUESTS) {
        let request = conversation.request_with(server, method, params);
        let Ok(answer) = tokio::time::timeout(MAX_WAIT, first_answer(server, &request)).await
        else {
            slow += 1;
            if slow < MAX_SLOW { continue } else { break }
        };
        let exchange = answer?;
        if !is_about_scopes(&exchange) {
            continue;
        }
        is_refused = true;
        for problem in problems(&exchange) {
            let found = exchange.finding(problem).about(subject.clone());
            context.fail(rule, found);
        }
    }
    match is_refused {
        true => context.pass(rule),
        false => context.not_applicable(rule, "no request needed more scopes than the token has"),
    }
    if let Conversation::Session(session) = conversation {
        server.send(&session.delete()).await?;
    }
    Ok(())
}

/// Sends a request, and returns its response or the beginning of its stream.
async fn first_answer(server: &HttpServer, request: &RawRequest) -> Result<Exchange, Stopped> {
    let mut open = server.start(request).await?;
    if !open.exchange().is_stream() {
        return open.read_body(Instant::now() + MAX_WAIT).await;
    }
    open.read_event(Instant::now() + MAX_EVENT_WAIT).await;
    Ok(open.exchange().clone())
}

/// Returns the requests: the subject, the method and the parameters.
fn requests(context: &Context) -> Vec<(String, &'static str, Value)> {
    let facts = context.facts();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tools = facts.tools.iter().filter(|it| reason_against_call(context, it).is_none());
    let tools = tools.map(|tool| {
        let arguments = good_arguments(context, tool).values.swap_remove(0);
        let params = json!({"name": tool["name"], "arguments": arguments});
        (text(&tool["name"]), "tools/call", params)
    });
    let prompts = facts.prompts.iter().map(|prompt| {
        let arguments = prompt["arguments"].as_array().map(Vec::as_slice).unwrap_or_default();
        let arguments = arguments.iter().map(|it| (text(&it["name"]), json!("a")));
        let arguments: serde_json::Map<String, Value> = arguments.collect();
        let params = json!({"name": prompt["name"], "arguments": arguments});
        (text(&prompt["name"]), "prompts/get", params)
    });
    let resources = facts.resources.iter().map(|resource| {
        (text(&resource["uri"]), "resources/read", json!({"uri": resource["uri"]}))
    });
    tools.chain(prompts).chain(resources).collect()
}

/// Returns true if the server refused a request because of the scopes of a token that it
/// accepts for other requests.
fn is_about_scopes(exchange: &Exchange) -> bool {
    let says = |text: &str| {
        let text = text.to_lowercase().replace(['_', '-'], " ");
        text.contains("insufficient scope")
    };
    let errors = exchange.messages();
    let mut errors = errors.iter().filter_map(|it| it["error"]["message"].as_str());
    let challenged = exchange.header("www-authenticate").is_some_and(says);
    !is_accepted(exchange)
        && (matches!(exchange.status, 401 | 403) || challenged || errors.any(says))
}

/// Returns what was expected of the refusal, but is missing.
fn problems(exchange: &Exchange) -> Vec<String> {
    let mut problems = Vec::new();
    if exchange.status != 403 {
        problems.push("expected the status 403 if a token has too few scopes".to_owned());
    }
    let Some(challenge) = BearerChallenge::of(exchange) else {
        problems.push("expected a challenge with insufficient_scope".to_owned());
        return problems;
    };
    if challenge.parameter("error") != Some("insufficient_scope") {
        problems.push("expected `error=\"insufficient_scope\"` in the challenge".to_owned());
    }
    for name in ["scope", "resource_metadata"] {
        if challenge.parameter(name).is_none() {
            problems.push(format!("expected the parameter `{name}` in the challenge"));
        }
    }
    problems
}
