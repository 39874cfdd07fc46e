//! The flags of every verb with a target.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{ArgAction, Args, ColorChoice, ValueEnum};
use sparring_host::permissions::{Permissions, Rule, Verdict};
use sparring_peer::{ClientOptions, Protocol};
use sparring_transport::http::HttpTransport;
use sparring_transport::{ChildTarget, Target, UnixTarget};
use sparring_wire::Revision;

use super::container::ContainerFlags;
use super::http::HttpFlags;
use super::values;
use crate::command_error::CommandError;
use crate::configured_servers::{self, NamedServer};
use crate::environment::Environment;
use crate::output::{Printer, ThreadedWriter};

/// Limit for connecting and for each request.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The target, the connection and the output.
#[derive(Args)]
pub(crate) struct TargetFlags {
    #[command(flatten)]
    choice: TargetChoice,
    #[command(flatten)]
    child: CommandFlags,
    #[command(flatten)]
    container: ContainerFlags,
    #[command(flatten)]
    http: HttpFlags,
    #[command(flatten)]
    pub(crate) connection: ConnectionFlags,
    #[command(flatten)]
    pub(crate) output_flags: OutputFlags,
    /// The target before its variables are filled in. Set when the target is a configured
    /// server.
    #[arg(skip)]
    target_template: Option<Target>,
    /// The rules for the tools of a configured server.
    #[arg(skip)]
    permissions: Option<Permissions>,
}

/// Exactly one of these names the target.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct TargetChoice {
    /// The server's command and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,

    /// Connect to the Unix socket at this path
    #[arg(long, value_name = "PATH", help_heading = "Target")]
    unix: Option<PathBuf>,

    /// Connect to the server at this URL; http+unix://%2FPATH/mcp uses a Unix socket
    #[arg(long, value_name = "URL", help_heading = "Target")]
    url: Option<String>,

    /// Connect to the configured server with this name; spar config list shows all of
    /// them
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    server: Option<String>,
}

/// The flags for running a command.
#[derive(Args)]
#[group(skip)]
struct CommandFlags {
    /// Set a variable in the command's environment; may be repeated
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Target")]
    #[arg(conflicts_with_all = ["unix", "url", "server"])]
    env: Vec<String>,

    /// Run the command in this directory; with --container, a directory in the container
    #[arg(long, value_name = "DIR", help_heading = "Target")]
    #[arg(conflicts_with_all = ["unix", "url", "server"])]
    cwd: Option<PathBuf>,

    /// Copy the command's stderr to stderr
    #[arg(long, conflicts_with_all = ["unix", "url"], help_heading = "Target")]
    show_stderr: bool,

    /// Print text of the target as it is, with control characters
    #[arg(long, help_heading = "Target")]
    raw: bool,
}

/// The flags of the connection.
#[derive(Args)]
#[group(skip)]
pub(crate) struct ConnectionFlags {
    /// The transport; for a URL, `auto` tries Streamable HTTP first and HTTP+SSE second
    #[arg(
        long,
        value_name = "TRANSPORT",
        default_value = "auto",
        conflicts_with_all = ["unix", "server"],
        help_heading = "Connection"
    )]
    transport: TransportFlag,

    /// The protocol revision; `auto` takes the newest that the server supports [default:
    /// auto]
    #[arg(long, value_name = "REVISION", value_parser = protocol_parser(), action = ArgAction::Set, help_heading = "Connection")]
    protocol: Vec<Protocol>,

    /// Limit for connecting, and for each request [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = values::parse_duration, help_heading = "Connection")]
    timeout: Option<Duration>,

    /// Wait for the right response after a stray line or a response with a wrong id
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = values::parse_duration, help_heading = "Connection")]
    grace: Duration,

    /// The longest message to read: a line, an HTTP body or an event [default: 8MiB]
    #[arg(long, value_name = "SIZE", value_parser = sparring_script::parse_size, help_heading = "Connection")]
    max_line: Option<usize>,

    /// Write every frame in both directions and every HTTP exchange to this file, as JSON
    /// lines
    #[arg(long, value_name = "FILE", help_heading = "Connection")]
    pub(crate) trace: Option<PathBuf>,
}

