//! Tasks (2025-11-25): calls as tasks, their status, their results and their end.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::json::parse_value;
use sparring_wire::{Rule, Side, code};
use tokio::time::{Instant, sleep};

use super::observed::{Observed, call_params, callable, observe_calls};
use super::task_ids::weakness;
use super::{Probe, probe};
use crate::connection::Reply;
use crate::context::{Context, ProbeResult};
use crate::verdict::{Finding, ShownFrame};

pub(super) const PROBES: &[Probe] = &[
    probe!([TaskNotIgnored], ignored_task),
    probe!([UnknownTask, InvalidTaskCursor], unknown_tasks),
    Probe { rules: CALLS, run: |context| Box::pin(calls_as_tasks(context)) },
];

/// The rules about calls as tasks.
const CALLS: &[Rule] = &[
    Rule::TaskNotCreated,
    Rule::TaskForbidden,
    Rule::TaskResult,
    Rule::UnlistedTask,
    Rule::GuessableTask,
    Rule::FinalTaskCancelled,
    Rule::WrongTaskStatus,
    Rule::DuplicateTask,
    Rule::MissingRelatedTask,
    Rule::TaskRequired,
    Rule::SuperfluousRelatedTask,
    Rule::MissingStatusMessage,
];

/// The number of tools that are called as tasks.
const MAX_TOOLS: usize = 4;

/// The number of pages of the list of tasks.
const MAX_PAGES: usize = 20;

/// The pause between two looks at a task.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The number of tasks whose ids are compared.
const COMPARED_TASKS: usize = 3;

fn declares(context: &Context, pointer: &str) -> bool {
    let tasks = context.facts().capability("tasks").unwrap_or_default();
    tasks.pointer(pointer).is_some_and(|it| !it.is_null() && it != false)
}

fn declares_calls(context: &Context) -> bool {
    declares(context, "/requests/tools/call")
}

/// A server without tasks ignores `task` in the params of a call.
async fn ignored_task(context: &Context) -> ProbeResult {
    let rule = Rule::TaskNotIgnored;
    if declares_calls(context) {
        context.not_applicable(rule, "the server declares tasks for calls of tools");
        return Ok(());
    }
    let observed = observe_calls(context).await;
    let is_simple = |it: &Observed| it.is_success() && !it.asks_anything();
    let tool = callable(context, &observed)
        .find(|tool| observed.iter().any(|it| it.calls(tool) && is_simple(it)));
    let Some(tool) = tool else {
        context.not_applicable(rule, "no tool that may be called succeeds");
        return Ok(());
    };
    let params = call_params(context, tool, &observed);
    let reply = call_as_task(context, params.clone()).await;
    let is_ignored = reply.result().is_some_and(|it| it.get("task").is_none());
    // A call can also fail for another reason.
    if is_ignored {
        context.pass(rule);
    } else if context.request("tools/call", Some(params)).await.is_success() {
        let expected = "expected that a server without tasks ignores `task` in a call";
        context.fail(rule, reply.finding(expected));
    } else {
        context.not_applicable(rule, "no call succeeds twice");
    }
    Ok(())
}

async fn call_as_task(context: &Context, mut params: Value) -> Reply {
    params["task"] = json!({"ttl": 60_000});
    context.request("tools/call", Some(params)).await
}

async fn unknown_tasks(context: &Context) -> ProbeResult {
    let codes = [code::INVALID_PARAMS];
    if !declares_calls(context) {
        context.not_applicable(Rule::UnknownTask, "the server does not declare tasks for calls");
    } else {
        let mut methods = vec!["tasks/get", "tasks/result"];
        if declares(context, "/cancel") {
            methods.push("tasks/cancel");
        }
        for method in methods {
            for id in ["sparring-unknown", "f3b1c6a0-52d5-4c3e-9d1c-0a5b7e9f1d23"] {
                let reply = context.request(method, Some(json!({"taskId": id}))).await;
                context.require_error(Rule::UnknownTask, &reply, &codes);
            }
        }
    }
    if !declares(context, "/list") {
        context.not_applicable(Rule::InvalidTaskCursor, "the server does not declare `tasks.list`");
    } else {
        let params = json!({"cursor": "sparring-invalid-cursor"});
        let reply = context.request("tasks/list", Some(params)).await;
        context.require_error(Rule::InvalidTaskCursor, &reply, &codes);
    }
    Ok(())
}

