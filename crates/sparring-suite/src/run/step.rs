//! Does what a step says, and gathers what comes of it.

use std::collections::HashMap;
use std::time::Instant;

use serde_json::{Value, json};
use sparring_peer::Client;
use sparring_peer::client::{Inbox, Listing, Question};
use sparring_script::template::Missing;
use sparring_script::{Scope, Tree};
use sparring_wire::{RawJson, Revision};

use super::heard::{breach, since, value, violation};
use super::seat::Running;
use super::settle::settle;
use super::stand_ins::{Listening, StandIns};
use super::tools::Tools;
use super::{Answer, Heard};
use crate::model::{Answers, Collection, Completion, Step, Turns, Verb};

/// The rule that a question without an answer breaks.
const UNANSWERED: &str = "unanswered";

/// What a step asks for, with its holes filled.
enum Asked {
    /// Nothing of a server: an agent is run elsewhere.
    Nothing,
    List(Listing),
    Request {
        method: String,
        params: Option<Value>,
    },
    Notification {
        method: String,
        params: Option<Value>,
    },
}

/// Does a step and waits for what is expected of it.
///
/// # Errors
/// When a hole cannot be filled.
pub(super) async fn perform(
    running: &mut Running,
    step: &Step,
    scope: &dyn Scope,
    stderr_before: u64,
    (server, stand_ins): (&str, &StandIns),
) -> Result<Heard, Missing> {
    let asked = asked(&step.verb, scope, running.client.revision())?;
    running.desk.set(answers(&step.answers, scope)?);
    let tool = tool(&step.verb, &asked);
    if let Some(tool) = &tool {
        know(running, tool).await;
    }
    let running = &*running;
    let client = &running.client;
    let questioned = client.requests().total();
    running.watch.begin();
    let tested = running.journal.as_ref().map(|journal| (server, journal));
    let mut listening = Listening::begin(&step.expect, stand_ins, tested);
    let begun = Instant::now();
    let wants_progress = step.expect.counts(Collection::Notifications);
    let answer = ask(client, asked, wants_progress).await;
    let mut heard = Heard {
        took: begun.elapsed(),
        violations: own_breaches(running, tool.as_deref(), &answer),
        answer,
        notifications: Vec::new(),
        requests: Vec::new(),
        stderr: String::new(),
        journals: HashMap::new(),
    };
    let mut listen = |heard: &mut Heard| {
        heard.violations.extend(running.watch.violations().iter().map(violation));
        let new = running.watch.notifications(heard.notifications.len());
        heard.notifications.extend(new.iter().map(value));
        renew(&mut heard.requests, client.requests(), questioned);
        heard.violations.retain(|it| it["rule"] != UNANSWERED);
        heard.violations.extend(unanswered(&step.answers, &heard.requests));
        heard.stderr = running.wrote_since(stderr_before);
        listening.renew(&mut heard.journals);
    };
    listen(&mut heard);
    settle(&step.expect, scope, &mut heard, listen).await;
    Ok(heard)
}

/// Looks into an inbox again, if something has come.
fn renew(known: &mut Vec<Value>, inbox: &Inbox, before: u64) {
    if inbox.total() - before > known.len() as u64 {
        *known = since(inbox, before);
    }
}

/// Asks, and where notifications are expected, asks for progress too: it is
/// seen by the watch, like all others.
async fn ask(client: &Client, asked: Asked, wants_progress: bool) -> Answer {
    match asked {
        Asked::Nothing => Answer::Nothing,
        Asked::List(listing) => Answer::of_list(client.list(listing).await),
        Asked::Request { method, params } => {
            let request = client.request(method, params.map(RawJson::from));
            let request = if wants_progress { request.on_progress(|_| {}) } else { request };
            Answer::of(request.await)
        }
        Asked::Notification { method, params } => {
            client.notify(&method, params.map(RawJson::from).as_ref());
            Answer::Nothing
        }
    }
}

