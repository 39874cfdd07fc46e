//! From a suite's text to a model, with everything that is wrong told at once:
//! first by the grammar, then by what only reading can find.

mod agents;
mod answers;
mod around;
mod expects;
mod fragments;
mod holes;
mod include;
mod journals;
mod mock_holes;
mod mocks;
mod servers;
mod snapshots;
mod special;
mod steps;
mod tests;
mod watched;

pub use watched::Watched;

use std::path::{Path, PathBuf};

use serde_json::Value;
use sparring_script::{Entry, Kind, Node, Object, Problems, Source, Tree, nearest};

use crate::model::{Agent, Files, Needs, Rules, Server, StandIn, Suite, Test};

/// Why a file is no suite.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is wrong, or a file that it names is.
    #[error("{}", told(.0))]
    Wrong(Vec<Problems>),
}

fn told(problems: &[Problems]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

/// What came of reading a suite from a file.
#[derive(Debug)]
#[must_use = "it has the suite, or why there is none"]
pub struct Reading {
    /// The suite, or what is wrong.
    pub suite: Result<Suite, LoadError>,
    /// What another reading or another run may find changed.
    pub watched: Watched,
}

impl Suite {
    /// Reads a suite from a file.
    ///
    /// # Errors
    /// When it cannot be read, or is wrong; all that is wrong is told at once,
    /// also with the mocks that it names.
    pub fn from_file(path: &Path) -> Result<Suite, LoadError> {
        Suite::open(path).suite
    }

    /// Reads a suite from a file, and says which files it is about.
    pub fn open(path: &Path) -> Reading {
        let mut watched = Watched::of(path);
        let suite = match std::fs::read_to_string(path) {
            Err(error) => Err(LoadError::Read { path: path.to_owned(), error }),
            Ok(text) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                let source = Source::new(path.display().to_string(), text);
                Suite::load(&source, folder, &mut watched).map_err(LoadError::Wrong)
            }
        };
        Reading { suite, watched }
    }

    /// Reads a suite; files that it names are looked for from `folder` on.
    ///
    /// # Errors
    /// When it is wrong, or a mock that it names is.
    pub fn read(source: &Source, folder: &Path) -> Result<Suite, Vec<Problems>> {
        Suite::load(source, folder, &mut Watched::default())
    }

    fn load(source: &Source, folder: &Path, watched: &mut Watched) -> Result<Suite, Vec<Problems>> {
        let read = include::read(source, folder).map_err(|problems| vec![problems])?;
        watched.files.extend(read.named);
        let mut loader = Loader {
            files: read.files,
            problems: read.problems,
            scripts: read.unreadable,
            fragments: Vec::new(),
            using: Vec::new(),
            snapshots: Rules::default(),
            watched: Watched::default(),
            has_agent: read.node.get("agent").is_some(),
            brought: read.node.get("mcp_interactions").map(Node::to_json),
            stand_ins: Vec::new(),
        };
        let mut suite = loader.suite(&read.node, source);
        let mut all = loader.files.sorted(&loader.problems);
        all.extend(loader.scripts);
        watched.extend(loader.watched);
        suite.files = loader.files;
        if all.is_empty() { Ok(suite) } else { Err(all) }
    }
}

/// What is known while a suite is read. What has the wrong shape is passed over
/// in silence here: the grammar has told it.
struct Loader {
    files: Files,
    problems: Problems,
    /// What is wrong with the scripts of mocks, and with files that are no YAML.
    scripts: Vec<Problems>,
    /// What is not kept in any snapshot.
    snapshots: Rules,
    /// The files that it names.
    watched: Watched,
    fragments: Vec<Entry>,
    /// The fragments whose steps are being read, each used by the one before.
    using: Vec<String>,
    /// Whether there is an agent for all tests.
    has_agent: bool,
    /// The responses of tests that bring no others.
    brought: Option<Value>,
    /// What is started beside the servers.
    stand_ins: Vec<StandIn>,
}

impl Loader {
    fn suite(&mut self, node: &Node, source: &Source) -> Suite {
        self.fragments(node);
        let mut servers = self.servers(node);
        self.watch(node);
        self.stand_ins = self.stand_ins(node, &servers);
        self.check_mock_holes(&servers);
        let agent = self.agent(node);
        for tree in agent.iter().flat_map(Agent::trees) {
            self.check_mocks_in(tree);
        }
        self.snapshots = node.get("snapshots").map(|it| self.rules(it)).unwrap_or_default();
        let (setup, teardown) = self.suite_around(node, &servers);
        let saved = setup.iter().flat_map(|step| &step.save);
        let known: Vec<&str> = saved.map(|(name, _, _)| &**name).collect();
        let tests = self.tests(node, &servers, &known);
        self.check_brought(node, tests.iter().flat_map(Test::all_steps));
        self.check_servers(node, &servers, &tests);
        servers.push(Server::nobody());
        Suite {
            source: source.clone(),
            files: Files::default(),
            needs: needs(node),
            servers,
            stand_ins: std::mem::take(&mut self.stand_ins),
            agent,
            setup,
            teardown,
            tests,
        }
    }

    /// The value under a key, with its holes.
    fn tree(&mut self, node: &Node, key: &str) -> Option<Tree> {
        node.get(key).map(|value| Tree::read(value, &mut self.problems))
    }

    /// The same as a text, whatever fills its holes.
    fn text(&mut self, node: &Node, key: &str) -> Option<Tree> {
        self.tree(node, key).map(Tree::spelled)
    }

    /// The same as a URL, in which values are percent-encoded.
    fn url(&mut self, node: &Node, key: &str) -> Option<Tree> {
        self.tree(node, key).map(Tree::url)
    }
}

fn needs(node: &Node) -> Needs {
    let of = |key| node.get("needs").map(|needs| texts(needs, key)).unwrap_or_default();
    Needs { programs: of("programs"), env: of("env"), files: of("files") }
}

/// The texts under a key, of which there may be one or many.
fn texts(node: &Node, key: &str) -> Vec<String> {
    let all = node.get(key).map(one_or_many).unwrap_or_default();
    all.iter().filter_map(Node::as_str).map(str::to_owned).collect()
}

/// What stands in a list, or alone.
fn one_or_many(node: &Node) -> &[Node] {
    match &node.kind {
        Kind::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}

/// Whether a key is none of an object's, and like one of these.
fn is_almost<const N: usize>(entry: &Entry, object: &Object, names: [&'static str; N]) -> bool {
    !object.has(&entry.key) && !nearest(&entry.key, names).is_empty()
}
