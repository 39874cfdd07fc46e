//! Does what a step says, and gathers what comes of it.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use serde_json::Value;
use sparring_peer::client::{Inbox, Question, Subscription};
use sparring_script::template::Missing;
use sparring_script::{Scope, Tree};
use sparring_wire::FrameKind;

use super::ask::Asked;
use super::heard::{breach, raw, since, value, violation};
use super::running::Running;
use super::settle::{PATIENCE, settle};
use super::stand_ins::Listening;
use super::tools::Tools;
use super::{Answer, Heard};
use crate::model::{Answers, Collection, Step, Turns, Verb};

/// The rule that a question without an answer breaks.
const UNANSWERED: &str = "unanswered";

/// Does a step and waits for what is expected of it; what it subscribes to is
/// held for whoever goes through steps.
///
/// # Errors
/// When a hole cannot be filled.
pub(super) async fn perform(
    running: &Running,
    step: &Step,
    scope: &dyn Scope,
    stderr_before: u64,
    held: &mut Vec<Subscription>,
    mut listening: Listening<'_>,
) -> Result<Heard, Missing> {
    let client = &running.client;
    let asked = Asked::fill(step, scope, client.revision())?;
    running.desk.set(answers(&step.answers, scope)?);
    let tool = asked.tool(&step.verb);
    let label = asked.label(&step.verb);
    if let Some(tool) = &tool {
        know(running, tool).await;
    }
    // What is waited for may have come since the step before began.
    if !matches!(step.verb, Verb::Wait(_) | Verb::Restart) {
        running.begin();
    }
    running.used.store(true, Relaxed);
    let questioned = running.questioned.load(Relaxed);
    let begun = Instant::now();
    let wants_news = step.expect.counts(Collection::Notifications);
    let answer = asked.ask(client, wants_news, held).await;
    running.shaken.store(answer.is_unusable(), Relaxed);
    running.met_end.fetch_or(answer.is_unusable(), Relaxed);
    let took = begun.elapsed();
    let (violations, unchecked) = check_tool(running, tool.as_deref(), &answer).await;
    let mut heard = Heard {
        asked: label,
        took,
        violations,
        unchecked,
        answer,
        notifications: Vec::new(),
        requests: Vec::new(),
        frames: Vec::new(),
        response: None,
        over_http: running.over_http,
        stderr: String::new(),
        journals: HashMap::new(),
    };
    let mut listen = |heard: &mut Heard| {
        heard.violations.extend(running.watch.violations().iter().map(violation));
        for frame in running.watch.frames(heard.frames.len()) {
            heard.frames.push(raw(&frame));
            if frame.kind() == FrameKind::Notification {
                heard.notifications.push(value(&frame));
            }
        }
        heard.response = running.watch.response();
        renew(&mut heard.requests, client.requests(), questioned);
        heard.violations.retain(|it| it["rule"] != UNANSWERED);
        heard.violations.extend(unanswered(&step.answers, &heard.requests));
        heard.stderr = running.wrote_since(stderr_before);
        listening.renew(&mut heard.journals);
        heard.violations.extend(listening.misses());
    };
    listen(&mut heard);
    let patience = match step.verb {
        Verb::Wait(patience) => patience,
        _ => PATIENCE,
    };
    settle(&step.expect, patience, scope, &mut heard, listen).await;
    Ok(heard)
}

/// Looks into an inbox again, if something has come.
fn renew(known: &mut Vec<Value>, inbox: &Inbox, before: u64) {
    if inbox.total() - before > known.len() as u64 {
        *known = since(inbox, before);
    }
}

fn answers(answers: &Answers, scope: &dyn Scope) -> Result<Vec<(Question, Value, Turns)>, Missing> {
    let filled = answers.0.iter().map(|(question, tree, turns)| {
        tree.render(scope).map(|answers| (*question, answers, *turns))
    });
    filled.collect()
}

/// Asks for the tools, unless this one is known already.
async fn know(running: &Running, tool: &str) {
    if !running.tools().is_some_and(|tools| tools.has(tool)) {
        let tools = Arc::new(Tools::ask(&running.client).await);
        *running.tools.lock().unwrap_or_else(PoisonError::into_inner) = Some(tools);
    }
}

/// The violations of a call that no single frame shows, and why its result could not be
/// checked.
async fn check_tool(
    running: &Running,
    tool: Option<&str>,
    answer: &Answer,
) -> (Vec<Value>, Option<String>) {
    let (Some(tool), Some(tools)) = (tool, running.tools()) else { return (Vec::new(), None) };
    let unlisted = tools.unlisted(tool).map(|message| breach("unlisted-tool", &message));
    let mut violations: Vec<Value> = unlisted.into_iter().collect();
    let Some(result) = answer.result().filter(|_| !answer.is_error()) else {
        return (violations, None);
    };
    let found = tools.conformance(tool, result.get("structuredContent")).await;
    violations.extend(found.violations.iter().map(|message| breach("output-schema", message)));
    (violations, found.unchecked)
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
    /// A step begins; what came before is not of it.
    pub(super) fn begin(&self) {
        self.questioned.store(self.client.requests().total(), Relaxed);
        self.watch.begin();
    }

    /// What is known of the tools.
    fn tools(&self) -> Option<Arc<Tools>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

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
