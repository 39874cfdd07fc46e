//! A session that somebody goes on with, or wants to later.

use std::path::{Path, PathBuf};

use clap::Args;
use sparring_host::permissions::Permissions;
use sparring_host::session::Session;

use super::Host;
use super::opening::tell_findings;
use crate::failure::Failure;
use crate::output::Printer;

/// What is kept of a run.
#[derive(Args, Debug, Clone)]
#[group(skip)]
pub(crate) struct Sessions {
    /// Keep in this file which servers are wanted, and what is allowed and
    /// denied, for --resume
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub(crate) save: Option<PathBuf>,

    /// Go on with what a file of --save says; what differs since then is told
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub(crate) resume: Option<PathBuf>,
}

impl Host {
    /// Connects the servers as they were when a session was saved, where that
    /// is to be gone on with, and puts its rules beside those of the flags. Then
    /// keeps what is wanted, where that is to be kept.
    ///
    /// # Errors
    /// When a file cannot be used, or as [`Host::connect`].
    pub(crate) async fn begin(
        &self,
        sessions: &Sessions,
        printer: &Printer,
    ) -> Result<(), Failure> {
        match &sessions.resume {
            Some(path) => self.resume(path, printer).await?,
            None => self.connect(printer).await?,
        }
        match &sessions.save {
            Some(path) => self.save(path).await,
            None => Ok(()),
        }
    }

    async fn resume(&self, path: &Path, printer: &Printer) -> Result<(), Failure> {
        let session = Session::load(path).map_err(|error| Failure::File(error.to_string()))?;
        let restored = session.restore(&self.manager, Some(&self.config)).await;
        let kept = &restored.reconciled.rules;
        let add = |to: &mut Vec<String>, from: &[String]| {
            let new: Vec<_> = from.iter().filter(|it| !to.contains(it)).cloned().collect();
            to.extend(new);
        };
        let rules = {
            let mut rules = self.locked_rules();
            add(&mut rules.deny, &kept.deny);
            add(&mut rules.ask, &kept.ask);
            add(&mut rules.allow, &kept.allow);
            rules.clone()
        };
        let servers = self.manager.servers();
        let servers = servers.iter().map(|server| &*server.config);
        let (permissions, findings) = Permissions::about_these(&self.config, rules, servers);
        self.registry.set_permissions(permissions);
        tell_findings(findings, printer).await?;
        for message in restored.reconciled.messages() {
            printer.note(&message).await;
        }
        let outcomes = restored.outcomes.into_iter().map(|(_, outcome)| outcome);
        self.connected(outcomes.collect(), printer).await
    }

    /// Keeps what is wanted now.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) async fn save(&self, path: &Path) -> Result<(), Failure> {
        let saved = Session::of(&self.manager, &self.rules()).save(path).await;
        saved.map_err(|error| Failure::File(error.to_string()))
    }
}
