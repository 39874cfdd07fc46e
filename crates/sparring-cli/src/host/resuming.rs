//! A session that somebody goes on with, or wants to later.

use std::path::{Path, PathBuf};

use clap::Args;
use sparring_host::permissions::Permissions;
use sparring_host::session::{Session, today};

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
        let names = self.wanted(sessions, printer).await?;
        self.connect_to(&names, printer).await?;
        match &sessions.save {
            Some(path) => self.save(path).await,
            None => Ok(()),
        }
    }

    /// The servers that are to be connected at first: as the flags say, or as a
    /// session was when it was saved, where that is to be gone on with. Its rules
    /// stand beside those of the flags then, and what differs is told.
    ///
    /// # Errors
    /// When the file cannot be used, or a rule of it.
    pub(crate) async fn wanted(
        &self,
        sessions: &Sessions,
        printer: &Printer,
    ) -> Result<Vec<String>, Failure> {
        let Some(path) = &sessions.resume else { return Ok(self.by_themselves()) };
        let session = Session::load(path).map_err(|error| Failure::File(error.to_string()))?;
        let reconciled = session.reconcile(&today(&self.manager, Some(&self.config)));
        let kept = &reconciled.rules;
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
        for message in reconciled.messages() {
            printer.note(&message).await;
        }
        Ok(reconciled.to_connect().map(str::to_owned).collect())
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
