//! A server under test, as its suite describes it.

use std::time::Duration;

use sparring_script::{Span, Tree};
use sparring_wire::Revision;

use super::Transport;

/// A server and how to get to it.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: String,
    /// Where its name stands.
    pub(crate) span: Span,
    pub(crate) way: Way,
    /// How long connecting may take, and then each request.
    pub(crate) timeout: Option<Duration>,
    /// How many of its tests run at once.
    pub(crate) concurrency: usize,
    /// What the client declares, where the suite says so.
    pub(crate) capabilities: Option<Tree>,
    /// The revisions to run its tests in.
    pub(crate) protocols: Vec<Revision>,
    /// The transports to run them over, where it is a mock.
    pub(crate) transports: Vec<Transport>,
}

/// How to get to a server.
#[derive(Debug)]
pub(crate) enum Way {
    /// It is started here.
    Child(Command),
    /// It is started in a container.
    Container(Container),
    /// It is there already.
    Http(Address),
    /// It is a script.
    Mock(Script),
    /// There is none: only agents are tested.
    Nobody,
}

impl Server {
    /// The one that tests have that only run agents.
    pub(crate) fn nobody() -> Server {
        Server {
            name: String::new(),
            span: Span::default(),
            way: Way::Nobody,
            timeout: None,
            protocols: Vec::new(),
            transports: Vec::new(),
            concurrency: 1,
            capabilities: None,
        }
    }
}

impl Way {
    /// The texts with holes in it.
    pub(crate) fn trees(&self) -> Vec<&Tree> {
        match self {
            Way::Child(command) => command.trees().collect(),
            Way::Container(Container { name, engine, command }) => {
                std::iter::once(name).chain(engine).chain(command.trees()).collect()
            }
            Way::Http(address) => {
                let headers = address.headers.iter().map(|(_, tree)| tree);
                std::iter::once(&address.url).chain(&address.bearer).chain(headers).collect()
            }
            Way::Mock(script) => script.trees(),
            Way::Nobody => Vec::new(),
        }
    }
}

impl Command {
    /// The texts with holes in it.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &Tree> {
        let env = self.env.iter().map(|(_, tree)| tree);
        std::iter::once(&self.program).chain(&self.args).chain(env).chain(&self.cwd)
    }
}

impl Script {
    /// The texts with holes in it.
    pub(crate) fn trees(&self) -> Vec<&Tree> {
        std::iter::once(&self.path).chain(self.vars.iter().map(|(_, tree)| tree)).collect()
    }
}

/// A program to start in a container.
#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) name: Tree,
    /// The engine's program and its own flags, as one line.
    pub(crate) engine: Option<Tree>,
    pub(crate) command: Command,
}

/// A program to start.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) program: Tree,
    pub(crate) args: Vec<Tree>,
    pub(crate) env: Vec<(String, Tree)>,
    pub(crate) cwd: Option<Tree>,
}

/// A server over HTTP.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) url: Tree,
    pub(crate) bearer: Option<Tree>,
    pub(crate) headers: Vec<(String, Tree)>,
}

/// A mock.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) path: Tree,
    pub(crate) vars: Vec<(String, Tree)>,
}
