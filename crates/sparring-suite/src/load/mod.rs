//! Loads a suite and reports all its problems at once: those that the grammar finds
//! first, then those that only the loader can find.

mod agents;
mod answers;
mod expects;
mod fragments;
mod include;
mod journals;
mod mock_template_check;
mod mocks;
mod server_check;
mod servers;
mod snapshots;
mod special_steps;
mod steps;
mod template_check;
mod tests;
mod watched_files;

pub use watched_files::WatchedFiles;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use sparring_script::{
    MapEntry, Node, NodeKind, Object, Problems, Source, TemplateTree, parse_duration,
};
use sparring_transport::{MAX_SCRIPT_BYTES, read_text_file};

use crate::model::{Agent, Files, Needs, Server, SnapshotRules, Suite, SuiteMock, Test};

/// The error of a suite that could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The suite, or a file that it names, has problems.
    #[error("{}", join(.0))]
    Invalid(Vec<Problems>),
}

fn join(problems: &[Problems]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

/// A suite from a file, and the files that it depends on.
#[derive(Debug)]
#[must_use = "contains the suite or the error"]
pub struct LoadedSuite {
    /// The suite, or the error of loading it.
    pub suite: Result<Suite, LoadError>,
    /// The files whose changes can change the suite or its results.
    pub watched: WatchedFiles,
}

impl Suite {
    /// Loads a suite from a file.
    ///
    /// # Errors
    /// When the file cannot be read, or it or a mock script that it names has problems.
    pub fn from_file(path: &Path) -> Result<Suite, LoadError> {
        Suite::load(path).suite
    }

    /// Loads a suite from a file, together with the files that it depends on.
    pub fn load(path: &Path) -> LoadedSuite {
        let mut watched = WatchedFiles::new(path);
        let suite = match read_text_file(path, MAX_SCRIPT_BYTES) {
            Err(error) => Err(LoadError::Read { path: path.to_owned(), error }),
            Ok(text) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                let source = Source::new(path.display().to_string(), text);
                Suite::load_source(&source, folder, &mut watched).map_err(LoadError::Invalid)
            }
        };
        LoadedSuite { suite, watched }
    }

    /// Parses a suite. Paths in it start at `folder`.
    ///
    /// # Errors
    /// When it or a mock script that it names has problems.
    pub fn parse(source: &Source, folder: &Path) -> Result<Suite, Vec<Problems>> {
        Suite::load_source(source, folder, &mut WatchedFiles::default())
    }

    fn load_source(
        source: &Source,
        folder: &Path,
        watched: &mut WatchedFiles,
    ) -> Result<Suite, Vec<Problems>> {
        let read = include::read(source, folder).map_err(|problems| vec![problems])?;
        watched.files.extend(read.named);
        let mut loader = Loader {
            files: read.files,
            problems: read.problems,
            scripts: read.unreadable,
            fragments: Vec::new(),
            using: Vec::new(),
            snapshots: SnapshotRules::default(),
            watched: WatchedFiles::default(),
            shared: ["agent", "fragments", "mocks"]
                .into_iter()
                .filter_map(|key| read.node.get(key).cloned())
                .collect(),
            has_agent: read.node.get("agent").is_some(),
            interactions: read.node.get("mcp_interactions").map(Node::to_json),
            mocks: Vec::new(),
        };
        let mut suite = loader.read_suite(&read.node, source);
        let mut all = loader.files.sorted(&loader.problems);
        all.extend(loader.scripts);
        watched.extend(loader.watched);
        suite.files = loader.files;
        if all.is_empty() { Ok(suite) } else { Err(all) }
    }
}

/// Loads one suite. It ignores values of the wrong shape, which the grammar reported.
struct Loader {
    files: Files,
    problems: Problems,
    /// The problems of mock scripts, and of files that are not YAML.
    scripts: Vec<Problems>,
    /// The snapshot rules of the whole suite.
    snapshots: SnapshotRules,
    /// The files that the suite names.
    watched: WatchedFiles,
    fragments: Vec<MapEntry>,
    /// The fragments that are being read, each used by the one before.
    using: Vec<String>,
    /// The parts of the suite whose templates use the values of a test.
    shared: Vec<Node>,
    /// True if the suite has an agent for all tests.
    has_agent: bool,
    /// The interactions of tests without their own.
    interactions: Option<Value>,
    /// The mocks of the suite.
    mocks: Vec<SuiteMock>,
}