/// Calls tools as tasks. Several of the rules are those of ordinary traffic.
async fn calls_as_tasks(context: &Context) -> ProbeResult {
    let rules = CALLS;
    if !declares_calls(context) {
        for rule in rules {
            context.not_applicable(*rule, "the server does not declare tasks for calls of tools");
        }
        return Ok(());
    }
    let observed = observe_calls(context).await;
    forbidden_task(context, &observed).await;
    let supports = |tool: &&Value| {
        let support = tool["execution"]["taskSupport"].as_str();
        support.is_some_and(|it| it == "optional" || it == "required")
    };
    let mut ids = Vec::new();
    let tools: Vec<&Value> =
        callable(context, &observed).filter(supports).take(MAX_TOOLS).collect();
    for tool in &tools {
        let run = TaskRun::new(context, tool, &observed);
        if let Some(id) = run.create().await {
            ids.push(id.clone());
            run.judge_plain_call(&observed);
            run.follow(&id).await;
        }
    }
    let slowest = tools.iter().max_by_key(|tool| {
        let calls = observed.iter().filter(|it| it.calls(tool));
        calls.map(|it| it.duration).max()
    });
    if let Some(tool) = slowest {
        let run = TaskRun::new(context, tool, &observed);
        while !ids.is_empty() && ids.len() < COMPARED_TASKS {
            let Some(id) = run.create().await else { break };
            ids.push(id);
        }
        run.cancel_running().await;
    }
    // The wire checker reports ids that are used twice.
    ids.sort_unstable();
    ids.dedup();
    judge_ids(context, &ids);
    for rule in rules {
        context.not_applicable(*rule, "no tool that may be called ran as a task");
    }
    Ok(())
}

async fn forbidden_task(context: &Context, observed: &[Observed]) {
    let rule = Rule::TaskForbidden;
    let forbids = |tool: &&Value| {
        let support = tool["execution"]["taskSupport"].as_str();
        support.is_none_or(|it| it == "forbidden")
            && observed.iter().any(|it| it.calls(tool) && it.is_success() && !it.asks_anything())
    };
    let Some(tool) = callable(context, observed).find(forbids) else {
        context.not_applicable(rule, "every tool that may be called supports tasks");
        return;
    };
    let reply = call_as_task(context, call_params(context, tool, observed)).await;
    context.require_error(rule, &reply, &[code::METHOD_NOT_FOUND]);
}

fn judge_ids(context: &Context, ids: &[String]) {
    let rule = Rule::GuessableTask;
    let http = context.target().http();
    // A server can bind the task to the user instead.
    if http.is_some_and(|it| it.credentials.is_some() || !it.headers.is_empty()) {
        context.not_applicable(rule, "the requests have credentials");
        return;
    }
    if ids.len() < 2 {
        return;
    }
    match weakness(ids) {
        Some(weakness) => {
            let message = format!("the ids of tasks can be guessed: {weakness}");
            context.fail(rule, Finding::new(format!("{message}: {}", ids.join(", "))));
        }
        None => context.pass(rule),
    }
}

/// One tool that is called as a task.
struct TaskRun<'a> {
    context: &'a Context,
    tool: &'a Value,
    params: Value,
    /// A call without a task that has a result.
    plain: Option<&'a Observed>,
}

/// The status and the result of a task.
struct TaskEnd {
    /// The status after the result, or after the last look.
    status: String,
    /// The response to `tasks/result`; none if it did not come in time.
    response: Option<Value>,
}

impl<'a> TaskRun<'a> {
    fn new(context: &'a Context, tool: &'a Value, observed: &'a [Observed]) -> Self {
        let params = call_params(context, tool, observed);
        let is_plain = |it: &&Observed| {
            it.calls(tool)
                && it.params["arguments"] == params["arguments"]
                && it.params.get("task").is_none()
                && it.response["result"].is_object()
        };
        let plain = observed.iter().find(is_plain);
        TaskRun { context, tool, params, plain }
    }

    fn fail(&self, rule: Rule, finding: Finding) {
        let name = self.tool["name"].as_str().unwrap_or_default();
        self.context.fail(rule, finding.about(name));
    }

