//! Loads a script into a model, and reports all problems at once: first those of the grammar,
//! then those that only loading finds.

mod contents;
#[cfg(not(feature = "oauth"))]
mod disabled_features;
mod entries;
mod faults;
#[cfg(feature = "http")]
mod http_calls;
#[cfg(feature = "http")]
mod http_config;
mod interactions;
#[cfg(feature = "llm")]
mod llm;
mod mime;
#[cfg(feature = "oauth")]
mod oauth;
mod programs;
mod reachable_replies;
mod reference_check;
mod replies;
mod server_settings;
mod steps;
mod template_check;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use sparring_script::grammar::check_node;
use sparring_script::{Node, Object, Problems, Shape, Source};
use sparring_wire::Revision;

#[cfg(feature = "llm")]
pub use llm::LlmScope;
#[cfg(feature = "llm")]
pub(crate) use llm::{load_llm, load_llm_file};
#[cfg(feature = "oauth")]
pub(crate) use oauth::{load_behavior, load_issuer, load_token};

use crate::grammar;
use crate::model::{EntryKind, Model, Reply, Tool};

/// Options for loading a script.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Variables that add to those of the script or replace them.
    pub vars: Vec<(String, Value)>,
    /// If true, adds the tool `get_data` even if the script has no `mcp_interactions`.
    pub interactions: bool,
    /// True if the script may run programs.
    pub allow_exec: bool,
    /// Keys that parts which clients register over `/_spar/` may use.
    #[cfg(feature = "http")]
    pub control_keys: ControlKeys,
    /// The TLS options for requests of replies to HTTP servers.
    #[cfg(feature = "http")]
    pub tls: sparring_transport::http::Tls,
}

/// Keys that tools and replies which clients register over `/_spar/` may use (default: none).
/// They can never use `exec`.
#[cfg(feature = "http")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ControlKeys {
    /// `file`, for files below the script's folder.
    pub file: bool,
    /// `http`.
    pub http: bool,
}

/// The origin of the loaded text, which decides what it may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextOrigin {
    /// The script, or the Rust code that owns the mock.
    Owner { allow_exec: bool },
    /// A client of the control endpoints.
    #[cfg(feature = "http")]
    HttpClient(ControlKeys),
}

impl TextOrigin {
    /// Returns true if a client of the control endpoints wrote the text.
    fn is_client(self) -> bool {
        !matches!(self, TextOrigin::Owner { .. })
    }
}

/// The result of loading a script.
#[derive(Debug)]
pub(crate) struct LoadedScript {
    pub(crate) model: Result<Model, Problems>,
    /// The files that it names, even if it has problems.
    pub(crate) files: Vec<PathBuf>,
}

/// Loads a script. Relative paths start from `folder`.
pub(crate) fn load(source: &Source, folder: &Path, settings: &Settings) -> LoadedScript {
    let mut node = match Node::parse(source) {
        Ok(node) => node,
        Err(problems) => return LoadedScript { model: Err(problems), files: Vec::new() },
    };
    let mut problems = Problems::new(source);
    check_node(&mut node, &Shape::Object(&grammar::SCRIPT), &mut problems);
    let mut loader = Loader::new(folder, &node, settings, problems);
    let model = loader.load_model(&node, settings);
    LoadedScript { model: loader.problems.into_result(model), files: loader.files }
}

/// Loads a tool that is registered at run time.
pub(crate) fn load_tool(
    tool: &Value,
    model: &Model,
    names: Vec<String>,
    origin: TextOrigin,
) -> Result<Tool, Problems> {
    let source = Source::new("the tool", format!("{tool:#}"));
    let context = PartContext { model, names, origin };
    load_part(&source, &grammar::TOOL, context, |loader, node| loader.load_tool(node))
}

/// Loads a reply that is enqueued at run time.
pub(crate) fn load_reply(
    reply: &Value,
    model: &Model,
    names: Vec<String>,
    origin: TextOrigin,
) -> Result<Reply, Problems> {
    let source = Source::new("the reply", format!("{reply:#}"));
    let context = PartContext { model, names, origin };
    load_part(&source, &grammar::TOOL_REPLY, context, |loader, node| {
        let nothing = Node::from((node.span, Value::Null));
        loader.load_reply(node, &nothing, EntryKind::Tool)
    })
}

