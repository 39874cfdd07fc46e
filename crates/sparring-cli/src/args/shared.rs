//! The flags that every verb with a target has.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ColorChoice};
use sparring_peer::{ClientOptions, Protocol};
use sparring_transport::{ChildTarget, Target, UnixTarget};
use sparring_wire::Revision;

use super::container::Container;
use super::http::Http;
use super::transport::Transport;
use super::{pair, quantity};
use crate::configured::{self, Named};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::{Outlet, Printer};

/// How long connecting may take, and then each request.
const PATIENCE: Duration = Duration::from_secs(30);

/// What to talk to, how, and how to tell of it.
#[derive(Args)]
pub(crate) struct Shared {
    #[command(flatten)]
    whom: Whom,
    #[command(flatten)]
    child: Child,
    #[command(flatten)]
    container: Container,
    #[command(flatten)]
    http: Http,
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(flatten)]
    pub(crate) look: Look,
    /// Set with the target, where that is a configured server.
    #[arg(skip)]
    unfilled: Option<Target>,
}

/// The target: one of these.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Whom {
    /// The server's command and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,

    /// Connect to the Unix socket at this path
    #[arg(long, value_name = "PATH", help_heading = "Target")]
    unix: Option<PathBuf>,

    /// Connect to the server at this URL; http+unix://%2FPATH/mcp is a Unix
    /// socket
    #[arg(long, value_name = "URL", help_heading = "Target")]
    url: Option<String>,

    /// Talk to the configured server of this name; spar config list shows
    /// which there are
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    server: Option<String>,
}

/// How a command is run.
#[derive(Args)]
#[group(skip)]
struct Child {
    /// Set a variable in the command's environment; may be repeated
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Target")]
    #[arg(conflicts_with_all = ["unix", "url", "server"])]
    env: Vec<String>,

    /// Run the command in this directory; with --container it is one in there
    #[arg(long, value_name = "DIR", help_heading = "Target")]
    #[arg(conflicts_with_all = ["unix", "url", "server"])]
    cwd: Option<PathBuf>,

    /// Pass the command's stderr on as it comes
    #[arg(long, conflicts_with_all = ["unix", "url"], help_heading = "Target")]
    show_stderr: bool,
}

/// How to talk.
#[derive(Args)]
#[group(skip)]
pub(crate) struct Connection {
    /// The way to the target; to a URL `auto` is Streamable HTTP, and HTTP+SSE
    /// where that is not there
    #[arg(
        long,
        value_name = "WAY",
        default_value = "auto",
        conflicts_with_all = ["unix", "server"],
        help_heading = "Connection"
    )]
    transport: Transport,

    /// The protocol revision; `auto`, which it is if nothing else is said,
    /// takes the newest that the server has
    #[arg(long, value_name = "REVISION", value_parser = protocol(), help_heading = "Connection")]
    protocol: Option<Protocol>,

    /// How long connecting may take as a whole, and then each request; 30s if
    /// nothing else is said
    #[arg(long, value_name = "TIME", value_parser = quantity::time, help_heading = "Connection")]
    timeout: Option<Duration>,

    /// How long a stray line or foreign reply may be followed by the right one
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = quantity::time, help_heading = "Connection")]
    grace: Duration,

    /// The longest message that is read: a line, an HTTP answer or an event;
    /// 8MiB if nothing else is said
    #[arg(long, value_name = "SIZE", value_parser = sparring_script::size, help_heading = "Connection")]
    max_line: Option<usize>,

    /// Write every frame, both ways, and every HTTP exchange to this file as
    /// JSON lines
    #[arg(long, value_name = "FILE", help_heading = "Connection")]
    pub(crate) trace: Option<PathBuf>,
}

/// How to tell of it.
#[derive(Args, Clone)]
#[group(skip)]
pub(crate) struct Look {
    /// Print one line of JSON for programs: the result as the server spelled
    /// it, or {"error":{"kind":…,"message":…}}
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Print no notes; errors are still told
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// When to use colours; NO_COLOR is respected
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub(crate) color: ColorChoice,
}

