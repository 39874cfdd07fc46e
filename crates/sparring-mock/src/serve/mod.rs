//! The request handler of a mock: answers requests from its script.

mod answer;
mod changes;
mod choose_reply;
mod lists;
mod paused_requests;
mod program;
mod questions;
mod script_state;
mod steps;
mod template_scope;
mod template_state;
#[cfg(feature = "http")]
mod upstream;

use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};
use sparring_peer::server::{Context, HandlerError, HandlerResult, Reply, WeakServer};
use sparring_peer::{ByteBudget, Handler, Server};
use sparring_script::did_you_mean;
use sparring_script::schema::Verdict;
use sparring_wire::json::parse_value;
use sparring_wire::types::{CallToolResult, Implementation, ServerCapabilities};
use sparring_wire::{ErrorObject, Json, RawJson};
use tokio::sync::{Semaphore, mpsc, watch};

pub use self::changes::ChangeError;
pub(crate) use self::changes::ChangeSource;
pub(crate) use self::script_state::ScriptState;

use self::answer::EntryRequest;
use self::paused_requests::PausedRequests;
use crate::journal::Journal;
use crate::model::{CompletionRef, EntryKind, MAX_URI_BYTES, Model, ProcessFault};
use crate::program::MAX_CONCURRENT_PROGRAMS;
use crate::scheduler::Action;

/// The maximum size of a name that an error repeats.
const MAX_NAME_BYTES: usize = 1024;

/// The handler of a mock.
#[derive(Debug)]
pub struct MockHandler {
    /// The current script; a request keeps the script that it started with.
    script: watch::Sender<Arc<ScriptState>>,
    /// Held during a change.
    change_lock: Mutex<()>,
    pub(crate) journal: Journal,
    /// The HTTP settings of the first script: paths and credentials do not change while it
    /// serves.
    #[cfg(feature = "http")]
    pub(crate) initial_http: Arc<crate::http_serving::HttpConfig>,
    paused: PausedRequests,
    /// The bytes of the tools and replies that clients have added.
    client_bytes: ByteBudget,
    /// Limits the programs that run at once.
    programs: Semaphore,
    /// The channel to the scheduler, for steps after an answer.
    scheduled: mpsc::UnboundedSender<Vec<Action>>,
    /// The server of this handler.
    server: OnceLock<WeakServer<MockHandler>>,
    /// The channel to the owner of the process, for its faults.
    process_faults: mpsc::Sender<ProcessFault>,
}

impl MockHandler {
    pub(crate) fn new(
        model: Model,
        scheduled: mpsc::UnboundedSender<Vec<Action>>,
        process_faults: mpsc::Sender<ProcessFault>,
    ) -> Self {
        MockHandler {
            #[cfg(feature = "http")]
            initial_http: Arc::clone(&model.http),
            script: watch::Sender::new(Arc::new(ScriptState::new(Arc::new(model)))),
            change_lock: Mutex::default(),
            journal: Journal::default(),
            paused: PausedRequests::default(),
            client_bytes: ByteBudget::new(changes::MAX_CLIENT_BYTES),
            programs: Semaphore::new(MAX_CONCURRENT_PROGRAMS),
            scheduled,
            server: OnceLock::new(),
            process_faults,
        }
    }

    /// Sets the server of this handler.
    pub(crate) fn set_server(&self, server: WeakServer<MockHandler>) {
        let _ = self.server.set(server);
    }

    /// Asks the owner of the process to carry out a fault. If the queue is full, the fault is
    /// dropped.
    fn request_process_fault(&self, fault: ProcessFault) {
        let _ = self.process_faults.try_send(fault);
    }

    /// Sends a notification to all subscribed clients.
    pub(crate) fn notify(&self, method: &str, params: Option<RawJson>) {
        if let Some(server) = self.server() {
            server.notify(method, params);
        }
    }

    fn server(&self) -> Option<Server<MockHandler>> {
        self.server.get().and_then(WeakServer::upgrade)
    }

    /// Returns the script for a request: the current one, or that of the paused request that it
    /// continues.
    fn script_for(&self, cx: &Context) -> Arc<ScriptState> {
        let request_state = cx.request_state().filter(|_| cx.revision().is_modern());
        let paused = request_state.and_then(|request_state| self.paused.script_of(&request_state));
        paused.unwrap_or_else(|| self.script())
    }
}

impl Handler for MockHandler {
    fn info(&self) -> Implementation {
        self.script().model.info.clone()
    }

    fn capabilities(&self) -> ServerCapabilities {
        self.script().model.capabilities.clone()
    }

    fn instructions(&self) -> Option<String> {
        self.script().model.instructions.clone()
    }

