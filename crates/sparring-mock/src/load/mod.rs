//! From a script's text to a model, with everything that is wrong told at
//! once: first by the grammar, then by what only reading can find.

mod asks;
mod bytes;
mod capabilities;
mod contents;
mod entries;
mod faults;
mod holes;
mod http_calls;
mod interactions;
mod lists;
mod oauth;
mod replies;
mod settings;
mod steps;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use sparring_script::grammar::check;
use sparring_script::{Node, Object, Problems, Shape, Source};

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
    let mut loader = Loader::new(folder, &node, &settings.vars, problems);
    let model = loader.model(&node, settings.interactions);
    Loaded { model: loader.problems.or(model), files: loader.files }
}

/// Reads a tool that comes at run time, beside those of a model.
pub(crate) fn load_tool(tool: &Value, model: &Model, names: Vec<String>) -> Result<Tool, Problems> {
    let source = Source::new("the tool", format!("{tool:#}"));
    load_part(&source, &grammar::TOOL, model, names, |loader, node| loader.tool(node))
}

/// Reads a reply that comes at run time.
pub(crate) fn load_reply(
    reply: &Value,
    model: &Model,
    names: Vec<String>,
) -> Result<Reply, Problems> {
    let source = Source::new("the reply", format!("{reply:#}"));
    load_part(&source, &grammar::TOOL_REPLY, model, names, |loader, node| {
        let nothing = Node::from((node.span, Value::Null));
        loader.reply(node, &nothing, Kind::Tool)
    })
}

fn load_part<T>(
    source: &Source,
    object: &'static Object,
    model: &Model,
    tools: Vec<String>,
    read: impl FnOnce(&mut Loader<'_>, &Node) -> T,
) -> Result<T, Problems> {
    let mut node = Node::parse(source)?;
    let mut problems = Problems::new(source);
    check(&mut node, &Shape::Object(object), &mut problems);
    let mut loader = Loader {
        folder: &model.folder,
        files: Vec::new(),
        vars: model.vars.clone(),
        problems,
        tools,
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
    fn new(folder: &'a Path, node: &Node, vars: &[(String, Value)], problems: Problems) -> Self {
        let mut all = node.get("vars").map(Node::to_json).unwrap_or_default();
        if !all.is_object() {
            all = Value::Object(serde_json::Map::new());
        }
        for (name, value) in vars {
            all[name] = value.clone();
        }
        let tools = node.get("tools").map(Node::items).unwrap_or_default();
        let names = tools.iter().filter_map(|tool| tool.get("name")?.as_str());
        Loader {
            folder,
            files: Vec::new(),
            vars: all,
            problems,
            tools: names.map(str::to_owned).collect(),
            answers: Vec::new(),
            logs: false,
            recalls: false,
        }
    }

    fn model(&mut self, node: &Node, interactions: bool) -> Model {
        let mut tools = self.tools(node);
        let has = interactions || node.get("mcp_interactions").is_some();
        if has {
            tools.push(Arc::new(self.interaction_tool(node)));
        }
        let resources = self.resources(node);
        let templates = self.templates(node);
        let prompts = self.prompts(node);
        let completions = self.completions(node);
        let timers = self.timers(node);
        let door = self.door(node);
        let issuer = door.as_ref().map(|door| door.issuer.clone());
        self.check_lists(node);
        Model {
            source: self.problems.source().clone(),
            folder: self.folder.to_owned(),
            fixed: settings::fixed(node),
            control: settings::control(node),
            info: settings::info(node),
            instructions: text(node, "instructions"),
            revisions: settings::revisions(node),
            capabilities: capabilities::of(node, self.logs, has),
            vars: self.vars.clone(),
            seed: node.get("seed").and_then(Node::as_u64),
            page_size: settings::page_size(node),
            cache: settings::cache(node),
            http: settings::http(node, door),
            issuer,
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
