//! Runs one step on a server: sends its request, and collects the answer, the messages of
//! the server and the violations.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use sparring_peer::client::{Inbox, ServerRequest, Subscription};
use sparring_script::template::RenderError;
use sparring_script::{Scope, TemplateTree};
use sparring_wire::{FrameKind, Revision, Rule, Side};

use super::action::Action;
use super::connection::ServerConnection;
use super::listed_tools::ListedTools;
use super::mocks::JournalReader;
use super::wait_for::{self, WAIT_TIMEOUT};
use crate::model::{AnswerOrder, Answers, Collection, Step, Verb};
use crate::step_result::{
    Answer, StepResult, UnknownArgument, frame_value, message_value, suite_violation,
    violation_value,
};

/// The rule that a request of the server breaks if no `answer` of the step covers it.
const UNANSWERED: Rule = Rule::Unanswered;

/// The connection, the scope and the baselines of a step.
pub(super) struct StepInput<'a> {
    pub(super) connection: &'a ServerConnection,
    pub(super) scope: &'a dyn Scope,
    /// The number of bytes that the server had written to its stderr before.
    pub(super) stderr_before: u64,
    /// The number of requests that the server had sent before the step. The step updates it.
    pub(super) requests_before: &'a mut u64,
    /// Receives the subscriptions that the step makes.
    pub(super) subscriptions: &'a mut Vec<Subscription>,
}

/// Runs a step, and waits until its expectations hold or time out.
///
/// # Errors
/// When a template uses an unknown value.
pub(super) async fn run(
    step: &Step,
    input: StepInput<'_>,
    mut journals: JournalReader<'_>,
) -> Result<StepResult, RenderError> {
    let StepInput { connection, scope, stderr_before, requests_before, subscriptions } = input;
    let client = &connection.client;
    let action = Action::render(step, scope, client.revision())?;
    connection.answers.set(render_answers(&step.answers, scope)?);
    let request = action.label(&step.verb);
    let tool = match action.tool(&step.verb) {
        Some(tool) => Some((connection.tools(&tool).await, tool)),
        None => None,
    };
    let unknown_arguments = match (&step.verb, &tool) {
        (Verb::Call { names, .. }, Some((tools, tool))) => {
            UnknownArgument::find(names, tool, tools.input_schema(tool))
        }
        _ => Vec::new(),
    };
    // A call with a misplaced key is not sent.
    let is_misplaced = unknown_arguments.iter().any(UnknownArgument::is_misplaced);
    let action = if is_misplaced { Action::Nothing } else { action };
    // A `wait` also accepts messages since the start of the previous step.
    if !matches!(step.verb, Verb::Wait(_) | Verb::Restart) {
        *requests_before = connection.begin_step();
    }
    let requests_before = *requests_before;
    connection.traffic.set_users_request(!matches!(step.verb, Verb::Subscribe { .. }));
    let begun = Instant::now();
    let wants_notifications = step.expect.checks_items(Collection::Notifications);
    let mut request_id = None;
    let answer = action.perform(client, wants_notifications, subscriptions, &mut request_id).await;
    let took = begun.elapsed();
    let (violations, unchecked) = check_tool(tool, &answer, client.revision()).await;
    let mut result = StepResult {
        request,
        violations,
        unchecked,
        unknown_arguments,
        over_http: connection.over_http,
        ..StepResult::new(answer, took)
    };
    let mut update = |result: &mut StepResult| {
        let violations = connection.traffic.take_violations(request_id.as_ref());
        result.violations.extend(violations.iter().map(violation_value));
        for frame in connection.traffic.frames(result.frames.len()) {
            result.frames.push(frame_value(&frame));
            if frame.kind() == FrameKind::Notification
                && !connection.traffic.is_own_acknowledgement(&frame)
            {
                result.notifications.push(message_value(&frame));
            }
        }
        result.response = connection.traffic.response();
        let dropped = update_requests(&mut result.requests, client.requests(), requests_before);
        result.dropped_requests = dropped;
        result.dropped_frames = connection.traffic.dropped_frames();
        result.dropped_violations += connection.traffic.take_dropped_violations();
        result.violations.retain(|it| it["rule"] != UNANSWERED.id());
        let revision = client.revision();
        result.violations.extend(unanswered(&step.answers, &result.requests, revision));
        result.stderr = connection.stderr_since(stderr_before);
        journals.update(&mut result.journals);
        result.violations.extend(journals.take_misfits());
    };
    update(&mut result);
    let limit = match step.verb {
        Verb::Wait(limit) => limit,
        _ => WAIT_TIMEOUT,
    };
    wait_for::expected(&step.expect, limit, scope, &mut result, update).await;
    result.unused_answers = connection.answers.describe_unused(client.revision());
    Ok(result)
}