    async fn list_tools(&self, cursor: Option<&str>, cx: &Context) -> HandlerResult {
        let script = self.script();
        let tools = script.tools();
        let entries = tools.iter().map(|tool| &tool.entry);
        self.record(script.page("tools", cursor, entries, cx), cx)
    }

    async fn list_resources(&self, cursor: Option<&str>, cx: &Context) -> HandlerResult {
        let script = self.script();
        self.record(script.page("resources", cursor, script.model.resources.iter(), cx), cx)
    }

    async fn list_resource_templates(&self, cursor: Option<&str>, cx: &Context) -> HandlerResult {
        let script = self.script();
        let templates = script.model.templates.iter().map(|(_, entry)| entry);
        self.record(script.page("resourceTemplates", cursor, templates, cx), cx)
    }

    async fn list_prompts(&self, cursor: Option<&str>, cx: &Context) -> HandlerResult {
        let script = self.script();
        self.record(script.page("prompts", cursor, script.model.prompts.iter(), cx), cx)
    }

    fn input_schema(&self, tool: &str) -> Option<RawJson> {
        self.script().visible_tool(tool).and_then(|tool| tool.mirrored_input.clone())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, cx: &Context) -> HandlerResult {
        let entry = self.journal.begin(cx);
        entry.finish(self.answer_tool_call(name, arguments, cx).await)
    }

    async fn read_resource(&self, uri: &str, cx: &Context) -> HandlerResult {
        let entry = self.journal.begin(cx);
        entry.finish(self.answer_resource_read(uri, cx).await)
    }

    /// Servers must validate all URIs of resources (server/resources#security-considerations).
    async fn subscribe(&self, uri: &str, cx: &Context) -> HandlerResult {
        let answer = match fluent_uri::Uri::parse(uri) {
            Ok(_) => Ok(Reply::empty()),
            Err(_) => Err(ErrorObject::invalid_params(format!("not a URI: {uri:?}")).into()),
        };
        self.record(answer, cx)
    }

    async fn unsubscribe(&self, _: &str, cx: &Context) -> HandlerResult {
        self.record(Ok(Reply::empty()), cx)
    }

    async fn get_prompt(&self, name: &str, arguments: Json<'_>, cx: &Context) -> HandlerResult {
        let entry = self.journal.begin(cx);
        entry.finish(self.answer_get_prompt(name, arguments, cx).await)
    }

    async fn complete(
        &self,
        reference: Json<'_>,
        argument: Json<'_>,
        cx: &Context,
    ) -> HandlerResult {
        self.record(self.script().complete(reference, argument), cx)
    }

    async fn other_request(&self, cx: &Context) -> HandlerResult {
        self.record(Err(ErrorObject::method_not_found(cx.method()).into()), cx)
    }

    fn on_answered(&self, cx: &Context, answer: &Result<Reply, ErrorObject>) {
        let _ = self.record(answer.clone().map_err(HandlerError::from), cx);
    }
}

impl MockHandler {
    /// Records a request that is answered at once, and returns the answer.
    fn record(&self, answer: HandlerResult, cx: &Context) -> HandlerResult {
        self.journal.begin(cx).finish(answer)
    }

    async fn answer_tool_call(
        &self,
        name: &str,
        arguments: Json<'_>,
        cx: &Context,
    ) -> HandlerResult {
        let script = &self.script_for(cx);
        let Some(tool) = script.visible_tool(name) else {
            let tools = script.tools();
            let known = tools.iter().filter(|tool| tool.entry.is_visible());
            return Err(not_found("Tool", name, known.map(|tool| &*tool.entry.id)).into());
        };
        let request = EntryRequest::new(script, EntryKind::Tool, &tool.entry, arguments);
        if let Some(schema) = &tool.input {
            let broken = match schema.check_in_background(request.args(), 3).await {
                Verdict::Valid => None,
                Verdict::Invalid(found) => {
                    let found: Vec<String> = found.into_iter().map(|it| it.message).collect();
                    Some(format!("the arguments violate the input schema: {}", found.join("; ")))
                }
                Verdict::Undecided(reason) => {
                    Some(format!("cannot validate the arguments: {reason}"))
                }
            };
            if let Some(message) = broken {
                return match cx.revision().reports_invalid_arguments_in_result() {
                    true => Ok(CallToolResult::failure(message).into()),
                    false => Err(ErrorObject::invalid_params(message).into()),
                };
            }
        }
        self.answer(request, cx).await
    }

