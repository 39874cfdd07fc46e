//! From a script's text to a model, with everything that is wrong told at
//! once: first by the grammar, then by what only reading can find.

#[cfg(not(feature = "oauth"))]
mod absent;
mod asks;
mod bytes;
mod capabilities;
mod contents;
mod entries;
mod faults;
mod holes;
#[cfg(feature = "http")]
mod http_calls;
mod interactions;
mod lists;
#[cfg(feature = "llm")]
mod llm;
mod mime;
#[cfg(feature = "oauth")]
mod oauth;
#[cfg(feature = "http")]
mod over_http;
mod programs;
mod replies;
mod settings;
mod steps;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use sparring_script::grammar::check;
use sparring_script::{Node, Object, Problems, Shape, Source};

#[cfg(feature = "llm")]
pub use llm::LlmKnown;
#[cfg(feature = "llm")]
pub(crate) use llm::{load_llm, load_llm_file};
#[cfg(feature = "oauth")]
pub(crate) use oauth::{load_issuer, load_token, load_ways};

use crate::grammar;
use crate::model::{Kind, Model, Reply, Tool};

/// What is said beside a script.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Variables besides or instead of the script's own.
    pub vars: Vec<(String, Value)>,
    /// Whether there is the tool `get_data` although the script has no
    /// `mcp_interactions`.
    pub interactions: bool,
    /// Whether the script may name programs to run.
    pub allow_exec: bool,
    /// Whom to trust when an HTTP server is asked for an answer over TLS.
    #[cfg(feature = "http")]
    pub tls: sparring_transport::http::Tls,
}

/// Whether what is read may name programs to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MayRun {
    Yes,
    No,
    /// It came over HTTP, from whoever can reach the mock.
    #[cfg(feature = "http")]
    OnlyTheScripts,
}

impl MayRun {
    pub(crate) fn if_so(allowed: bool) -> Self {
        if allowed { MayRun::Yes } else { MayRun::No }
    }
}

/// A script that was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) model: Result<Model, Problems>,
    /// The files that it names, also where it is wrong.
    pub(crate) files: Vec<PathBuf>,
}

/// Reads a script. Files that it names are looked for from `folder` on.
pub(crate) fn load(source: &Source, folder: &Path, settings: &Settings) -> Loaded {
    let mut node = match Node::parse(source) {
        Ok(node) => node,
        Err(problems) => return Loaded { model: Err(problems), files: Vec::new() },
    };
    let mut problems = Problems::new(source);
    check(&mut node, &Shape::Object(&grammar::SCRIPT), &mut problems);
    let mut loader = Loader::new(folder, &node, settings, problems);
    let model = loader.model(&node, settings);
    Loaded { model: loader.problems.or(model), files: loader.files }
}

/// Reads a tool that comes at run time, beside those of a model.
pub(crate) fn load_tool(
    tool: &Value,
    model: &Model,
    names: Vec<String>,
    may_run: MayRun,
) -> Result<Tool, Problems> {
    let source = Source::new("the tool", format!("{tool:#}"));
    let known = Known { model, names, may_run };
    load_part(&source, &grammar::TOOL, known, |loader, node| loader.tool(node))
}

/// Reads a reply that comes at run time.
pub(crate) fn load_reply(
    reply: &Value,
    model: &Model,
    names: Vec<String>,
    may_run: MayRun,
) -> Result<Reply, Problems> {
    let source = Source::new("the reply", format!("{reply:#}"));
    let known = Known { model, names, may_run };
    load_part(&source, &grammar::TOOL_REPLY, known, |loader, node| {
        let nothing = Node::from((node.span, Value::Null));
        loader.reply(node, &nothing, Kind::Tool)
    })
}

/// What is known where a part comes at run time.
struct Known<'a> {
    model: &'a Model,
    names: Vec<String>,
    may_run: MayRun,
}

fn load_part<T>(
    source: &Source,
    object: &'static Object,
    known: Known<'_>,
    read: impl FnOnce(&mut Loader<'_>, &Node) -> T,
) -> Result<T, Problems> {
    let mut node = Node::parse(source)?;
    let mut problems = Problems::new(source);
    check(&mut node, &Shape::Object(object), &mut problems);
    let mut loader = Loader {
        folder: &known.model.folder,
        files: Vec::new(),
        vars: known.model.vars.clone(),
        may_run: known.may_run,
        problems,
        tools: known.names,
        answers: Vec::new(),
        logs: false,
        recalls: false,
    };
    let part = read(&mut loader, &node);
    loader.problems.or(part)
}

/// What is known while a script is read. What has the wrong shape is passed
/// over in silence here: the grammar has told it.
struct Loader<'a> {
    folder: &'a Path,
    /// The files that were looked for.
    files: Vec<PathBuf>,
    vars: Value,
    may_run: MayRun,
    problems: Problems,
    /// The names of all tools.
    tools: Vec<String>,
    /// The names of the answers to the reply that is being read.
    answers: Vec<String>,
    /// Whether anything logs.
    logs: bool,
    /// Whether anything asks for earlier calls.
    recalls: bool,
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
            may_run: MayRun::if_so(settings.allow_exec),
            problems,
            tools: names.map(str::to_owned).collect(),
            answers: Vec::new(),
            logs: false,
            recalls: false,
        }
    }

    fn model(&mut self, node: &Node, settings: &Settings) -> Model {
        let mut tools = self.tools(node);
        let has = settings.interactions || node.get("mcp_interactions").is_some();
        if has {
            tools.push(Arc::new(self.interaction_tool(node)));
        }
        let resources = self.resources(node);
        let templates = self.templates(node);
        let prompts = self.prompts(node);
        let completions = self.completions(node);
        let timers = self.timers(node);
        #[cfg(not(feature = "http"))]
        self.refuse_http(node);
        self.check_lists(node);
        Model {
            source: self.problems.source().clone(),
            folder: self.folder.to_owned(),
            fixed: settings::fixed(node),
            allow_exec: settings.allow_exec,
            info: settings::info(node),
            instructions: text(node, "instructions"),
            revisions: settings::revisions(node),
            capabilities: capabilities::of(node, self.logs, has),
            vars: self.vars.clone(),
            seed: node.get("seed").and_then(Node::as_u64),
            page_size: settings::page_size(node),
            cache: settings::cache(node),
            #[cfg(feature = "http")]
            over_http: Arc::new(self.over_http(node, settings)),
            recalls: self.recalls,
            tools,
            interactions: self.interactions(node),
            resources,
            templates,
            prompts,
            completions,
            timers,
        }
    }
}

/// The text under a key.
fn text(node: &Node, key: &str) -> Option<String> {
    node.get(key).and_then(Node::as_str).map(str::to_owned)
}

/// What stands in a list, or alone.
fn one_or_many(node: &Node) -> &[Node] {
    match &node.kind {
        sparring_script::Kind::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}