impl Loader {
    fn read_suite(&mut self, node: &Node, source: &Source) -> Suite {
        let mut servers = self.read_servers(node);
        self.read_watch(node);
        self.mocks = self.read_mocks(node, &servers);
        // Steps of fragments name mocks.
        self.read_fragments(node);
        self.check_mock_templates(&servers);
        let agent = self.read_agent(node);
        for tree in agent.iter().flat_map(Agent::trees) {
            self.check_mock_names(tree);
        }
        self.snapshots = node.get("snapshots").map(|it| self.read_rules(it)).unwrap_or_default();
        let (setup, teardown) = self.read_suite_setup(node, &servers);
        let saved = setup.iter().flat_map(|step| &step.save);
        let known: Vec<&str> = saved.map(|(name, _, _)| &**name).collect();
        let tests = self.read_tests(node, &servers, &known);
        self.check_interactions(node, tests.iter().flat_map(Test::all_steps));
        self.check_servers(node, &servers, &tests);
        servers.push(Server::none());
        Suite {
            source: source.clone(),
            files: Files::default(),
            needs: needs(node),
            servers,
            mocks: std::mem::take(&mut self.mocks),
            agent,
            setup,
            teardown,
            tests,
        }
    }

    /// Reads the value of a key with its templates.
    fn read_tree(&mut self, node: &Node, key: &str) -> Option<TemplateTree> {
        node.get(key).map(|value| TemplateTree::from_node(value, &mut self.problems))
    }

    /// Reads a string with templates.
    fn read_text(&mut self, node: &Node, key: &str) -> Option<TemplateTree> {
        self.read_tree(node, key).map(TemplateTree::into_text)
    }

    /// Reads a string without templates. Refuses an empty one.
    fn read_full_text(&mut self, node: &Node, key: &str) -> Option<String> {
        let node = node.get(key)?;
        let text = node.as_str()?;
        if text.trim().is_empty() {
            self.problems.add(node.span, format!("`{key}` is empty"));
        }
        Some(text.to_owned())
    }

    /// Reads a `timeout`. Refuses zero, because nothing takes no time.
    fn read_timeout(&mut self, node: &Node) -> Option<Duration> {
        let node = node.get("timeout")?;
        let timeout = parse_duration(node.as_str()?).ok()?;
        if timeout.is_zero() {
            self.problems.add(node.span, "a timeout of zero leaves no time for an answer");
        }
        Some(timeout)
    }

    /// Reads a URL with templates, whose values are percent-encoded.
    fn read_url(&mut self, node: &Node, key: &str) -> Option<TemplateTree> {
        self.read_tree(node, key).map(TemplateTree::into_url)
    }
}

fn needs(node: &Node) -> Needs {
    let of = |key| node.get("needs").map(|needs| texts(needs, key)).unwrap_or_default();
    Needs { programs: of("programs"), env: of("env"), files: of("files") }
}

/// The strings of a key that takes one or a list.
fn texts(node: &Node, key: &str) -> Vec<String> {
    let all = node.get(key).map(one_or_many).unwrap_or_default();
    all.iter().filter_map(Node::as_str).map(str::to_owned).collect()
}

/// The items of a list, or a single value.
fn one_or_many(node: &Node) -> &[Node] {
    match &node.kind {
        NodeKind::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}

/// Returns true if a key is unknown and most probably stands for one of these names.
fn is_almost<const N: usize>(entry: &MapEntry, object: &Object, names: [&'static str; N]) -> bool {
    let nearest = || object.nearest_keys(&entry.key);
    !object.has_key(&entry.key) && nearest().iter().any(|name| names.contains(name))
}