    async fn answer_resource_read(&self, uri: &str, cx: &Context) -> HandlerResult {
        let script = &self.script_for(cx);
        let resources = script.model.resources.iter();
        if let Some(entry) = resources.clone().find(|entry| entry.id == uri && entry.is_visible()) {
            let request = EntryRequest::new(script, EntryKind::Resource, entry, Json::EMPTY_OBJECT)
                .with_uri(uri);
            return self.answer(request, cx).await;
        }
        if uri.len() > MAX_URI_BYTES {
            let message = format!("the URI has more than {MAX_URI_BYTES} bytes");
            return Err(ErrorObject::invalid_params(message).into());
        }
        let templates = script.model.templates.iter().filter(|(_, entry)| entry.is_visible());
        let found =
            templates.filter_map(|(template, entry)| Some((entry, template.match_uri(uri)?)));
        if let Some((entry, variables)) = found.into_iter().next() {
            let request = EntryRequest::with_args(script, EntryKind::Template, entry, variables)
                .with_uri(uri);
            return self.answer(request, cx).await;
        }
        let known = resources.filter(|entry| entry.is_visible()).map(|entry| &*entry.id);
        let mut error = not_found("Resource", uri, known).with_data(json!({"uri": uri}));
        error.code = cx.revision().resource_not_found_code();
        Err(error.into())
    }

    async fn answer_get_prompt(
        &self,
        name: &str,
        arguments: Json<'_>,
        cx: &Context,
    ) -> HandlerResult {
        let script = &self.script_for(cx);
        let visible = script.model.prompts.iter().filter(|entry| entry.is_visible());
        let Some(entry) = visible.clone().find(|entry| entry.id == name) else {
            return Err(not_found("Prompt", name, visible.map(|entry| &*entry.id)).into());
        };
        let missing = entry.required.iter().find(|name| arguments.get(name).is_none());
        if let Some(missing) = missing {
            let message = format!("missing argument '{missing}'");
            return Err(ErrorObject::invalid_params(message).into());
        }
        self.answer(EntryRequest::new(script, EntryKind::Prompt, entry, arguments), cx).await
    }
}

impl ScriptState {
    fn complete(&self, reference: Json<'_>, argument: Json<'_>) -> HandlerResult {
        let text = |json: Json<'_>, name| {
            json.get(name).and_then(Json::as_str).unwrap_or_default().into_owned()
        };
        let reference_to = match &*text(reference, "type") {
            "ref/prompt" => CompletionRef::Prompt(text(reference, "name")),
            "ref/resource" => CompletionRef::Template(text(reference, "uri")),
            other => {
                let message = format!("ref: unknown type '{other}'");
                return Err(ErrorObject::invalid_params(message).into());
            }
        };
        self.check_reference(&reference_to)?;
        let (name, typed) = (text(argument, "name"), text(argument, "value"));
        let mut all = self.model.completions.iter();
        let Some(found) = all.find(|it| it.reference == reference_to && it.argument == name) else {
            return Ok(json!({"completion": {"values": []}}).into());
        };
        let has_prefix = |value: &&String| value.to_lowercase().starts_with(&typed.to_lowercase());
        // At most 100 values (server/utilities/completion#completion-results).
        let values: Vec<&String> = found.values.iter().filter(has_prefix).take(100).collect();
        let mut completion = json!({"values": values});
        if let Some(total) = found.total {
            completion["total"] = total.into();
        }
        if let Some(has_more) = found.has_more {
            completion["hasMore"] = has_more.into();
        }
        Ok(json!({"completion": completion}).into())
    }

    fn check_reference(&self, reference: &CompletionRef) -> Result<(), ErrorObject> {
        let (what, id, known): (_, _, Vec<&str>) = match reference {
            CompletionRef::Prompt(name) => {
                ("Prompt", name, self.model.prompts.iter().map(|it| &*it.id).collect())
            }
            CompletionRef::Template(uri) => (
                "Resource template",
                uri,
                self.model.templates.iter().map(|(_, it)| &*it.id).collect(),
            ),
        };
        match known.contains(&&**id) {
            true => Ok(()),
            false => Err(not_found(what, id, known.into_iter())),
        }
    }
}

/// Returns the error for an unknown entry.
fn not_found<'a>(what: &str, id: &str, known: impl Iterator<Item = &'a str>) -> ErrorObject {
    if id.len() > MAX_NAME_BYTES {
        return ErrorObject::invalid_params(format!(
            "{what} not found: its name has {} bytes",
            id.len()
        ));
    }
    let suggestion =
        did_you_mean(id, known).map(|suggestion| format!("; {suggestion}")).unwrap_or_default();
    ErrorObject::invalid_params(format!("{what} '{id}' not found{suggestion}"))
}

/// Returns a failed tool result, or an error for other entries.
fn failure_answer(kind: EntryKind, message: String) -> HandlerResult {
    match kind {
        EntryKind::Tool => Ok(CallToolResult::failure(message).into()),
        _ => Err(ErrorObject::internal(message).into()),
    }
}

/// Parses JSON; null if it is not valid.
fn to_value(json: Json<'_>) -> Value {
    parse_value(json.bytes()).unwrap_or_default()
}
