//! Builds a host from the flags, and connects its servers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use clap::Args;
use futures_util::future::join_all;
use sparring_host::config::{Config, EntryState, Rules};
use sparring_host::manager::{Connection, Error, Manager};
use sparring_host::permissions::{
    Asker, AuditLog, Findings, Grants, PermissionGate, PermissionGateOptions, Permissions, Reason,
    Source,
};
use sparring_host::registry::Registry;
use sparring_peer::client::ServerRequest;
use sparring_peer::{ClientBuilder, ClientOptions};
use sparring_transport::Target;
use sparring_wire::types::Implementation;

use super::config_source::first_problem;
use super::own_server::OwnServer;
use super::{Host, Roots};
use crate::command_error::CommandError;
use crate::configured_servers;
use crate::environment::Environment;
use crate::output::Printer;

/// The flags that select servers and permissions.
#[derive(Args, Debug, Clone)]
#[group(skip)]
pub(crate) struct ServerFlags {
    /// Use only this configured server; may be repeated. Naming it permits its entry for
    /// this run
    #[arg(long = "server", value_name = "NAME", help_heading = "Servers")]
    pub(super) named: Vec<String>,

    /// Use only the servers of this file: JSON with mcpServers, or YAML with servers.
    /// Naming it permits the whole file for this run
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub(super) config: Option<PathBuf>,

    /// The server of the command line, instead of the configured ones.
    #[arg(skip)]
    pub(super) own: Option<Box<OwnServer>>,

    /// Let servers work in this folder (roots/list); may be repeated [default: roots of the
    /// config files]
    #[arg(long = "root", value_name = "DIR", help_heading = "Servers")]
    pub(super) roots: Vec<PathBuf>,

    /// Call these tools without asking: mcp__SERVER, mcp__SERVER__* or
    /// mcp__SERVER__get_*; may be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Permissions")]
    pub(super) allow: Vec<String>,

    /// Never call these tools, even if another rule allows them; may be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Permissions")]
    pub(super) deny: Vec<String>,

    /// Append a line to this file for every decision about a call
    #[arg(long, value_name = "FILE", help_heading = "Permissions")]
    pub(super) audit: Option<PathBuf>,
}

/// Maximum bytes of a connection's transcript.
const MAX_TRANSCRIPT_BYTES: usize = 1024 * 1024;

/// The number of tools above which a note is printed: the limit of OpenAI's API.
const MANY_TOOLS: usize = 128;

/// The options that a verb adds to a host.
pub(crate) struct HostOptions {
    /// Asks the user for permission to call a tool.
    pub(crate) asker: Option<Arc<dyn Asker>>,
    /// The builder of all clients.
    pub(crate) client: ClientBuilder,
}

impl Default for HostOptions {
    fn default() -> Self {
        let options = ClientOptions {
            info: Implementation::new("spar", env!("CARGO_PKG_VERSION")),
            max_transcript_bytes: MAX_TRANSCRIPT_BYTES,
            ..ClientOptions::default()
        };
        HostOptions { asker: None, client: ClientBuilder::with_options(options) }
    }
}

impl ServerFlags {
    /// Uses only this target, under the name `server`.
    pub(crate) fn use_only(&mut self, target: Target) {
        self.own = Some(Box::new(OwnServer::new(target)));
    }

    /// Reads the configuration and prepares the servers. Problems of servers that were
    /// not named are notes.
    ///
    /// # Errors
    /// When a named server cannot be used, a pattern is invalid, or a file cannot be read
    /// or written.
    pub(crate) async fn open_host(
        &self,
        host_options: HostOptions,
        environment: &Environment,
        printer: &Printer,
    ) -> Result<Host, CommandError> {
        let source = self.source(environment, printer)?;
        let (config, servers) = source.read_in_background().await?;
        self.print_unusable_servers(&config, printer).await;
        let rules = Rules { deny: self.deny.clone(), ask: vec![], allow: self.allow.clone() };
        let (permissions, findings) = Permissions::for_servers(&config, rules.clone(), &servers);
        print_findings(findings, printer).await?;
        let (grants, note) = match &environment.grants_folder {
            Some(folder) => Grants::open(folder),
            None => Default::default(),
        };
        if let Some(note) = note {
            printer.note(&note).await;
        }
        let audit = self.audit.clone().map(AuditLog::open).transpose();
        let audit = audit.map_err(|error| CommandError::File(error.to_string()))?;
        let options = PermissionGateOptions {
            asker: host_options.asker,
            grants,
            audit,
            ..Default::default()
        };
        let registry = Arc::new(Registry::new(PermissionGate::new(permissions, options)));
        let roots = Roots::find(&self.roots, &config, environment, printer).await?;
        let client = match roots.value() {
            Some(value) => host_options
                .client
                .answer(ServerRequest::Roots, move |_| std::future::ready(Ok(value.clone()))),
            None => host_options.client,
        };
        let manager = Manager::builder().servers(servers).client(client).build();
        let (rules, named) = (Mutex::new(rules), self.named.clone());
        Ok(Host { config: Arc::new(config), manager, registry, rules, named, roots, source })
    }