/// The flags of the output.
#[derive(Args, Clone)]
#[group(skip)]
pub(crate) struct OutputFlags {
    /// Print the result as one line of JSON, or {"error":{"kind":…,"message":…}}
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Print errors only, no notes
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// When to use colours; NO_COLOR turns them off
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub(crate) color: ColorChoice,
}

impl TargetFlags {
    /// Returns the target that the flags name. The entry of a configured server supplies
    /// the values that no flag sets.
    ///
    /// # Errors
    /// When flags contradict each other, a value is invalid, or no such server is
    /// configured. Values may be secrets, so the error does not show them.
    pub(crate) async fn resolve_target(
        &mut self,
        environment: &Environment,
        printer: &Printer,
    ) -> Result<Target, CommandError> {
        let target = match &self.choice.server {
            Some(name) => {
                let NamedServer { server, template, permissions } =
                    configured_servers::find_server(name, environment, printer).await?;
                if self.connection.protocol.is_empty() {
                    self.connection.protocol.push(server.protocol);
                }
                self.connection.timeout.get_or_insert(server.timeout);
                self.target_template = Some(template);
                self.permissions = Some(permissions);
                self.connection.with_limits(server.target)
            }
            None => self.target_from_flags(environment, printer.stderr())?,
        };
        Ok(target.with_secrets(printer.secrets()))
    }

    fn target_from_flags(
        &self,
        environment: &Environment,
        stderr: &ThreadedWriter,
    ) -> Result<Target, CommandError> {
        let transport = self.connection.transport;
        if let Some(path) = &self.choice.unix {
            let target = Target::Unix(UnixTarget::new(path));
            return Ok(self.connection.with_limits(target));
        }
        if let Some(url) = &self.choice.url {
            let mut target = self.http.target(url, environment, stderr)?;
            target.transport = transport.to_http(self.connection.protocol())?;
            return Ok(self.connection.with_limits(Target::Http(target)));
        }
        transport.check_for_command()?;
        let mut words = self.choice.command.iter();
        let program = words.next().filter(|program| !program.is_empty());
        let program =
            program.ok_or_else(|| CommandError::Usage("the command is empty".to_owned()))?;
        let mut target = ChildTarget::new(program).args(words);
        for variable in &self.child.env {
            let variable = values::parse_variable(variable);
            let (name, value) = variable
                .ok_or_else(|| CommandError::Usage("--env: expected NAME=VALUE".to_owned()))?;
            target.env.insert(name, value);
        }
        target.cwd.clone_from(&self.child.cwd);
        Ok(self.connection.with_limits(match self.container.target(&target)? {
            Some(container) => Target::Container(container),
            None => Target::Child(target),
        }))
    }

    /// The target of a configured server before its variables are filled in, since their
    /// values may be secrets.
    pub(crate) fn target_template(&self) -> Option<&Target> {
        self.target_template.as_ref()
    }

    /// Returns the rule of the config files that denies a tool of the configured server, and
    /// the server's name.
    pub(crate) fn denying_rule(&self, tool: &str) -> Option<(&str, Arc<Rule>)> {
        let (server, permissions) = (self.choice.server.as_ref()?, self.permissions.as_ref()?);
        let decision = permissions.decide(server, tool);
        let denied = decision.rule.filter(|_| decision.verdict == Verdict::Deny);
        denied.map(|rule| (server.as_str(), rule))
    }

    /// Returns true if a target is named. Only `init` works without one.
    pub(crate) fn has_target(&self) -> bool {
        let TargetChoice { command, unix, url, server } = &self.choice;
        !command.is_empty() || unix.is_some() || url.is_some() || server.is_some()
    }

