//! Reads the configuration that the flags select, and reloads it when it has changed.
//! Each input is asked for once.
//!
//! One rule for all reloads: entries that are valid and trusted are used. A broken entry
//! leaves its server as it was, and so does an untrusted entry that `--server` named. A
//! server whose entry is no longer trusted is removed. `--config FILE` is consent to the text
//! that the file had at the start: commands that were changed since wait for trust.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use sparring_host::config::{
    Config, ConfigContext, ConfigLocation, ConfigLocations, ConfiguredServer, EntryState,
    FileProblem, Format, Scope, ServerConfig, Trust,
};
use sparring_host::manager::Manager;
use sparring_script::Problems;

use super::{ServerFlags, own_server};
use crate::command_error::CommandError;
use crate::configured_servers::{self, KnownInputs};
use crate::environment::Environment;
use crate::output::{Printer, ThreadedWriter};

/// The files and settings that the configuration is read from.
#[derive(Clone)]
pub(crate) struct ConfigSource {
    servers: ServerFlags,
    locations: ConfigLocations,
    context: ConfigContext,
    /// The digest of the file of `--config` at the start. Nothing if the file cannot come from
    /// others, because it is the user's own config file.
    consented_digest: Option<Arc<OnceLock<String>>>,
    known_inputs: KnownInputs,
    can_ask: bool,
    stderr: ThreadedWriter,
}

/// A configuration that was read again.
pub(crate) struct ReloadedConfig {
    pub(crate) config: Config,
    /// The servers to use from now on.
    pub(crate) servers: Vec<ServerConfig>,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
}

impl ServerFlags {
    /// Returns the source for these flags.
    ///
    /// # Errors
    /// When the extension of the named file is unknown.
    pub(super) fn source(
        &self,
        environment: &Environment,
        printer: &Printer,
    ) -> Result<ConfigSource, CommandError> {
        let default_answer = Arc::new(configured_servers::default_answer);
        let all = configured_servers::config_locations(environment);
        let is_own = |file: &PathBuf| {
            all.user_file().is_some_and(|own| own.file == environment.current_dir.join(file))
        };
        Ok(ConfigSource {
            servers: self.clone(),
            locations: self.config_locations(all.clone(), environment)?,
            consented_digest: self.config.as_ref().filter(|it| !is_own(it)).map(|_| Arc::default()),
            context: configured_servers::config_context(
                environment,
                printer.stderr(),
                default_answer,
            ),
            known_inputs: KnownInputs::default(),
            can_ask: environment.can_ask,
            stderr: printer.stderr().clone(),
        })
    }

    /// Returns the config files that may exist, or only the named one.
    fn config_locations(
        &self,
        all: ConfigLocations,
        environment: &Environment,
    ) -> Result<ConfigLocations, CommandError> {
        if self.own.is_some() {
            return Ok(ConfigLocations(Vec::new()));
        }
        let Some(file) = &self.config else { return Ok(all) };
        let format = match file.extension().and_then(|it| it.to_str()) {
            Some("json") => Format::McpJson,
            Some("yaml" | "yml") => Format::Yaml,
            _ => {
                let shown = file.display();
                return Err(CommandError::Usage(format!(
                    "{shown}: a config file must end in .json, .yaml or .yml"
                )));
            }
        };
        let whole = environment.current_dir.join(file);
        let folder = whole.parent().map(ToOwned::to_owned);
        let own = ConfigLocation { file: file.clone(), format, scope: Scope::User, folder };
        // The user named the file, so it is trusted in any scope.
        let as_typed =
            |location| ConfigLocation { scope: Scope::User, file: file.clone(), ..location };
        let known = all.locate(&whole).map(as_typed);
        Ok(ConfigLocations(vec![known.unwrap_or(own)]))
    }