impl Shared {
    /// The target that the flags name. What a configured server's entry says of
    /// talking to it counts where no flag does.
    ///
    /// # Errors
    /// When the flags contradict each other, a value is none, or there is no such
    /// server; what was typed may be a secret, and is not shown.
    pub(crate) async fn target(
        &mut self,
        environment: &Environment,
        printer: &Printer,
    ) -> Result<Target, Failure> {
        match &self.whom.server {
            Some(name) => {
                let Named { server, unfilled } =
                    configured::named(name, environment, printer).await?;
                self.connection.protocol.get_or_insert(server.protocol);
                self.connection.timeout.get_or_insert(server.timeout);
                self.unfilled = Some(unfilled);
                Ok(self.connection.bounded(server.target))
            }
            None => self.typed_target(environment, printer.stderr()),
        }
    }

    fn typed_target(&self, environment: &Environment, stderr: &Outlet) -> Result<Target, Failure> {
        let transport = self.connection.transport;
        if let Some(path) = &self.whom.unix {
            let target = Target::Unix(UnixTarget::new(path));
            return Ok(self.connection.bounded(target));
        }
        if let Some(url) = &self.whom.url {
            let mut target = self.http.target(url, environment, stderr)?;
            target.transport = transport.over_http(self.connection.protocol())?;
            return Ok(self.connection.bounded(Target::Http(target)));
        }
        transport.to_command()?;
        let mut words = self.whom.command.iter();
        let program = words.next().filter(|program| !program.is_empty());
        let program = program.ok_or_else(|| Failure::Usage("the command is empty".to_owned()))?;
        let mut target = ChildTarget::new(program).args(words);
        for variable in &self.child.env {
            let variable = pair::variable(variable);
            let (name, value) = variable.ok_or_else(|| {
                Failure::Usage("a value of --env is not of the form NAME=VALUE".to_owned())
            })?;
            target.env.insert(name, value);
        }
        target.cwd.clone_from(&self.child.cwd);
        Ok(self.connection.bounded(match self.container.target(&target)? {
            Some(container) => Target::Container(container),
            None => Target::Child(target),
        }))
    }

    /// The target with nothing filled into its texts, where it is a configured
    /// server: what it is filled with may be a secret.
    pub(crate) fn unfilled(&self) -> Option<&Target> {
        self.unfilled.as_ref()
    }

    /// Whether a target is named; only one verb can do without.
    pub(crate) fn has_target(&self) -> bool {
        let Whom { command, unix, url, server } = &self.whom;
        !command.is_empty() || unix.is_some() || url.is_some() || server.is_some()
    }

    /// The revision that the flags ask for.
    pub(crate) fn protocol(&self) -> Option<Revision> {
        match self.connection.protocol() {
            Protocol::Only(revision) => Some(revision),
            _ => None,
        }
    }

    /// Whether the target's stderr is passed on.
    pub(crate) fn show_stderr(&self) -> bool {
        self.child.show_stderr
    }

    /// The client that the flags describe.
    pub(crate) fn client(&self) -> ClientOptions {
        ClientOptions {
            info: sparring_wire::types::Implementation::new("spar", env!("CARGO_PKG_VERSION")),
            protocol: self.connection.protocol(),
            timeout: self.connection.timeout(),
            grace: self.connection.grace,
            ..ClientOptions::default()
        }
    }
}

impl Connection {
    /// How long connecting may take as a whole, and then each request.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(PATIENCE)
    }

    fn protocol(&self) -> Protocol {
        self.protocol.unwrap_or(Protocol::Auto)
    }

    /// The target with what was said of how long things may be or take.
    fn bounded(&self, mut target: Target) -> Target {
        let longest = match &mut target {
            Target::Child(child) => &mut child.max_line,
            Target::Container(container) => {
                container.ready_within = self.timeout();
                &mut container.command.max_line
            }
            Target::Unix(unix) => &mut unix.max_line,
            Target::Http(http) => &mut http.max_message,
            _ => return target,
        };
        *longest = self.max_line.unwrap_or(*longest);
        target
    }
}

fn protocol() -> impl clap::builder::TypedValueParser<Value = Protocol> {
    let names = Revision::ALL.map(Revision::name);
    PossibleValuesParser::new(std::iter::once("auto").chain(names))
        .map(|name| Revision::from_name(&name).map_or(Protocol::Auto, Protocol::Only))
}
