//! From a suite's text to a model, with everything that is wrong told at once:
//! first by the grammar, then by what only reading can find.

mod agents;
mod answers;
mod expects;
mod holes;
mod journals;
mod mock_holes;
mod mocks;
mod servers;
mod steps;
mod tests;

use std::path::{Path, PathBuf};

use serde_json::Value;
use sparring_script::{Kind, Node, Problems, Shape, Source, Tree, grammar};

use crate::grammar::SUITE;
use crate::model::{Agent, Needs, Server, Suite};

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

impl Suite {
    /// Reads a suite from a file.
    ///
    /// # Errors
    /// When it cannot be read, or is wrong; all that is wrong is told at once,
    /// also with the mocks that it names.
    pub fn from_file(path: &Path) -> Result<Suite, LoadError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| LoadError::Read { path: path.to_owned(), error })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Suite::read(&Source::new(path.display().to_string(), text), folder)
            .map_err(LoadError::Wrong)
    }

    /// Reads a suite; files that it names are looked for from `folder` on.
    ///
    /// # Errors
    /// When it is wrong, or a mock that it names is.
    pub fn read(source: &Source, folder: &Path) -> Result<Suite, Vec<Problems>> {
        let mut node = Node::parse(source).map_err(|problems| vec![problems])?;
        let mut problems = Problems::new(source);
        grammar::check(&mut node, &Shape::Object(&SUITE), &mut problems);
        let mut loader = Loader {
            folder,
            problems,
            scripts: Vec::new(),
            has_agent: node.get("agent").is_some(),
            brought: node.get("mcp_interactions").map(Node::to_json),
        };
        let suite = loader.suite(&node);
        let own = Some(loader.problems).filter(|problems| !problems.is_empty());
        let all: Vec<Problems> = own.into_iter().chain(loader.scripts).collect();
        if all.is_empty() { Ok(suite) } else { Err(all) }
    }
}

/// What is known while a suite is read. What has the wrong shape is passed over
/// in silence here: the grammar has told it.
struct Loader<'a> {
    folder: &'a Path,
    problems: Problems,
    /// What is wrong with the scripts of mocks.
    scripts: Vec<Problems>,
    /// Whether there is an agent for all tests.
    has_agent: bool,
    /// The responses of tests that bring no others.
    brought: Option<Value>,
}

impl Loader<'_> {
    fn suite(&mut self, node: &Node) -> Suite {
        let mut servers = self.servers(node);
        let stand_ins = self.stand_ins(node, &servers);
        self.check_mock_holes(&servers, &stand_ins);
        let agent = self.agent(node);
        for tree in agent.iter().flat_map(Agent::trees) {
            self.check_mocks_in(tree, &stand_ins, &[]);
        }
        let tests = self.tests(node, &servers, &stand_ins);
        let steps = tests.iter().flat_map(|test| &test.steps);
        self.check_brought(node, steps, &stand_ins);
        self.check_servers(&tests, node.get("servers").is_none());
        servers.push(Server::nobody());
        Suite {
            source: self.problems.source().clone(),
            folder: self.folder.to_owned(),
            needs: needs(node),
            servers,
            stand_ins,
            agent,
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