    /// Returns the servers to use. A server selected by name from an untrusted file does
    /// not bring its `allow` rules.
    fn select_servers(&self, config: &Config) -> Result<Vec<ServerConfig>, CommandError> {
        if self.named.is_empty() {
            return Ok(config.ready().cloned().collect());
        }
        let each = self.named.iter().map(|name| {
            let server = config.server_by_name(name);
            let server = server
                .map_err(|refusal| configured_servers::refusal_error(refusal, &config.faults));
            let mut server = server?.clone();
            if let EntryState::Untrusted(_) = config.servers[name].state {
                server.rules.allow.clear();
            }
            Ok(server)
        });
        each.collect()
    }
}

impl ConfigSource {
    /// Reads the configuration and selects the servers. May block, since it asks for the
    /// inputs of these servers.
    ///
    /// # Errors
    /// When a named server or the named file cannot be used.
    pub(crate) fn read(&self) -> Result<(Config, Vec<ServerConfig>), CommandError> {
        let config = self.read_config(self.can_ask);
        self.check_named_file(&config)?;
        if let (Some(consented), Some(digest)) = (&self.consented_digest, file_digest(&config)) {
            consented.get_or_init(|| digest.to_owned());
        }
        let servers = self.servers.select_servers(&config)?;
        Ok((config, servers))
    }

    /// Runs [`ConfigSource::read`] on a thread, so that a signal can interrupt a
    /// question.
    ///
    /// # Errors
    /// As [`ConfigSource::read`].
    pub(crate) async fn read_in_background(
        &self,
    ) -> Result<(Config, Vec<ServerConfig>), CommandError> {
        let source = self.clone();
        let read = tokio::task::spawn_blocking(move || source.read());
        read.await.map_err(|error| CommandError::System(std::io::Error::other(error)))?
    }

    /// Reads all files again, for the servers of this manager. Asks for inputs if `ask`
    /// is set.
    ///
    /// # Errors
    /// When a file cannot be read, or is invalid as a whole.
    pub(crate) fn reload(
        &self,
        manager: &Manager,
        ask: bool,
    ) -> Result<ReloadedConfig, CommandError> {
        let config = self.read_config(ask && self.can_ask);
        self.check_named_file(&config)?;
        let wrong = config.faults.iter().filter_map(|fault| match fault {
            FileProblem::Invalid(problems) => Some(problems.clone()),
            FileProblem::Unreadable { .. } => None,
        });
        let wrong: Vec<Problems> = wrong.collect();
        if !wrong.is_empty() {
            return Err(CommandError::Script(wrong));
        }
        if let Some(fault) = config.faults.first() {
            return Err(CommandError::File(fault.to_string()));
        }
        let before = manager.servers();
        let before = |name: &str| before.iter().map(|it| &*it.config).find(|it| it.name == name);
        let waits_for_trust = self.waits_for_trust(&config);
        let (mut servers, mut notes) = (Vec::new(), Vec::new());
        for (name, configured) in &config.servers {
            let by_name = !self.named_servers().is_empty();
            if by_name && !self.named_servers().contains(name) {
                continue;
            }
            let before = before(name);
            let reloaded = match &configured.state {
                EntryState::Ready(server) if waits_for_trust && server.enabled => {
                    reload_unchanged_target(server, before)
                }
                _ => reload_server(name, configured, before, by_name),
            };
            let (server, note) = reloaded;
            servers.extend(server);
            notes.extend(note);
        }
        Ok(ReloadedConfig { config, servers, notes })
    }

    /// Returns true if the file of `--config` has another text than at the start, which the
    /// user has not trusted.
    pub(crate) fn waits_for_trust(&self, config: &Config) -> bool {
        let consented = self.consented_digest.as_ref().and_then(|consented| consented.get());
        let (Some(consented), Some(digest)) = (consented, file_digest(config)) else {
            return false;
        };
        let is_trusted = || {
            let trust = Trust::read(self.context.trust.as_deref()?).ok()?;
            Some(trust.covers(&config.files.first()?.location.file, digest))
        };
        consented != digest && !is_trusted().unwrap_or_default()
    }

