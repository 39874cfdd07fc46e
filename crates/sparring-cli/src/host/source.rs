//! What is configured, as the flags want it: read once, or again whenever it has
//! changed. Who was asked for an input is not asked for it again.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use sparring_host::config::{
    Config, Fault, Format, Place, Places, Scope, ServerConfig, State, Surroundings,
};

use super::Servers;
use crate::configured::{self, Known};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::{Outlet, Printer};

/// Where all of it is read from. Read twice, what has not changed is equal.
#[derive(Clone)]
pub(crate) struct Source {
    servers: Servers,
    places: Places,
    around: Surroundings,
    known: Known,
    answers: bool,
    stderr: Outlet,
}

impl Servers {
    /// Where what these flags want is read from.
    ///
    /// # Errors
    /// When the file that they name is none by its name.
    pub(super) fn source(
        &self,
        environment: &Environment,
        printer: &Printer,
    ) -> Result<Source, Failure> {
        let unasked = Arc::new(configured::unasked);
        Ok(Source {
            servers: self.clone(),
            places: self.places(environment)?,
            around: configured::surroundings(environment, printer.stderr(), unasked),
            known: Known::default(),
            answers: environment.answers,
            stderr: printer.stderr().clone(),
        })
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
}

impl Source {
    /// Reads all of it, and which servers are used. Who can be asked for inputs
    /// is, for these servers; so it may take its time.
    ///
    /// # Errors
    /// When a server that was named cannot be used, or the file that was.
    pub(crate) fn read(&self) -> Result<(Config, Vec<ServerConfig>), Failure> {
        let config = self.config(self.answers);
        self.check_named_file(&config)?;
        let servers = self.servers.chosen(&config)?;
        Ok((config, servers))
    }

    /// The same as [`Source::read`] on a thread, so that a signal is heeded
    /// although nobody answers.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub(crate) async fn read_beside(&self) -> Result<(Config, Vec<ServerConfig>), Failure> {
        let source = self.clone();
        let read = tokio::task::spawn_blocking(move || source.read());
        read.await.map_err(|error| Failure::System(std::io::Error::other(error)))?
    }

    /// The files that it depends on, there or not: also the one that says which
    /// of them are trusted.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let places = self.places.0.iter().map(|place| place.file.clone());
        places.chain(self.around.trust.clone()).collect()
    }

    /// All that is configured; which servers are used is not looked at. Who can be
    /// asked for inputs is.
    pub(super) fn config_attended(&self) -> Config {
        self.config(self.answers)
    }

    /// The same, where nobody can be asked for what is not known already.
    pub(super) fn config_unattended(&self) -> Config {
        self.config(false)
    }

    /// The servers that were named, if any were.
    pub(super) fn named(&self) -> &[String] {
        &self.servers.named
    }

    fn config(&self, answers: bool) -> Config {
        let wanted = match self.servers.named.is_empty() {
            true => {
                let config = Config::read(&self.places, &self.around);
                config.ready().map(|server| server.name.clone()).collect()
            }
            false => self.servers.named.iter().cloned().collect::<BTreeSet<_>>(),
        };
        let ask = configured::asking(wanted, Arc::clone(&self.known), answers, &self.stderr);
        Config::read(&self.places, &Surroundings { ask, ..self.around.clone() })
    }

    /// A file that somebody named must be there, and be right.
    pub(super) fn check_named_file(&self, config: &Config) -> Result<(), Failure> {
        let Some(file) = &self.servers.config else { return Ok(()) };
        let shown = file.display();
        if config.files.iter().all(|file| !file.is_there) {
            return Err(Failure::File(format!("there is no file {shown}")));
        }
        let own = |fault: &&Fault| configured::file(fault) == shown.to_string();
        match config.faults.iter().find(own) {
            Some(Fault::Wrong(problems)) => Err(Failure::Script(vec![problems.clone()])),
            Some(fault) => Err(Failure::File(fault.to_string())),
            None => Ok(()),
        }
    }
}