    /// The revision that the flags select.
    pub(crate) fn revision(&self) -> Option<Revision> {
        match self.connection.protocol() {
            Protocol::Only(revision) => Some(revision),
            _ => None,
        }
    }

    /// The revisions that the flags select; empty for all.
    pub(crate) fn revisions(&self) -> Vec<Revision> {
        let all = self.connection.protocol.iter().filter_map(|protocol| match protocol {
            Protocol::Only(revision) => Some(*revision),
            _ => None,
        });
        let mut all: Vec<Revision> = all.collect();
        all.sort();
        all.dedup();
        all
    }

    /// Returns true if the target's stderr is copied to ours.
    pub(crate) fn show_stderr(&self) -> bool {
        self.child.show_stderr
    }

    /// Returns true if text of the target is printed as it is.
    pub(crate) fn raw(&self) -> bool {
        self.child.raw
    }

    /// Returns the options of the client.
    pub(crate) fn client_options(&self) -> ClientOptions {
        ClientOptions {
            info: sparring_wire::types::Implementation::new("spar", env!("CARGO_PKG_VERSION")),
            protocol: self.connection.protocol(),
            timeout: self.connection.timeout(),
            grace_period: self.connection.grace,
            ..ClientOptions::default()
        }
    }
}

impl ConnectionFlags {
    /// Limit for connecting, and for each request.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// The limit that a flag or the entry of a configured server sets, unless it is the
    /// default.
    pub(crate) fn own_timeout(&self) -> Option<Duration> {
        self.timeout.filter(|timeout| *timeout != DEFAULT_TIMEOUT)
    }

    fn protocol(&self) -> Protocol {
        self.protocol.first().copied().unwrap_or(Protocol::Auto)
    }

    /// Applies the limits of the flags to the target.
    fn with_limits(&self, mut target: Target) -> Target {
        let longest = match &mut target {
            Target::Child(child) => &mut child.max_line,
            Target::Container(container) => {
                container.ready_timeout = self.timeout();
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

fn protocol_parser() -> impl clap::builder::TypedValueParser<Value = Protocol> {
    let names = Revision::ALL.map(Revision::name);
    PossibleValuesParser::new(std::iter::once("auto").chain(names))
        .map(|name| Revision::from_name(&name).map_or(Protocol::Auto, Protocol::Only))
}

/// The transports that can be selected: automatic, a command's stdin and stdout,
/// Streamable HTTP, and the HTTP+SSE of 2024-11-05.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TransportFlag {
    Auto,
    Stdio,
    Http,
    Sse,
}

impl TransportFlag {
    /// Returns the transport to a URL.
    ///
    /// # Errors
    /// When the transport is not for URLs, or does not exist in that revision.
    fn to_http(self, protocol: Protocol) -> Result<HttpTransport, CommandError> {
        match (self, protocol) {
            (TransportFlag::Stdio, _) => {
                Err(transport_error("stdio requires a command, not --url"))
            }
            (TransportFlag::Sse, Protocol::Only(revision)) if revision.is_modern() => {
                let name = revision.name();
                Err(transport_error(&format!("sse does not exist in {name}; use --transport http")))
            }
            (TransportFlag::Sse, _) => Ok(HttpTransport::Sse),
            (TransportFlag::Http, _) => Ok(HttpTransport::Streamable),
            (TransportFlag::Auto, _) => Ok(HttpTransport::Auto),
        }
    }

    /// Checks that the transport is one to a command.
    ///
    /// # Errors
    /// When it is not.
    fn check_for_command(self) -> Result<(), CommandError> {
        match self {
            TransportFlag::Auto | TransportFlag::Stdio => Ok(()),
            TransportFlag::Http => Err(transport_error("http requires --url, not a command")),
            TransportFlag::Sse => Err(transport_error("sse requires --url, not a command")),
        }
    }
}

fn transport_error(message: &str) -> CommandError {
    CommandError::Usage(format!("--transport {message}"))
}