    /// Returns the files to watch, existing or not, with the file of trusted config
    /// files.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let locations = self.locations.0.iter().map(|location| location.file.clone());
        locations.chain(self.context.trust.clone()).collect()
    }

    /// The servers that `--server` names.
    fn named_servers(&self) -> &[String] {
        &self.servers.named
    }

    /// Reads the configuration of all servers. Asks for the inputs of those in use if
    /// `can_ask` is set.
    fn read_config(&self, can_ask: bool) -> Config {
        if let Some(own) = &self.servers.own {
            let mut config = Config::read(&self.locations, &self.context);
            config.servers.insert(own_server::NAME.to_owned(), own.to_configured());
            return config;
        }
        let names = match self.servers.named.is_empty() {
            true => {
                let config = Config::read(&self.locations, &self.context);
                config.ready().map(|server| server.name.clone()).collect()
            }
            false => self.servers.named.iter().cloned().collect::<BTreeSet<_>>(),
        };
        let ask = configured_servers::input_asker(
            names,
            Arc::clone(&self.known_inputs),
            can_ask,
            &self.stderr,
        );
        Config::read(&self.locations, &ConfigContext { ask, ..self.context.clone() })
    }

    /// Checks that the file of `--config` exists and is valid.
    fn check_named_file(&self, config: &Config) -> Result<(), CommandError> {
        let Some(file) = &self.servers.config else { return Ok(()) };
        let shown = file.display();
        if config.files.iter().all(|file| !file.is_there) {
            return Err(CommandError::File(format!("no such file: {shown}")));
        }
        let own = |fault: &&FileProblem| configured_servers::fault_file(fault) == shown.to_string();
        match config.faults.iter().find(own) {
            Some(FileProblem::Invalid(problems)) => {
                Err(CommandError::Script(vec![problems.clone()]))
            }
            Some(fault) => Err(CommandError::File(fault.to_string())),
            None => Ok(()),
        }
    }
}

/// Returns the new configuration of a server, and a note for the user.
fn reload_server(
    name: &str,
    configured: &ConfiguredServer,
    before: Option<&ServerConfig>,
    by_name: bool,
) -> (Option<ServerConfig>, Option<String>) {
    match &configured.state {
        EntryState::Ready(server) => (server.enabled.then(|| ServerConfig::clone(server)), None),
        EntryState::Invalid(problems) => {
            let what =
                if before.is_some() { "keeps its previous configuration" } else { "is skipped" };
            let note = format!("server `{name}` {what}: {}", first_problem(problems));
            (before.cloned(), Some(note))
        }
        EntryState::Untrusted(_) => {
            let (server, what) = match before {
                // The user consented to this entry by name.
                Some(before) if by_name => return (Some(before.clone()), None),
                Some(_) => (None, "is removed"),
                None => (None, "is skipped"),
            };
            let file = configured.origin.file.display();
            let note =
                format!("server `{name}` {what}: {file} is not trusted; run `spar config trust`");
            (server, Some(note))
        }
    }
}

/// Returns the configuration of a server of a changed file that waits for trust: other
/// settings apply, but another command or URL does not. Returns also a note for the user.
fn reload_unchanged_target(
    server: &ServerConfig,
    before: Option<&ServerConfig>,
) -> (Option<ServerConfig>, Option<String>) {
    let (used, what) = match before {
        Some(before) if before.target == server.target => return (Some(server.clone()), None),
        Some(before) => (Some(before.clone()), "keeps its previous configuration"),
        None => (None, "is skipped"),
    };
    let file = server.origin.file.display();
    let note = format!(
        "server `{}` {what}: {file} has changed since the start; run `spar config trust {file}`",
        server.name
    );
    (used, Some(note))
}

/// Returns the digest of the only file, which `--config` names.
fn file_digest(config: &Config) -> Option<&str> {
    config.files.first()?.digest.as_deref()
}

/// Returns the first problem in one line.
pub(super) fn first_problem(problems: &Problems) -> String {
    let name = problems.source().name();
    let Some(first) = problems.iter().next() else { return name.to_owned() };
    let at = problems.source().position(first.span.start);
    format!("{name}:{}:{}: {}", at.line, at.column, first.message)
}
