//! From the flags to servers that are connected, with what there is to say of
//! those that are not.

use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use sparring_host::config::{Config, Rules, State};
use sparring_host::manager::{Connection, Error, Manager};
use sparring_host::permissions::{
    Asker, Audit, Findings, Gate, GateOptions, Grants, Permissions, Reason, Source,
};
use sparring_host::registry::Registry;
use sparring_peer::{ClientBuilder, ClientOptions};
use sparring_wire::types::Implementation;

use super::{Host, Servers};
use crate::configured;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Printer;

/// How much of its traffic a connection keeps.
const TRANSCRIPT: usize = 1024 * 1024;

/// What a verb puts into a host.
pub(crate) struct Wiring {
    /// Who is asked whether a tool may be called.
    pub(crate) asker: Option<Arc<dyn Asker>>,
    /// What all clients are made from.
    pub(crate) client: ClientBuilder,
}

impl Default for Wiring {
    fn default() -> Self {
        let options = ClientOptions {
            info: Implementation::new("spar", env!("CARGO_PKG_VERSION")),
            transcript_bytes: TRANSCRIPT,
            ..ClientOptions::default()
        };
        Wiring { asker: None, client: ClientBuilder::with_options(options) }
    }
}

impl Servers {
    /// Reads what is configured, and has the servers ready to be connected.
    /// What is wrong with those that nobody named is a note.
    ///
    /// # Errors
    /// When a server that was named cannot be used, a pattern is none, or a file
    /// cannot be read or written.
    pub(crate) async fn host(
        &self,
        wiring: Wiring,
        environment: &Environment,
        printer: &Printer,
    ) -> Result<Host, Failure> {
        let source = self.source(environment, printer)?;
        let (config, servers) = source.read_beside().await?;
        self.tell(&config, printer).await;
        let rules = Rules { deny: self.deny.clone(), ask: vec![], allow: self.allow.clone() };
        let (permissions, findings) = Permissions::about_these(&config, rules.clone(), &servers);
        tell_findings(findings, printer).await?;
        let (grants, note) = match &environment.grants {
            Some(folder) => Grants::open(folder),
            None => Default::default(),
        };
        if let Some(note) = note {
            printer.note(&note).await;
        }
        let audit = self.audit.clone().map(Audit::open).transpose();
        let audit = audit.map_err(|error| Failure::File(error.to_string()))?;
        let options = GateOptions { asker: wiring.asker, grants, audit, ..Default::default() };
        let registry = Arc::new(Registry::new(Gate::new(permissions, options)));
        let manager = Manager::builder().servers(servers).client(wiring.client).build();
        let (rules, named) = (Mutex::new(rules), self.named.clone());
        Ok(Host { config: Arc::new(config), manager, registry, rules, named, source })
    }

    /// Says which servers are not there, and why, unless nobody wants them.
    async fn tell(&self, config: &Config, printer: &Printer) {
        for fault in &config.faults {
            let file = configured::file(fault);
            printer.note(&format!("{file} cannot be used, and `spar config check` says why")).await;
        }
        if !self.named.is_empty() {
            return;
        }
        let of_state = |is: fn(&State) -> bool| {
            let names = config.servers.iter().filter(move |(_, it)| it.enabled && is(&it.state));
            names.map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let broken = of_state(|state| matches!(state, State::Broken(_)));
        if !broken.is_empty() {
            // With one file that is named, that verb knows nothing of it.
            let why = match &self.config {
                None => "`spar config check` says why".to_owned(),
                Some(_) => first_problem(config),
            };
            printer.note(&format!("not usable: {broken}; {why}")).await;
        }
        let untrusted = of_state(|state| matches!(state, State::Untrusted(_)));
        if !untrusted.is_empty() {
            let how = "`spar config trust` trusts their files, and --server NAME one of them once";
            printer.note(&format!("not trusted: {untrusted}; {how}")).await;
        }
    }
}

impl Host {
    /// The servers that are connected without a session that says which: those
    /// that were named, or all that are to be connected by themselves.
    pub(super) fn by_themselves(&self) -> Vec<String> {
        if !self.named.is_empty() {
            return self.named.clone();
        }
        let servers = self.manager.servers();
        let wanted = servers.iter().filter(|it| it.config.enabled && it.config.auto_connect);
        wanted.map(|it| it.config.name.clone()).collect()
    }

    /// Connects the servers that are connected without a session.
    ///
    /// # Errors
    /// When some were named, and none of them can be connected to.
    pub(crate) async fn connect(&self, printer: &Printer) -> Result<(), Failure> {
        self.connect_to(&self.by_themselves(), printer).await
    }

    /// Connects these servers. One that cannot be is a note.
    ///
    /// # Errors
    /// As [`Host::connect`].
    pub(super) async fn connect_to(
        &self,
        names: &[String],
        printer: &Printer,
    ) -> Result<(), Failure> {
        let connecting = names.iter().map(|name| self.manager.connect(name));
        self.connected(join_all(connecting).await, printer).await
    }

    async fn connected(
        &self,
        outcomes: Vec<Result<Connection, Error>>,
        printer: &Printer,
    ) -> Result<(), Failure> {
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
            return Err(Failure::NoServer(error));
        }
        self.registry.sync(&self.manager);
        for note in self.registry.unfit_rules() {
            printer.note(&note).await;
        }
        if let Some(note) = undecided(&self.registry) {
            printer.note(&note).await;
        }
        Ok(())
    }
}

/// What there is to say of tools that no rule decides about, where nobody can be
/// asked.
fn undecided(registry: &Registry) -> Option<String> {
    let hidden = registry.hidden();
    let undecided: Vec<_> =
        hidden.iter().filter(|(_, why)| matches!(why, Reason::Nobody(_))).collect();
    let (first, _) = undecided.first()?;
    let (what, them) = match undecided.len() {
        1 => ("1 tool is".to_owned(), "it"),
        many => (format!("{many} tools are"), "them"),
    };
    let server = &first.server;
    Some(format!(
        "{what} hidden, since no rule allows {them} and nobody can be asked: \
         --allow mcp__{server} allows all of `{server}`"
    ))
}

/// Tells what there is to say of rules.
///
/// # Errors
/// When one that was typed means nothing.
pub(super) async fn tell_findings(findings: Findings, printer: &Printer) -> Result<(), Failure> {
    for (rule, error) in findings.errors {
        match rule.source {
            Source::Session => return Err(Failure::Usage(error.to_string())),
            _ => printer.note(&error.to_string()).await,
        }
    }
    for note in findings.notes {
        printer.note(&note).await;
    }
    Ok(())
}

fn first_problem(config: &Config) -> String {
    let of_servers = config.servers.values().find_map(|it| match &it.state {
        State::Broken(problems) => problems.iter().next().map(|problem| {
            let (source, at) = (problems.source(), problems.source().position(problem.span.start));
            format!("{}:{}:{}: {}", source.name(), at.line, at.column, problem.message)
        }),
        _ => None,
    });
    of_servers.unwrap_or_default()
}
