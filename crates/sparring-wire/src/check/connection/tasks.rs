//! Checks the tasks of a server: their ids, their statuses, and the tools that require
//! them (2025-11-25, basic/utilities/tasks).

use std::collections::{HashMap, HashSet};

use super::request_tracker::PendingRequest;
use super::{ConnectionChecker, can_keep, can_keep_id, capabilities, violation};
use crate::frame::Frame;
use crate::id::Id;
use crate::json::Json;
use crate::revision::{Revision, Side};
use crate::rule::Rule;
use crate::violation::Violation;

/// The maximum number of tasks, and of tools that require tasks, that are remembered.
const MAX_TASKS: usize = 1024;

const RELATED_TASK_KEY: &str = "io.modelcontextprotocol/related-task";

/// The tasks of one connection.
#[derive(Debug, Default)]
pub(super) struct TaskTracker {
    /// The known tasks, with their final status.
    tasks: HashMap<String, Option<FinalStatus>>,
    /// The progress tokens of the calls that created tasks, with the task.
    tokens: HashMap<Id, String>,
    /// The tools that can only run as tasks.
    required_by: HashSet<String>,
}

#[derive(Debug)]
struct FinalStatus {
    name: String,
    /// The number of the next request when the status became known. Responses to earlier
    /// requests can be older than the status.
    known_before: u64,
}

impl TaskTracker {
    /// Returns true if a call without a task needs one.
    pub(super) fn requires_task(&self, params: Option<Json<'_>>) -> bool {
        if self.required_by.is_empty() {
            return false;
        }
        let params = params.filter(|it| it.get("task").is_none());
        let name = params.and_then(|it| it.get("name")).and_then(Json::as_str);
        name.is_some_and(|name| self.required_by.contains(&*name))
    }
}

impl ConnectionChecker {
    /// Checks the answer of a server to a request that can create a task, is about one, or
    /// lists tools.
    pub(super) fn check_task_answer(
        &mut self,
        revision: Revision,
        frame: &Frame,
        request: &PendingRequest,
        out: &mut Vec<Violation>,
    ) {
        let (Some(definition), Some(result)) = (request.definition, frame.result()) else {
            return;
        };
        match definition.name {
            "tools/list" => self.learn_required_tasks(result),
            "tools/call" if request.task && result.get("task").is_some() => {
                self.check_new_task(revision, result, request, out);
            }
            "tools/call" if request.lacks_task => out.push(violation(
                revision,
                Rule::TaskRequired,
                "$.result",
                "the tool requires a task, so a call without one must get the error -32601",
                Rule::TaskRequired.entry().section,
            )),
            "tasks/get" | "tasks/cancel" => {
                check_superfluous_relation(revision, result, "$.result", out);
                if definition.name == "tasks/get" {
                    check_status_message(revision, result, out);
                }
                self.check_status(revision, result, "$.result.status", request, out);
                let status = result.get("status").and_then(Json::as_str);
                let wrong =
                    status.filter(|it| definition.name == "tasks/cancel" && it != "cancelled");
                if let Some(status) = wrong {
                    let message = format!("a cancelled task must be cancelled, not {status:?}");
                    out.push(wrong_status(revision, "$.result.status", message));
                }
            }
            "tasks/list" => {
                check_superfluous_relation(revision, result, "$.result", out);
                let tasks = result.get("tasks").unwrap_or(Json::EMPTY_OBJECT);
                for (index, task) in tasks.items().enumerate() {
                    let path = format!("$.result.tasks[{index}].status");
                    self.check_status(revision, task, &path, request, out);
                }
            }
            "tasks/result" => check_related_task(revision, result, request, out),
            _ => {}
        }
    }

    fn learn_required_tasks(&mut self, result: Json<'_>) {
        let declared = self.session.as_ref().and_then(|it| it.server_capabilities.as_ref());
        let has_tasks = declared
            .is_some_and(|it| capabilities::declares(it.view(), "tasks.requests.tools.call"));
        if !has_tasks {
            return;
        }
        for tool in result.get("tools").unwrap_or(Json::EMPTY_OBJECT).items() {
            let Some(name) = tool.get("name").and_then(Json::as_str) else { continue };
            let support = tool.get_path(&["execution", "taskSupport"]).and_then(Json::as_str);
            if support.as_deref() != Some("required") {
                self.tasks.required_by.remove(&*name);
            } else if self.tasks.required_by.len() < MAX_TASKS && can_keep(&name) {
                self.tasks.required_by.insert(name.into_owned());
            }
        }
    }

    fn check_new_task(
        &mut self,
        revision: Revision,
        result: Json<'_>,
        request: &PendingRequest,
        out: &mut Vec<Violation>,
    ) {
        let declared = self.session.as_ref().and_then(|it| it.server_capabilities.as_ref());
        let capability = "tasks.requests.tools.call";
        if declared.is_some_and(|it| !capabilities::declares(it.view(), capability)) {
            let message =
                format!("the server did not declare {capability} and must not create a task");
            let section = "basic/utilities/tasks#task-support-and-handling";
            out.push(violation(revision, Rule::Undeclared, "$.result.task", message, section));
        }
        let field = |name| result.get_path(&["task", name]).and_then(Json::as_str);
        if let Some(status) = field("status").filter(|it| it != "working") {
            let message = format!("a new task must be working, not {status:?}");
            out.push(wrong_status(revision, "$.result.task.status", message));
        }
        let Some(id) = field("taskId") else { return };
        if self.tasks.tasks.contains_key(&*id) {
            let message = format!("an earlier task has the id {id:?}");
            let (rule, path) = (Rule::DuplicateTask, "$.result.task.taskId");
            out.push(violation(revision, rule, path, message, rule.entry().section));
        } else if self.tasks.tasks.len() < MAX_TASKS && can_keep(&id) {
            if let Some(token) = request.token.as_ref().filter(|token| can_keep_id(token)) {
                self.tasks.tokens.insert(token.clone(), id.clone().into_owned());
            }
            self.tasks.tasks.insert(id.into_owned(), None);
        }
    }

