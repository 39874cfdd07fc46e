//! From the flags to servers that are connected, with what there is to say of
//! those that are not.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use sparring_host::config::{
    Config, Fault, Format, Place, Places, Rules, Scope, ServerConfig, State, Surroundings,
};
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
        let (config, sources) = self.read(environment, printer).await?;
        let servers = self.chosen(&config)?;
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
        Ok(Host { config, manager, registry, rules, named, sources })
    }

    /// Reads the files. Who can be asked for inputs is, for the servers that are
    /// used.
    async fn read(
        &self,
        environment: &Environment,
        printer: &Printer,
    ) -> Result<(Config, (Places, Surroundings)), Failure> {
        let places = self.places(environment)?;
        let around = |ask| configured::surroundings(environment, printer.stderr(), ask);
        let unasked = around(Arc::new(configured::unasked));
        let wanted = match self.named.is_empty() {
            true => {
                let config = beside(places.clone(), unasked).await?;
                config.ready().map(|server| server.name.clone()).collect()
            }
            false => self.named.iter().cloned().collect::<BTreeSet<_>>(),
        };
        let asking = around(configured::asking(wanted, environment, printer.stderr()));
        let config = beside(places.clone(), asking.clone()).await?;
        if let Some(file) = &self.config {
            let shown = file.display();
            if config.files.iter().all(|file| !file.is_there) {
                return Err(Failure::File(format!("there is no file {shown}")));
            }
            let own = |fault: &&Fault| configured::file(fault) == shown.to_string();
            match config.faults.iter().find(own) {
                Some(Fault::Wrong(problems)) => {
                    return Err(Failure::Script(vec![problems.clone()]));
                }
                Some(fault) => return Err(Failure::File(fault.to_string())),
                None => {}
            }
        }
        Ok((config, (places, asking)))
    }

    /// The files that there may be, or the one that was named.
    fn places(&self, environment: &Environment) -> Result<Places, Failure> {
        let all = configured::places(environment);
        let Some(file) = &self.config else { return Ok(all) };
        let format = match file.extension().and_then(|it| it.to_str()) {
            Some("json") => Format::McpJson,
            Some("yaml" | "yml") => Format::Yaml,
            _ => {
                let shown = file.display();
                return Err(Failure::Usage(format!(
                    "{shown} is no config file by its name: it must end in .json, .yaml or .yml"
                )));
            }
        };
        let whole = environment.here.join(file);
        let folder = whole.parent().map(ToOwned::to_owned);
        let own = Place { file: file.clone(), format, scope: Scope::User, folder };
        // What it is by its name is trusted all the same: somebody just named it.
        let as_typed = |place| Place { scope: Scope::User, file: file.clone(), ..place };
        let known = all.at(&whole).map(as_typed);
        Ok(Places(vec![known.unwrap_or(own)]))
    }

    /// The servers that are used. What a file that is not trusted allows, it
    /// does not: who named its entry wants the server, and not its rules.
    fn chosen(&self, config: &Config) -> Result<Vec<ServerConfig>, Failure> {
        if self.named.is_empty() {
            return Ok(config.ready().cloned().collect());
        }
        let each = self.named.iter().map(|name| {
            let server = config.by_consent(name);
            let server = server.map_err(|refusal| configured::refused(refusal, &config.faults));
            let mut server = server?.clone();
            if let State::Untrusted(_) = config.servers[name].state {
                server.rules.allow.clear();
            }
            Ok(server)
        });
        each.collect()
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
    /// Connects the servers: those that were named, or all that are to be
    /// connected by themselves. One that cannot be is a note.
    ///
    /// # Errors
    /// When some were named, and none of them can be connected to.
    pub(crate) async fn connect(&self, printer: &Printer) -> Result<(), Failure> {
        let outcomes: Vec<Result<Connection, Error>> = match self.named.is_empty() {
            true => self.manager.connect_all().await.into_iter().map(|(_, it)| it).collect(),
            false => join_all(self.named.iter().map(|name| self.manager.connect(name))).await,
        };
        self.connected(outcomes, printer).await
    }

    /// Takes what came of connecting.
    pub(super) async fn connected(
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
        let hidden = self.registry.hidden();
        let unasked = hidden.iter().filter(|(_, why)| matches!(why, Reason::Nobody(_))).count();
        if unasked > 0 {
            let tools = if unasked == 1 { "tool is" } else { "tools are" };
            let how = "--allow PATTERN or a rule in the config allows them";
            printer.note(&format!("{unasked} {tools} hidden, with nobody to ask: {how}")).await;
        }
        Ok(())
    }
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

/// Reads files on a thread, so that a signal is heeded although nobody answers.
async fn beside(places: Places, surroundings: Surroundings) -> Result<Config, Failure> {
    let read = tokio::task::spawn_blocking(move || Config::read(&places, &surroundings));
    read.await.map_err(|error| Failure::System(std::io::Error::other(error)))
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
