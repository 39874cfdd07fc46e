//! A server under test, as its suite describes it.

use std::time::Duration;

use sparring_script::{Span, TemplateTree};
use sparring_wire::Revision;

use super::Transport;

/// A server under test.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: String,
    /// The position of its name.
    pub(crate) span: Span,
    pub(crate) kind: ServerKind,
    /// The timeout for connecting, and for each request.
    pub(crate) timeout: Option<Duration>,
    /// The maximum number of its tests that run at once.
    pub(crate) concurrency: usize,
    /// The capabilities that the client declares, if the suite sets them.
    pub(crate) capabilities: Option<TemplateTree>,
    /// True if it may end with any exit status when its input ends.
    pub(crate) ignores_exit_status: bool,
    /// The revisions to run its tests in.
    pub(crate) protocols: Vec<Revision>,
    /// The transports to run them over, if it is a mock.
    pub(crate) transports: Vec<Transport>,
}

/// The kind of a server: a command over stdio or HTTP, a container, a URL or a mock.
#[derive(Debug)]
pub(crate) enum ServerKind {
    /// A command that is started.
    Child(Command),
    /// A command that is started in a container.
    Container(Container),
    /// A URL.
    Http(Address),
    /// A command that serves over HTTP and is started.
    HttpProcess(HttpProcess),
    /// A mock script.
    Mock(Script),
    /// No server: the tests only run agents.
    NoServer,
}

impl Server {
    /// The server of tests that only run agents.
    pub(crate) fn none() -> Server {
        Server {
            name: String::new(),
            span: Span::default(),
            kind: ServerKind::NoServer,
            timeout: None,
            protocols: Vec::new(),
            transports: Vec::new(),
            concurrency: 1,
            capabilities: None,
            ignores_exit_status: false,
        }
    }
}

impl ServerKind {
    /// Its templates.
    pub(crate) fn trees(&self) -> Vec<&TemplateTree> {
        match self {
            ServerKind::Child(command) => command.trees().collect(),
            ServerKind::Container(Container { name, engine, command }) => {
                std::iter::once(name).chain(engine).chain(command.trees()).collect()
            }
            ServerKind::Http(address) => address.trees().collect(),
            ServerKind::HttpProcess(process) => {
                let (command, address) = (process.command.trees(), process.address.trees());
                command.chain(address).chain(&process.ready_path).collect()
            }
            ServerKind::Mock(script) => script.trees(),
            ServerKind::NoServer => Vec::new(),
        }
    }
}

impl Command {
    /// Its templates.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &TemplateTree> {
        let env = self.env.iter().map(|(_, tree)| tree);
        std::iter::once(&self.program).chain(&self.args).chain(env).chain(&self.cwd)
    }
}

impl Address {
    /// Its templates.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &TemplateTree> {
        let headers = self.headers.iter().map(|(_, tree)| tree);
        std::iter::once(&self.url).chain(&self.bearer).chain(headers)
    }
}

impl Script {
    /// Its templates.
    pub(crate) fn trees(&self) -> Vec<&TemplateTree> {
        std::iter::once(&self.path).chain(self.vars.iter().map(|(_, tree)| tree)).collect()
    }
}

/// A command to start in a container.
#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) name: TemplateTree,
    /// The command line of the engine.
    pub(crate) engine: Option<TemplateTree>,
    pub(crate) command: Command,
}

/// A command to start.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) program: TemplateTree,
    pub(crate) args: Vec<TemplateTree>,
    pub(crate) env: Vec<(String, TemplateTree)>,
    pub(crate) cwd: Option<TemplateTree>,
}

/// The URL and credentials of a server over HTTP.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) url: TemplateTree,
    pub(crate) bearer: Option<TemplateTree>,
    pub(crate) headers: Vec<(String, TemplateTree)>,
}

/// A command that serves over HTTP.
#[derive(Debug)]
pub(crate) struct HttpProcess {
    pub(crate) command: Command,
    pub(crate) address: Address,
    /// The path of the health check.
    pub(crate) ready_path: Option<TemplateTree>,
    /// The maximum time until it is ready, if the suite sets it.
    pub(crate) ready_timeout: Option<Duration>,
}

/// The script of a mock and its variables.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) path: TemplateTree,
    pub(crate) vars: Vec<(String, TemplateTree)>,
    /// True if the mock over HTTP is a separate process.
    pub(crate) is_process: bool,
}