fn asked(verb: &Verb, scope: &dyn Scope, revision: Option<Revision>) -> Result<Asked, Missing> {
    let fill = |tree: &Tree| tree.render(scope);
    let text = |tree: &Tree| {
        fill(tree).map(|value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        })
    };
    let request = |method: &str, params| Asked::Request { method: method.to_owned(), params };
    Ok(match verb {
        Verb::Agent { .. } => Asked::Nothing,
        Verb::List(listing) => Asked::List(*listing),
        Verb::Call { tool, arguments } => {
            let params = json!({"name": fill(tool)?, "arguments": fill(arguments)?});
            request("tools/call", Some(params))
        }
        Verb::Read { uri } => request("resources/read", Some(json!({"uri": fill(uri)?}))),
        Verb::Prompt { name, arguments } => {
            let params = json!({"name": fill(name)?, "arguments": fill(arguments)?});
            request("prompts/get", Some(params))
        }
        Verb::Complete(Completion { reference, argument, value, context }) => {
            let argument = json!({"name": fill(argument)?, "value": fill(value)?});
            let mut params = json!({"ref": fill(reference)?, "argument": argument});
            if let Some(context) = context {
                params["context"] = json!({"arguments": fill(context)?});
            }
            request("completion/complete", Some(params))
        }
        // Where the revision has no ping, asking what the server is does as well.
        Verb::Ping if revision.is_some_and(Revision::is_modern) => request("server/discover", None),
        Verb::Ping => request("ping", None),
        Verb::Request { method, params } => {
            Asked::Request { method: text(method)?, params: params.as_ref().map(fill).transpose()? }
        }
        Verb::Notify { method, params } => Asked::Notification {
            method: text(method)?,
            params: params.as_ref().map(fill).transpose()?,
        },
    })
}

fn answers(answers: &Answers, scope: &dyn Scope) -> Result<Vec<(Question, Value, Turns)>, Missing> {
    let filled = answers.0.iter().map(|(question, tree, turns)| {
        tree.render(scope).map(|answers| (*question, answers, *turns))
    });
    filled.collect()
}

/// The tool that is called.
fn tool(verb: &Verb, asked: &Asked) -> Option<String> {
    match (verb, asked) {
        (Verb::Call { .. }, Asked::Request { params: Some(params), .. }) => {
            params["name"].as_str().map(str::to_owned)
        }
        _ => None,
    }
}

/// Asks for the tools, unless this one is known already.
async fn know(running: &mut Running, tool: &str) {
    if !running.tools.as_ref().is_some_and(|tools| tools.has(tool)) {
        running.tools = Some(Tools::ask(&running.client).await);
    }
}

/// What a call breaks that no single frame shows.
fn own_breaches(running: &Running, tool: Option<&str>, answer: &Answer) -> Vec<Value> {
    let (Some(tool), Some(tools)) = (tool, &running.tools) else { return Vec::new() };
    let unlisted = tools.unlisted(tool).map(|message| breach("unlisted-tool", &message));
    let mut breaches: Vec<Value> = unlisted.into_iter().collect();
    if let Some(result) = answer.result().filter(|_| !answer.is_error()) {
        let found = tools.breaches(tool, result.get("structuredContent"));
        breaches.extend(found.iter().map(|message| breach("output-schema", message)));
    }
    breaches
}

/// What the server asked and no answer of the step covers.
fn unanswered(answers: &Answers, requests: &[Value]) -> Vec<Value> {
    let mut asked: Vec<&str> = Vec::new();
    let mut breaches = Vec::new();
    for request in requests {
        let method = request["method"].as_str().unwrap_or_default();
        let nth = asked.iter().filter(|before| **before == method).count();
        asked.push(method);
        let covered = answers.0.iter().any(|(question, tree, turns)| {
            question.method() == method && (*turns == Turns::Always || nth < length(tree))
        });
        if !covered {
            let message = format!("the server asked {method}, which no `answer` covers");
            breaches.push(breach(UNANSWERED, &message));
        }
    }
    breaches
}

/// How many answers there are.
fn length(tree: &Tree) -> usize {
    match tree {
        Tree::List(items) => items.len(),
        Tree::Plain(Value::Array(items)) => items.len(),
        _ => 0,
    }
}

impl Running {
    /// How many bytes the server has written to its stderr.
    pub(super) fn wrote(&self) -> u64 {
        self.stderr.as_ref().map(sparring_transport::Stderr::total).unwrap_or_default()
    }

    /// What the server has written to its stderr since it had written so much.
    pub(super) fn wrote_since(&self, before: u64) -> String {
        let Some(stderr) = &self.stderr else { return String::new() };
        let new = usize::try_from(stderr.total().saturating_sub(before)).unwrap_or(usize::MAX);
        let text = stderr.text();
        let mut start = text.len().saturating_sub(new);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        text[start..].to_owned()
    }
}