    /// Checks the error of a call without the task that the tool requires. The same arguments
    /// are good for a task.
    fn judge_plain_call(&self, observed: &[Observed]) {
        let code = |it: &Observed| it.response["error"]["code"].as_i64();
        let is_wrong = |it: &&Observed| {
            it.calls(self.tool)
                && it.params["arguments"] == self.params["arguments"]
                && it.params.get("task").is_none()
                && code(it).is_some_and(|it| it != code::METHOD_NOT_FOUND)
        };
        let is_required = self.tool["execution"]["taskSupport"] == "required";
        if let Some(call) = observed.iter().find(is_wrong).filter(|_| is_required) {
            let shown = ShownFrame::new(Side::Server, call.response.to_string().as_bytes());
            let message = format!(
                "expected the error -32601 for a call without the task that the tool requires; \
                 the server answered with the error {}",
                code(call).unwrap_or_default()
            );
            self.fail(Rule::TaskRequired, Finding::new(message).with_frames([shown]));
        }
    }

    /// Calls the tool as a task, and returns the id of the task.
    async fn create(&self) -> Option<String> {
        let context = self.context;
        let mut params = self.params.clone();
        let number = context.main().recording().len();
        params["_meta"] = json!({"progressToken": format!("sparring-task-{number}")});
        let reply = call_as_task(context, params).await;
        let result = reply.result().unwrap_or_default();
        if let Some(id) = result["task"]["taskId"].as_str() {
            context.pass(Rule::TaskNotCreated);
            // These rules are about each created task.
            for rule in [Rule::WrongTaskStatus, Rule::DuplicateTask, Rule::MissingRelatedTask] {
                context.pass(rule);
            }
            for rule in
                [Rule::TaskRequired, Rule::SuperfluousRelatedTask, Rule::MissingStatusMessage]
            {
                context.pass(rule);
            }
            return Some(id.to_owned());
        }
        let is_refused = reply.error().is_some() && self.plain.is_none_or(|it| !it.is_success());
        if reply.is_answered() && !is_refused {
            let expected = "expected a new task for a call as a task, which the tool supports";
            self.fail(Rule::TaskNotCreated, reply.finding(expected));
        }
        None
    }

    /// Follows a task to its end.
    async fn follow(&self, id: &str) {
        let context = self.context;
        let by_id = || Some(json!({"taskId": id}));
        let start = context.main().recording().len();
        let end = self.wait_for_end(id).await;
        let is_final = ["completed", "failed", "cancelled"].contains(&&*end.status);
        let frames = context.main().recording().entries_from(start);
        match self.problem_of(&end, is_final).await {
            Some(problem) => {
                self.fail(Rule::TaskResult, Finding::new(problem).with_frames(&frames))
            }
            None if is_final => context.pass(Rule::TaskResult),
            None => {}
        }
        if !is_final {
            return;
        }
        let known = context.request("tasks/get", by_id()).await;
        if known.result().is_some() {
            self.read_again(id, &end).await;
            self.find_in_list(id).await;
        }
        if declares(context, "/cancel") {
            let reply = context.request("tasks/cancel", by_id()).await;
            context.require_error(Rule::FinalTaskCancelled, &reply, &[code::INVALID_PARAMS]);
        } else {
            let reason = "the server does not declare `tasks.cancel`";
            context.not_applicable(Rule::FinalTaskCancelled, reason);
        }
    }

    /// Asks for the result at once, and looks at the status until it is final.
    async fn wait_for_end(&self, id: &str) -> TaskEnd {
        let main = self.context.main();
        let limit = main.request_timeout() * 2;
        let deadline = Instant::now() + limit;
        // Not a request of the connection: a task may take longer than a response.
        let params = json!({"taskId": id}).into();
        let mut pending =
            main.client().request("tasks/result", Some(params)).timeout(limit).start();
        let mut status = self.status(id).await;
        let mut finals = 0;
        let answer = loop {
            tokio::select! {
                answer = &mut pending => break Some(answer),
                () = sleep(POLL_INTERVAL) => {}
            }
            let is_open = status == "working" || status == "input_required";
            finals += usize::from(!is_open);
            // The result follows the final status.
            if Instant::now() > deadline || finals > 20 {
                break None;
            }
            if is_open {
                status = self.status(id).await;
            }
        };
        let response = answer.and_then(Result::ok);
        let response = response.and_then(|it| parse_value(it.raw().bytes()).ok());
        if response.is_some() {
            status = self.status(id).await;
        }
        TaskEnd { status, response }
    }