    /// Checks the progress of a task: it names its task, and stops when the task is final.
    pub(super) fn check_task_progress(
        &self,
        revision: Revision,
        token: &Id,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let Some(task) = self.tasks.tokens.get(token) else { return };
        let related =
            frame.params().and_then(|it| it.get_path(&["_meta", RELATED_TASK_KEY, "taskId"]));
        if related.and_then(Json::as_str).as_deref() != Some(task) {
            let rule = Rule::MissingRelatedTask;
            let path = "$.params._meta";
            let message =
                format!("the progress of task {task:?} does not name it in {RELATED_TASK_KEY}");
            out.push(violation(revision, rule, path, message, rule.entry().section));
        }
        let status = self.tasks.tasks.get(task).and_then(Option::as_ref);
        // The progress can be older than the status, until a later request has a response.
        if let Some(status) = status.filter(|it| self.client_requests.has_received(it.known_before))
        {
            let message = format!("progress must stop: task {task:?} is {}", status.name);
            let section = "basic/utilities/progress#behavior-requirements";
            let path = "$.params.progressToken";
            out.push(violation(revision, Rule::InvalidProgress, path, message, section));
        }
    }

    /// Checks a notification about the status of a task, and remembers a final one.
    pub(super) fn check_task_status(
        &mut self,
        revision: Revision,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        if let Some(params) = frame.params() {
            check_superfluous_relation(revision, params, "$.params", out);
            let field = |name| params.get(name).and_then(Json::as_str);
            let (Some(id), Some(status)) = (field("taskId"), field("status")) else { return };
            let known_before = self.client_requests.next_number;
            if let Some(known @ None) = self.tasks.tasks.get_mut(&*id)
                && is_final(&status)
            {
                *known = Some(FinalStatus { name: status.into_owned(), known_before });
            }
        }
    }

    /// Checks that a task with a final status keeps it.
    fn check_status(
        &mut self,
        revision: Revision,
        task: Json<'_>,
        path: &str,
        request: &PendingRequest,
        out: &mut Vec<Violation>,
    ) {
        let field = |name| task.get(name).and_then(Json::as_str);
        let (Some(id), Some(status)) = (field("taskId"), field("status")) else { return };
        let known_before = self.requests_from(Side::Client).next_number;
        let is_cancel = request.definition.is_some_and(|it| it.name == "tasks/cancel");
        let Some(known) = self.tasks.tasks.get_mut(&*id) else { return };
        match known {
            Some(before) if is_cancel && request.number >= before.known_before => {
                let message = format!(
                    "the task was {} before, and the server must refuse to cancel it",
                    before.name
                );
                let section = "basic/utilities/tasks#task-cancellation";
                out.push(violation(revision, Rule::WrongTaskStatus, path, message, section));
            }
            Some(before) if request.number >= before.known_before && before.name != status => {
                let message = format!("the task was {} and must not become {status}", before.name);
                out.push(wrong_status(revision, path, message));
            }
            None if is_final(&status) => {
                *known = Some(FinalStatus { name: status.into_owned(), known_before });
            }
            _ => {}
        }
    }
}

fn is_final(status: &str) -> bool {
    ["completed", "failed", "cancelled"].contains(&status)
}

fn wrong_status(revision: Revision, path: &str, message: String) -> Violation {
    let rule = Rule::WrongTaskStatus;
    violation(revision, rule, path, message, rule.entry().section)
}

/// Reports related-task metadata where the message itself has the id of the task.
fn check_superfluous_relation(
    revision: Revision,
    owner: Json<'_>,
    path: &str,
    out: &mut Vec<Violation>,
) {
    if owner.get_path(&["_meta", RELATED_TASK_KEY]).is_some() {
        let rule = Rule::SuperfluousRelatedTask;
        let path = format!("{path}._meta[\"{RELATED_TASK_KEY}\"]");
        let message = "the message itself has the id of the task";
        out.push(violation(revision, rule, path, message, rule.entry().section));
    }
}

fn check_status_message(revision: Revision, result: Json<'_>, out: &mut Vec<Violation>) {
    let status = result.get("status").and_then(Json::as_str);
    if status.as_deref() == Some("failed") && result.get("statusMessage").is_none() {
        let rule = Rule::MissingStatusMessage;
        let message = "the task failed, and has no statusMessage";
        out.push(violation(revision, rule, "$.result", message, rule.entry().section));
    }
}

fn check_related_task(
    revision: Revision,
    result: Json<'_>,
    request: &PendingRequest,
    out: &mut Vec<Violation>,
) {
    let named = result.get_path(&["_meta", RELATED_TASK_KEY, "taskId"]).and_then(Json::as_str);
    let message = match (named, request.subject.as_deref()) {
        (None, _) => format!("the result does not name its task in {RELATED_TASK_KEY}"),
        (Some(named), Some(wanted)) if named != wanted => {
            format!("the result is that of task {wanted:?}, but names {named:?}")
        }
        _ => return,
    };
    let (rule, path) =
        (Rule::MissingRelatedTask, format!("$.result._meta[\"{RELATED_TASK_KEY}\"]"));
    out.push(violation(revision, rule, path, message, rule.entry().section));
}