    /// Prints each unusable server with the reason, unless servers were named.
    async fn print_unusable_servers(&self, config: &Config, printer: &Printer) {
        for fault in &config.faults {
            let file = configured_servers::fault_file(fault);
            printer
                .note(&format!("{file} is ignored because of errors; run `spar config check`"))
                .await;
        }
        if !self.named.is_empty() {
            return;
        }
        let of_state = |is: fn(&EntryState) -> bool| {
            let names = config.servers.iter().filter(move |(_, it)| it.enabled && is(&it.state));
            names.map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let broken = of_state(|state| matches!(state, EntryState::Invalid(_)));
        if !broken.is_empty() {
            // `spar config check` does not read the file of `--config`.
            let why = match &self.config {
                None => "run `spar config check`".to_owned(),
                Some(_) => first_broken_server(config),
            };
            printer.note(&format!("servers with errors: {broken}; {why}")).await;
        }
        let untrusted = of_state(|state| matches!(state, EntryState::Untrusted(_)));
        if !untrusted.is_empty() {
            let how = "run `spar config trust`, or use --server NAME for one run";
            printer.note(&format!("servers in untrusted files: {untrusted}; {how}")).await;
        }
    }
}

impl Host {
    /// The servers to connect without a saved session: the named ones, or all with
    /// `auto_connect`.
    pub(super) fn servers_to_connect(&self) -> Vec<String> {
        if !self.named.is_empty() {
            return self.named.clone();
        }
        let servers = self.manager.servers();
        let wanted = servers.iter().filter(|it| it.config.enabled && it.config.auto_connect);
        wanted.map(|it| it.config.name.clone()).collect()
    }

    /// Connects the servers of [`Host::servers_to_connect`].
    ///
    /// # Errors
    /// When servers were named, and none of them can be connected.
    pub(crate) async fn connect(&self, printer: &Printer) -> Result<(), CommandError> {
        self.connect_to(&self.servers_to_connect(), printer).await
    }

    /// Connects these servers. A server that cannot be connected is a note.
    ///
    /// # Errors
    /// As [`Host::connect`].
    pub(super) async fn connect_to(
        &self,
        names: &[String],
        printer: &Printer,
    ) -> Result<(), CommandError> {
        let connecting = names.iter().map(|name| self.manager.connect(name));
        self.report_connections(join_all(connecting).await, printer).await
    }

    async fn report_connections(
        &self,
        outcomes: Vec<Result<Connection, Error>>,
        printer: &Printer,
    ) -> Result<(), CommandError> {
        let none = outcomes.iter().all(Result::is_err);
        let mut failed: Vec<Error> = outcomes.into_iter().filter_map(Result::err).collect();
        let last = match none && !self.named.is_empty() {
            true => failed.pop(),
            false => None,
        };
        for error in &failed {
            printer.note(&format!("not connected: {error}")).await;
        }
        if let Some(error) = last {
            return Err(CommandError::NoServer(error));
        }
        self.registry.sync(&self.manager);
        for note in self.registry.unmatched_rules() {
            printer.note(&note).await;
        }
        if let Some(note) = undecided_tools_note(&self.registry) {
            printer.note(&note).await;
        }
        Ok(())
    }
}

/// Warns about more tools than a model can use well. Some APIs reject more than this.
pub(crate) fn many_tools_note(tools: usize) -> Option<String> {
    let text = format!(
        "a model would get {tools} tools; more than {MANY_TOOLS} cost many tokens, and some APIs \
         reject them; select servers with --server, or tools with --deny"
    );
    (tools > MANY_TOOLS).then_some(text)
}

/// Describes the tools that no rule decides about, when no user can be asked.
fn undecided_tools_note(registry: &Registry) -> Option<String> {
    let hidden = registry.hidden();
    let undecided: Vec<_> =
        hidden.iter().filter(|(_, why)| matches!(why, Reason::NoAsker(_))).collect();
    let (first, _) = undecided.first()?;
    let (what, them) = match undecided.len() {
        1 => ("1 tool is".to_owned(), "it"),
        many => (format!("{many} tools are"), "them"),
    };
    let server = &first.server;
    Some(format!(
        "{what} hidden: no rule allows {them} and no user can be asked; --allow mcp__{server} \
         allows all tools of `{server}`"
    ))
}

/// Prints problems and notes about rules.
///
/// # Errors
/// When a rule from the command line is invalid.
pub(super) async fn print_findings(
    findings: Findings,
    printer: &Printer,
) -> Result<(), CommandError> {
    for (rule, error) in findings.errors {
        match rule.source {
            Source::Session => return Err(CommandError::Usage(error.to_string())),
            _ => printer.note(&error.to_string()).await,
        }
    }
    for note in findings.notes {
        printer.note(&note).await;
    }
    Ok(())
}

fn first_broken_server(config: &Config) -> String {
    let broken = config.servers.values().find_map(|it| match &it.state {
        EntryState::Invalid(problems) => Some(first_problem(problems)),
        _ => None,
    });
    broken.unwrap_or_default()
}
