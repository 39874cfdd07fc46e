//! Questions of a server to its client: a user who refuses, and a client that declares less.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use sparring_peer::client::ServerRequest;
use sparring_wire::{ErrorObject, Rule, code};

use super::observed::{Observed, call_params, callable, observe_calls};
use super::{Probe, probe};
use crate::connection::Reply;
use crate::context::{Context, ProbeResult};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[
    probe!([UnhandledRefusal, FinishedCancellation], refused_elicitations),
    Probe { rules: TRAFFIC, run: |context| Box::pin(undeclared_questions(context)) },
];

/// The rules of ordinary traffic about questions.
const TRAFFIC: &[Rule] = &[
    Rule::ComplexElicitation,
    Rule::SensitiveElicitation,
    Rule::SensitiveUrl,
    Rule::InsecureUrl,
    Rule::ClickableUrl,
    Rule::NoRequiredElicitation,
    Rule::UnknownElicitation,
    Rule::UnbalancedTools,
    Rule::UndeclaredContext,
    Rule::DuplicateInput,
    Rule::EmptyInput,
    Rule::Undeclared,
    Rule::NotNegotiated,
];

/// The number of tools whose questions are refused.
const MAX_TOOLS: usize = 5;

/// Texts of errors that no author wrote for a user who refuses.
const UNHANDLED: [&str; 12] = [
    "TypeError",
    "KeyError",
    "AttributeError",
    "NoneType",
    "Cannot read prop",
    "is undefined",
    "of undefined",
    "Traceback",
    "panicked at",
    "nil pointer",
    "NullPointer",
    "called `Option::unwrap()`",
];

/// The ways in which a client does not answer an elicitation.
const REFUSALS: [(&str, &str); 3] = [
    ("decline", "the user declined an elicitation"),
    ("cancel", "the user canceled an elicitation"),
    ("error", "the client could not ask the user"),
];

fn refuse(kind: &str) -> Result<Value, ErrorObject> {
    match kind {
        "error" => Err(ErrorObject::internal("the client cannot show the form")),
        action => Ok(json!({"action": action})),
    }
}

/// Calls the tools that ask the user, and refuses.
async fn refused_elicitations(context: &Context) -> ProbeResult {
    let rule = Rule::UnhandledRefusal;
    let observed = observe_calls(context).await;
    let calls = calls_that(context, &observed, |it| it.asks("elicitation/create"));
    if calls.is_empty() {
        context.not_applicable(rule, "no tool that may be called asks the user");
        context.pass(Rule::FinishedCancellation);
        return Ok(());
    }
    let kind = Arc::new(Mutex::new(""));
    let answered = Arc::clone(&kind);
    let connect = || {
        let answered = Arc::clone(&answered);
        context.connect_with(|client| {
            client.answer(ServerRequest::Elicitation, move |_| {
                let kind = *answered.lock().unwrap_or_else(PoisonError::into_inner);
                std::future::ready(refuse(kind))
            })
        })
    };
    let mut connection = connect().await?;
    for (refusal, what) in REFUSALS {
        *kind.lock().unwrap_or_else(PoisonError::into_inner) = refusal;
        for params in &calls {
            let reply = connection.request("tools/call", Some(params.clone())).await;
            if let Some(problem) = unhandled(&reply, refusal == "error") {
                let finding = Finding::new(format!("after {what}, {problem}"));
                let tool = params["name"].as_str().unwrap_or_default();
                context.fail(rule, finding.about(tool).with_frames(reply.frames()));
            }
            if !connection.client().is_connected() {
                connection = connect().await?;
            }
        }
    }
    connection.close().await;
    context.pass(rule);
    context.pass(Rule::FinishedCancellation);
    Ok(())
}

/// Returns what is wrong with the response to a call whose question was refused. A server can
/// pass on the error of a client that failed to ask.
fn unhandled(reply: &Reply, asking_failed: bool) -> Option<String> {
    use sparring_peer::client::Error;
    match reply.outcome() {
        // A client that fails gives no input, and the server cannot answer more. A server may
        // also ask again.
        Err(Error::InputNotProvided { .. } | Error::TooManyRounds { .. }) => return None,
        Err(Error::ErrorResponse { .. }) | Ok(_) => {}
        Err(error) => return Some(format!("the call got no answer: {error}")),
    }
    let text = match (reply.error(), reply.result()) {
        (Some(error), _) if is_unexpected(&error) && !asking_failed => {
            let message = error.message;
            return Some(format!("the call failed unexpectedly: the error is {message:?}"));
        }
        (Some(error), _) => error.message,
        (None, Some(result)) if result["isError"] == true => result["content"].to_string(),
        _ => return None,
    };
    let found = UNHANDLED.iter().find(|it| text.contains(**it))?;
    Some(format!("the call failed unexpectedly: the error mentions {found:?}"))
}

/// Returns true for an internal error whose message no author wrote.
fn is_unexpected(error: &ErrorObject) -> bool {
    let message = error.message.trim().trim_end_matches('.').to_ascii_lowercase();
    error.code == code::INTERNAL_ERROR
        && ["internal error", "internal server error"].contains(&&*message)
}

/// Returns the params of calls whose observation fits, one for each tool.
fn calls_that(
    context: &Context,
    observed: &[Observed],
    fits: impl Fn(&Observed) -> bool,
) -> Vec<Value> {
    let tools = callable(context, observed)
        .filter(|tool| observed.iter().any(|it| it.calls(tool) && fits(it)));
    tools.take(MAX_TOOLS).map(|tool| call_params(context, tool, observed)).collect()
}

/// Calls the tools that ask anything, with clients that declare less. The rules are those of
/// ordinary traffic.
async fn undeclared_questions(context: &Context) -> ProbeResult {
    let observed = observe_calls(context).await;
    let calls = calls_that(context, &observed, Observed::asks_anything);
    let mut declared = Vec::new();
    if !calls.is_empty() {
        declared.push(json!({}));
    }
    if observed.iter().any(Observed::asks_for_extras) {
        declared.push(json!({"elicitation": {}, "sampling": {}}));
    }
    let has_modes = Rule::InsecureUrl.applies_in(context.revision);
    if has_modes && observed.iter().any(Observed::asks_for_form) {
        declared.push(json!({"elicitation": {"url": {}}, "sampling": {}, "roots": {}}));
    }
    for capabilities in declared {
        let connect = context.connect_with(|client| client.capabilities(capabilities.clone()));
        // A server can refuse a client that declares too little.
        let Ok(connection) = connect.await else { continue };
        for params in &calls {
            let reply = connection.request("tools/call", Some(params.clone())).await;
            // Another probe judges a server that does not refuse.
            if reply.timed_out() {
                break;
            }
        }
        connection.close().await;
    }
    let rules = TRAFFIC.iter().filter(|rule| rule.applies_in(context.revision));
    let has_questions = !calls.is_empty();
    for rule in rules {
        match has_questions || rule.id().starts_with("capabilities/") {
            true => context.pass(*rule),
            // An error or a result can also require something.
            false if matches!(rule, Rule::NoRequiredElicitation | Rule::EmptyInput) => {
                context.pass(*rule);
            }
            false => context.not_applicable(*rule, "no tool that may be called asks the client"),
        }
    }
    Ok(())
}
