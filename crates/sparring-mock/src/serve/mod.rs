//! A model at work: the handler behind the protocol.

mod asking;
mod choose;
mod facts;
mod lists;
mod memory;
mod pending;
mod perform;
mod program;
mod run_time;
mod scene;
mod steps;
#[cfg(feature = "http")]
mod upstream;

use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};
use sparring_peer::server::{Answer, Context, Reply, WeakServer};
use sparring_peer::{Handler, Server};
use sparring_script::did_you_mean;
use sparring_script::schema::Verdict;
use sparring_wire::json::tree;
use sparring_wire::types::{CallToolResult, Implementation, ServerCapabilities};
use sparring_wire::{ErrorObject, Json, RawJson};
use tokio::sync::{Semaphore, mpsc, watch};

pub use self::run_time::ChangeError;
pub(crate) use self::run_time::Giver;
pub(crate) use self::scene::Scene;

use self::pending::Pending;
use self::perform::Asked;
use crate::journal::Journal;
use crate::model::{Kind, Model, ProcessFault, Reference};
use crate::program::AT_ONCE;
use crate::stage::Happening;

/// A script being served.
#[derive(Debug)]
pub struct Mock {
    /// What is served now; a request keeps the one that it came to.
    scene: watch::Sender<Arc<Scene>>,
    /// Held while something is changed.
    changing: Mutex<()>,
    pub(crate) journal: Journal,
    /// What the first script says of it over HTTP: where it listens and who is let
    /// in does not change while it serves.
    #[cfg(feature = "http")]
    pub(crate) at_first: Arc<crate::over_http::OverHttp>,
    pending: Pending,
    /// Bounds the programs that run at once.
    programs: Semaphore,
    /// Where to send what happens after an answer.
    later: mpsc::UnboundedSender<Vec<Happening>>,
    /// The server that this is the handler of.
    server: OnceLock<WeakServer<Mock>>,
    /// Whoever owns the process does to it what the script wants.
    process: mpsc::Sender<ProcessFault>,
}

impl Mock {
    pub(crate) fn new(
        model: Model,
        later: mpsc::UnboundedSender<Vec<Happening>>,
        process: mpsc::Sender<ProcessFault>,
    ) -> Self {
        Mock {
            #[cfg(feature = "http")]
            at_first: Arc::clone(&model.over_http),
            scene: watch::Sender::new(Arc::new(Scene::new(Arc::new(model)))),
            changing: Mutex::default(),
            journal: Journal::default(),
            pending: Pending::default(),
            programs: Semaphore::new(AT_ONCE),
            later,
            server: OnceLock::new(),
            process,
        }
    }

    /// Says whose handler this is.
    pub(crate) fn belongs_to(&self, server: WeakServer<Mock>) {
        let _ = self.server.set(server);
    }

    /// Lets the owner of the process do something to it. One that does not
    /// look has enough waiting already.
    fn do_to_process(&self, fault: ProcessFault) {
        let _ = self.process.try_send(fault);
    }

    /// Tells all clients that want to know.
    pub(crate) fn tell(&self, method: &str, params: Option<RawJson>) {
        if let Some(server) = self.server() {
            server.notify(method, params);
        }
    }

    fn server(&self) -> Option<Server<Mock>> {
        self.server.get().and_then(WeakServer::upgrade)
    }

    /// The script that a request is for: the one of now, but for a request that
    /// comes back with answers, which goes on where it was put on hold.
    fn scene_for(&self, cx: &Context) -> Arc<Scene> {
        let ticket = cx.request_state().filter(|_| cx.revision().is_modern());
        let held = ticket.and_then(|ticket| self.pending.scene_of(&ticket));
        held.unwrap_or_else(|| self.scene())
    }
}

impl Handler for Mock {
    fn info(&self) -> Implementation {
        self.scene().model.info.clone()
    }

    fn capabilities(&self) -> ServerCapabilities {
        self.scene().model.capabilities.clone()
    }

    fn instructions(&self) -> Option<String> {
        self.scene().model.instructions.clone()
    }