impl ServerConnection {
    /// Begins a step: drops the traffic of the previous step. Returns the number of requests
    /// that the server has sent so far.
    pub(super) fn begin_step(&self) -> u64 {
        self.traffic.begin_step();
        self.client.requests().total()
    }
}

/// Reads the server's requests again if there are new ones. Returns the number of requests
/// that the client did not keep.
fn update_requests(known: &mut Vec<Value>, inbox: &Inbox, before: u64) -> usize {
    let new = usize::try_from(inbox.total().saturating_sub(before)).unwrap_or(usize::MAX);
    if new > known.len() {
        let all = inbox.all();
        *known = all[all.len().saturating_sub(new)..].iter().map(message_value).collect();
    }
    new.saturating_sub(known.len())
}

fn render_answers(
    answers: &Answers,
    scope: &dyn Scope,
) -> Result<Vec<(ServerRequest, Value, AnswerOrder)>, RenderError> {
    let rendered = answers.0.iter().map(|(question, tree, turns)| {
        tree.render(scope).map(|answers| (*question, answers, *turns))
    });
    rendered.collect()
}

/// Finds the violations of a tool call that no single frame shows. If the result could not
/// be checked, also returns the reason.
async fn check_tool(
    tool: Option<(Arc<ListedTools>, String)>,
    answer: &Answer,
    revision: Option<Revision>,
) -> (Vec<Value>, Option<String>) {
    let Some((tools, tool)) = tool else { return (Vec::new(), None) };
    let unlisted = tools.unlisted(&tool);
    let unlisted =
        unlisted.map(|message| suite_violation(Rule::UnlistedTool, "$", &message, revision));
    let mut violations: Vec<Value> = unlisted.into_iter().collect();
    // Earlier revisions have no output schemas.
    let applies = revision.is_some_and(|revision| Rule::OutputSchema.applies_in(revision));
    let Some(result) = answer.result().filter(|_| applies && !answer.is_error()) else {
        return (violations, None);
    };
    let checked = tools.check_output(&tool, result.get("structuredContent")).await;
    let mismatches = checked.violations.iter();
    violations.extend(
        mismatches
            .map(|(path, message)| suite_violation(Rule::OutputSchema, path, message, revision)),
    );
    (violations, checked.unchecked)
}

/// The server's requests that no `answer` of the step covers, as violations.
fn unanswered(answers: &Answers, requests: &[Value], revision: Option<Revision>) -> Vec<Value> {
    let mut methods: Vec<&str> = Vec::new();
    let mut violations = Vec::new();
    for request in requests {
        let method = request["method"].as_str().unwrap_or_default();
        let nth = methods.iter().filter(|before| **before == method).count();
        methods.push(method);
        let covered = answers.0.iter().any(|(question, tree, turns)| {
            question.method() == method
                && (*turns == AnswerOrder::Always || nth < answer_count(tree))
        });
        if !covered {
            // No answer is possible in a revision without the method.
            let unknown = revision.filter(|it| it.request(Side::Server, method).is_none());
            let message = match unknown {
                Some(revision) => {
                    format!("the server sent {method}, which {revision} does not have")
                }
                None => format!("the server sent {method}, which no `answer` covers"),
            };
            violations.push(suite_violation(UNANSWERED, "$", &message, None));
        }
    }
    violations
}

fn answer_count(tree: &TemplateTree) -> usize {
    match tree {
        TemplateTree::List(items) => items.len(),
        TemplateTree::Literal(Value::Array(items)) => items.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_that_the_revision_does_not_have_needs_no_answer_key() {
        let check = |revision, expected: &str| {
            let requests = [json!({"method": "elicitation/create"})];
            let violations = unanswered(&Answers::default(), &requests, Some(revision));
            assert_eq!(violations[0]["message"], expected);
        };
        let start = "the server sent elicitation/create, which";
        check(Revision::V2025_03_26, &format!("{start} 2025-03-26 does not have"));
        check(Revision::V2025_06_18, &format!("{start} no `answer` covers"));
    }
}