    /// Returns the status of a task; `gone` if the server does not know the task.
    async fn status(&self, id: &str) -> String {
        let reply = self.context.request("tasks/get", Some(json!({"taskId": id}))).await;
        let result = reply.result().unwrap_or_default();
        result["status"].as_str().unwrap_or("gone").to_owned()
    }

    /// Returns what is wrong with the result of a task.
    async fn problem_of(&self, end: &TaskEnd, is_final: bool) -> Option<String> {
        let Some(response) = &end.response else {
            let text = format!("expected the result of the task, which is {}", end.status);
            return is_final.then_some(text);
        };
        if !is_final && end.status != "gone" && response.get("result").is_some() {
            return Some(format!(
                "expected that `tasks/result` waits for the end of the task, which is {}",
                end.status
            ));
        }
        let result = &response["result"];
        if let Some(code) = response["error"]["code"].as_i64() {
            let succeeds = self.plain.is_some();
            return (succeeds || !is_final).then(|| {
                format!(
                    "expected the result of the call; the server answered with the error {code}"
                )
            });
        }
        if !result["content"].is_array() {
            return Some("expected the result of the call, with its `content`".to_owned());
        }
        let plain = &self.plain?.response["result"];
        let parts = |result: &Value| {
            let is_error = result["isError"] == true;
            (result["content"].clone(), result["structuredContent"].clone(), is_error)
        };
        if parts(plain) == parts(result) || self.plain.is_some_and(Observed::asks_anything) {
            return None;
        }
        // A tool that gives the same result twice gives it as a task, too.
        if self.tool["execution"]["taskSupport"] != "optional" {
            return None;
        }
        let again = self.context.request("tools/call", Some(self.params.clone())).await;
        let again = again.result().unwrap_or_default();
        (parts(plain) == parts(&again))
            .then(|| "expected the same result as that of a call without a task".to_owned())
    }

    /// Reads the result of a final task a second time.
    async fn read_again(&self, id: &str, end: &TaskEnd) {
        let Some(first) = &end.response else { return };
        let reply = self.context.request("tasks/result", Some(json!({"taskId": id}))).await;
        if first.get("result").is_some() && reply.error().is_some() {
            let expected = "expected the result of a final task, also for the second time";
            self.fail(Rule::TaskResult, reply.finding(expected));
        }
    }

    async fn find_in_list(&self, id: &str) {
        let (context, rule) = (self.context, Rule::UnlistedTask);
        if !declares(context, "/list") {
            context.not_applicable(rule, "the server does not declare `tasks.list`");
            return;
        }
        let mut cursor = Value::Null;
        for _ in 0..MAX_PAGES {
            let params = (!cursor.is_null()).then(|| json!({"cursor": cursor}));
            let reply = context.request("tasks/list", params).await;
            let Some(mut page) = reply.result() else {
                return self.fail(rule, reply.finding("expected the list of tasks"));
            };
            let tasks = page["tasks"].as_array().map(Vec::as_slice).unwrap_or_default();
            if tasks.iter().any(|task| task["taskId"] == id) {
                context.pass(rule);
                return;
            }
            cursor = page.get_mut("nextCursor").map(Value::take).unwrap_or_default();
            if !cursor.is_string() {
                let expected = "expected a task that `tasks/get` finds in the list of tasks";
                return self.fail(rule, reply.finding(expected));
            }
        }
    }

    /// Cancels a task while it runs, and looks at it again after the time that it takes.
    async fn cancel_running(&self) {
        if !declares(self.context, "/cancel") {
            return;
        }
        let Some(id) = self.create().await else { return };
        let by_id = || Some(json!({"taskId": id}));
        let reply = self.context.request("tasks/cancel", by_id()).await;
        if reply.result().is_none() {
            return;
        }
        self.context.request("tasks/get", by_id()).await;
        let duration = self.plain.map(|it| it.duration).unwrap_or_default();
        sleep((duration * 2).clamp(POLL_INTERVAL, self.context.main().request_timeout())).await;
        self.context.request("tasks/get", by_id()).await;
    }
}