    async fn list_tools(&self, cursor: Option<&str>, cx: &Context) -> Answer {
        let scene = self.scene();
        let tools = scene.tools();
        let entries = tools.iter().map(|tool| &tool.entry);
        self.noted(scene.page("tools", cursor, entries, cx), cx)
    }

    async fn list_resources(&self, cursor: Option<&str>, cx: &Context) -> Answer {
        let scene = self.scene();
        self.noted(scene.page("resources", cursor, scene.model.resources.iter(), cx), cx)
    }

    async fn list_resource_templates(&self, cursor: Option<&str>, cx: &Context) -> Answer {
        let scene = self.scene();
        let templates = scene.model.templates.iter().map(|(_, entry)| entry);
        self.noted(scene.page("resourceTemplates", cursor, templates, cx), cx)
    }

    async fn list_prompts(&self, cursor: Option<&str>, cx: &Context) -> Answer {
        let scene = self.scene();
        self.noted(scene.page("prompts", cursor, scene.model.prompts.iter(), cx), cx)
    }

    fn input_schema(&self, tool: &str) -> Option<RawJson> {
        self.scene().tool(tool).and_then(|tool| tool.mirrored.clone())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, cx: &Context) -> Answer {
        let noting = self.journal.begin(cx);
        noting.end(self.call(name, arguments, cx).await)
    }

    async fn read_resource(&self, uri: &str, cx: &Context) -> Answer {
        let noting = self.journal.begin(cx);
        noting.end(self.read(uri, cx).await)
    }

    async fn subscribe(&self, _: &str, cx: &Context) -> Answer {
        self.noted(Ok(Reply::empty()), cx)
    }

    async fn unsubscribe(&self, _: &str, cx: &Context) -> Answer {
        self.noted(Ok(Reply::empty()), cx)
    }

    async fn get_prompt(&self, name: &str, arguments: Json<'_>, cx: &Context) -> Answer {
        let noting = self.journal.begin(cx);
        noting.end(self.prompt(name, arguments, cx).await)
    }

    async fn complete(&self, reference: Json<'_>, argument: Json<'_>, cx: &Context) -> Answer {
        self.noted(self.scene().completed(reference, argument), cx)
    }
}

impl Mock {
    /// Keeps a request that is answered at once, and gives the answer.
    fn noted(&self, answer: Answer, cx: &Context) -> Answer {
        self.journal.begin(cx).end(answer)
    }

    async fn call(&self, name: &str, arguments: Json<'_>, cx: &Context) -> Answer {
        let scene = &self.scene_for(cx);
        let Some(tool) = scene.tool(name) else {
            let tools = scene.tools();
            let known = tools.iter().filter(|tool| tool.entry.is_shown());
            return Err(unknown("Tool", name, known.map(|tool| &*tool.entry.id)).into());
        };
        let asked = Asked::new(scene, Kind::Tool, &tool.entry, arguments);
        if let Some(schema) = &tool.input {
            let broken = match schema.check_in_background(asked.args(), 3).await {
                Verdict::Valid => None,
                Verdict::Invalid(found) => {
                    let found: Vec<String> = found.into_iter().map(|it| it.message).collect();
                    Some(format!("the arguments break the tool's schema: {}", found.join("; ")))
                }
                Verdict::Undecided(reason) => Some(format!("the arguments: {reason}")),
            };
            if let Some(message) = broken {
                return match cx.revision().tools_refuse_arguments() {
                    true => Ok(CallToolResult::failure(message).into()),
                    false => Err(ErrorObject::invalid_params(message).into()),
                };
            }
        }
        self.perform(asked, cx).await
    }

