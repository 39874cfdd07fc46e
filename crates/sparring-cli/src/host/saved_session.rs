//! The flags `--save` and `--resume`: saves the servers and rules of a run, and restores
//! them.

use std::path::{Path, PathBuf};

use clap::Args;
use sparring_host::permissions::Permissions;
use sparring_host::session::{Session, current_servers};

use super::Host;
use super::open::print_findings;
use crate::command_error::CommandError;
use crate::output::Printer;

/// The flags of a saved session.
#[derive(Args, Debug, Clone)]
#[group(skip)]
pub(crate) struct SessionFlags {
    /// Save the connected servers and the allow and deny rules to this file, for --resume
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub(crate) save: Option<PathBuf>,

    /// Restore the servers and rules from a file of --save; differences since then are
    /// printed
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub(crate) resume: Option<PathBuf>,
}

impl Host {
    /// Connects the servers of the resumed session or of the flags. Then saves the
    /// session if `--save` is given.
    ///
    /// # Errors
    /// When a file cannot be used, or as [`Host::connect`].
    pub(crate) async fn connect_session(
        &self,
        sessions: &SessionFlags,
        printer: &Printer,
    ) -> Result<(), CommandError> {
        let names = self.servers_to_resume(sessions, printer).await?;
        self.connect_to(&names, printer).await?;
        match &sessions.save {
            Some(path) => self.save_session(path).await,
            None => Ok(()),
        }
    }

    /// Returns the servers to connect first: those of the resumed session, or those of
    /// the flags. Adds the rules of the session to those of the flags, and prints the differences.
    ///
    /// # Errors
    /// When the file or one of its rules cannot be used.
    pub(crate) async fn servers_to_resume(
        &self,
        sessions: &SessionFlags,
        printer: &Printer,
    ) -> Result<Vec<String>, CommandError> {
        let Some(path) = &sessions.resume else { return Ok(self.servers_to_connect()) };
        let session = Session::load(path).map_err(|error| CommandError::File(error.to_string()))?;
        let reconciled = session.reconcile(&current_servers(&self.manager, Some(&self.config)));
        let saved_rules = &reconciled.rules;
        let add = |to: &mut Vec<String>, from: &[String]| {
            let new: Vec<_> = from.iter().filter(|it| !to.contains(it)).cloned().collect();
            to.extend(new);
        };
        let rules = {
            let mut rules = self.locked_rules();
            add(&mut rules.deny, &saved_rules.deny);
            add(&mut rules.ask, &saved_rules.ask);
            add(&mut rules.allow, &saved_rules.allow);
            rules.clone()
        };
        let servers = self.manager.servers();
        let servers = servers.iter().map(|server| &*server.config);
        let (permissions, findings) = Permissions::for_servers(&self.config, rules, servers);
        self.registry.set_permissions(permissions);
        print_findings(findings, printer).await?;
        for message in reconciled.messages() {
            printer.note(&message).await;
        }
        Ok(reconciled.to_connect().map(str::to_owned).collect())
    }

    /// Saves the current servers and rules.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) async fn save_session(&self, path: &Path) -> Result<(), CommandError> {
        let saved = Session::capture(&self.manager, &self.rules()).save(path).await;
        saved.map_err(|error| CommandError::File(error.to_string()))
    }
}