/// The context of a part that is loaded at run time.
struct PartContext<'a> {
    model: &'a Model,
    names: Vec<String>,
    origin: TextOrigin,
}

fn load_part<T>(
    source: &Source,
    object: &'static Object,
    context: PartContext<'_>,
    read: impl FnOnce(&mut Loader<'_>, &Node) -> T,
) -> Result<T, Problems> {
    let mut node = Node::parse(source)?;
    let mut problems = Problems::new(source);
    check_node(&mut node, &Shape::Object(object), &mut problems);
    let mut loader = Loader {
        folder: &context.model.folder,
        files: Vec::new(),
        vars: context.model.vars.clone(),
        origin: context.origin,
        revisions: context.model.revisions.clone(),
        problems,
        tools: context.names,
        answers: Vec::new(),
        logs: false,
        uses_last_calls: false,
    };
    let part = read(&mut loader, &node);
    loader.problems.into_result(part)
}

/// The state while a script is loaded. Values of the wrong shape are skipped here, since the
/// grammar has reported them.
struct Loader<'a> {
    folder: &'a Path,
    /// The files that were read.
    files: Vec<PathBuf>,
    vars: Value,
    origin: TextOrigin,
    /// The revisions of the script.
    revisions: Vec<Revision>,
    problems: Problems,
    /// The names of all tools.
    tools: Vec<String>,
    /// The names of the answers that the current reply can use.
    answers: Vec<String>,
    /// True if a step sends log messages.
    logs: bool,
    /// True if a template uses earlier calls.
    uses_last_calls: bool,
}

impl<'a> Loader<'a> {
    fn new(folder: &'a Path, node: &Node, settings: &Settings, problems: Problems) -> Self {
        let mut all = node.get("vars").map(Node::to_json).unwrap_or_default();
        if !all.is_object() {
            all = Value::Object(serde_json::Map::new());
        }
        for (name, value) in &settings.vars {
            all[name] = value.clone();
        }
        let tools = node.get("tools").map(Node::items).unwrap_or_default();
        let names = tools.iter().filter_map(|tool| tool.get("name")?.as_str());
        Loader {
            folder,
            files: Vec::new(),
            vars: all,
            origin: TextOrigin::Owner { allow_exec: settings.allow_exec },
            revisions: server_settings::revisions(node),
            problems,
            tools: names.map(str::to_owned).collect(),
            answers: Vec::new(),
            logs: false,
            uses_last_calls: false,
        }
    }

    fn load_model(&mut self, node: &Node, settings: &Settings) -> Model {
        let mut tools = self.load_tools(node);
        let has_interactions = settings.interactions || node.get("mcp_interactions").is_some();
        if has_interactions {
            tools.push(Arc::new(self.interaction_tool(node)));
        }
        let resources = self.load_resources(node);
        let templates = self.load_templates(node);
        let prompts = self.load_prompts(node);
        let completions = self.load_completions(node);
        let timers = self.load_timers(node);
        #[cfg(not(feature = "http"))]
        self.reject_http_keys(node);
        self.check_entry_names(node);
        Model {
            source: self.problems.source().clone(),
            folder: self.folder.to_owned(),
            restart_only: server_settings::restart_only_digests(node),
            allow_exec: settings.allow_exec,
            #[cfg(feature = "http")]
            control_keys: settings.control_keys,
            info: server_settings::server_info(node),
            instructions: text(node, "instructions"),
            revisions: self.revisions.clone(),
            capabilities: server_settings::capabilities(node, self.logs, has_interactions),
            vars: self.vars.clone(),
            seed: node.get("seed").and_then(Node::as_u64),
            page_size: server_settings::page_size(node),
            cache: self.load_cache(node),
            #[cfg(feature = "http")]
            http: Arc::new(self.load_http_config(node, settings)),
            uses_last_calls: self.uses_last_calls,
            tools,
            interactions: self.load_interactions(node),
            resources,
            templates,
            prompts,
            completions,
            timers,
        }
    }
}

/// Returns the text at a key.
fn text(node: &Node, key: &str) -> Option<String> {
    node.get(key).and_then(Node::as_str).map(str::to_owned)
}

/// Returns the items of a list, or the value itself.
fn one_or_many(node: &Node) -> &[Node] {
    match &node.kind {
        sparring_script::NodeKind::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}