    async fn read(&self, uri: &str, cx: &Context) -> Answer {
        let scene = &self.scene_for(cx);
        let resources = scene.model.resources.iter();
        if let Some(entry) = resources.clone().find(|entry| entry.id == uri && entry.is_shown()) {
            let asked = Asked::new(scene, Kind::Resource, entry, Json::EMPTY_OBJECT).of(uri);
            return self.perform(asked, cx).await;
        }
        let templates = scene.model.templates.iter().filter(|(_, entry)| entry.is_shown());
        let found = templates.filter_map(|(pattern, entry)| Some((entry, pattern.read(uri)?)));
        if let Some((entry, variables)) = found.into_iter().next() {
            let asked = Asked::with_args(scene, Kind::Template, entry, variables).of(uri);
            return self.perform(asked, cx).await;
        }
        let known = resources.filter(|entry| entry.is_shown()).map(|entry| &*entry.id);
        let mut error = unknown("Resource", uri, known).with_data(json!({"uri": uri}));
        error.code = cx.revision().resource_not_found_code();
        Err(error.into())
    }

    async fn prompt(&self, name: &str, arguments: Json<'_>, cx: &Context) -> Answer {
        let scene = &self.scene_for(cx);
        let shown = scene.model.prompts.iter().filter(|entry| entry.is_shown());
        let Some(entry) = shown.clone().find(|entry| entry.id == name) else {
            return Err(unknown("Prompt", name, shown.map(|entry| &*entry.id)).into());
        };
        let missing = entry.required.iter().find(|name| arguments.get(name).is_none());
        if let Some(missing) = missing {
            let message = format!("the argument '{missing}' is missing");
            return Err(ErrorObject::invalid_params(message).into());
        }
        self.perform(Asked::new(scene, Kind::Prompt, entry, arguments), cx).await
    }
}

impl Scene {
    fn completed(&self, reference: Json<'_>, argument: Json<'_>) -> Answer {
        let text = |json: Json<'_>, name| {
            json.get(name).and_then(Json::as_str).unwrap_or_default().into_owned()
        };
        let of = match &*text(reference, "type") {
            "ref/prompt" => Reference::Prompt(text(reference, "name")),
            "ref/resource" => Reference::Template(text(reference, "uri")),
            other => {
                let message = format!("ref: unknown type '{other}'");
                return Err(ErrorObject::invalid_params(message).into());
            }
        };
        self.check_reference(&of)?;
        let (name, typed) = (text(argument, "name"), text(argument, "value"));
        let mut all = self.model.completions.iter();
        let Some(found) = all.find(|it| it.of == of && it.argument == name) else {
            return Ok(json!({"completion": {"values": []}}).into());
        };
        let fits = |value: &&String| value.to_lowercase().starts_with(&typed.to_lowercase());
        // No more than a hundred (server/utilities/completion#completion-results).
        let values: Vec<&String> = found.values.iter().filter(fits).take(100).collect();
        let mut completion = json!({"values": values});
        if let Some(total) = found.total {
            completion["total"] = total.into();
        }
        if let Some(has_more) = found.has_more {
            completion["hasMore"] = has_more.into();
        }
        Ok(json!({"completion": completion}).into())
    }

    fn check_reference(&self, of: &Reference) -> Result<(), ErrorObject> {
        let (what, id, known): (_, _, Vec<&str>) = match of {
            Reference::Prompt(name) => {
                ("Prompt", name, self.model.prompts.iter().map(|it| &*it.id).collect())
            }
            Reference::Template(uri) => (
                "Resource template",
                uri,
                self.model.templates.iter().map(|(_, it)| &*it.id).collect(),
            ),
        };
        match known.contains(&&**id) {
            true => Ok(()),
            false => Err(unknown(what, id, known.into_iter())),
        }
    }
}

/// What is asked for and not there.
fn unknown<'a>(what: &str, id: &str, known: impl Iterator<Item = &'a str>) -> ErrorObject {
    let meant = did_you_mean(id, known).map(|meant| format!("; {meant}")).unwrap_or_default();
    ErrorObject::invalid_params(format!("{what} '{id}' not found{meant}"))
}

/// A result that says that the tool failed, or for others an error.
fn failure(kind: Kind, message: String) -> Answer {
    match kind {
        Kind::Tool => Ok(CallToolResult::failure(message).into()),
        _ => Err(ErrorObject::internal(message).into()),
    }
}

/// The value that a piece of JSON is; null for what cannot be read.
fn value_of(json: Json<'_>) -> Value {
    tree(json.bytes()).unwrap_or_default()
}
