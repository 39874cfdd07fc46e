//! The choice between the verbs.

use clap::Subcommand;

use super::{
    call::Call, complete::Complete, list::List, ping::Ping, prompt::Prompt, raw::Raw, read::Read,
};
use crate::args::Shared;
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Call(Call),
    Read(Read),
    Prompt(Prompt),
    List(List),
    Complete(Complete),
    Ping(Ping),
    Raw(Raw),
}

impl Verb {
    /// The flags that all verbs have.
    pub(crate) fn shared(&self) -> &Shared {
        match self {
            Verb::Call(call) => &call.shared,
            Verb::Read(read) => &read.shared,
            Verb::Prompt(prompt) => &prompt.shared,
            Verb::List(list) => &list.shared,
            Verb::Complete(complete) => &complete.shared,
            Verb::Ping(ping) => &ping.shared,
            Verb::Raw(raw) => &raw.shared,
        }
    }

    /// Reads what was given by name, and finds out what cannot be done, before
    /// anything is started.
    ///
    /// # Errors
    /// When what was typed cannot be sent.
    pub(crate) async fn prepare(&mut self) -> Result<(), Failure> {
        self.shared().target()?;
        match self {
            Verb::Call(call) => call.prepare().await,
            Verb::Raw(raw) => raw.prepare().await,
            _ => Ok(()),
        }
    }

    /// Whether the client connects as the protocol says.
    pub(crate) fn shakes_hands(&self) -> bool {
        !matches!(self, Verb::Raw(raw) if raw.no_handshake)
    }

    /// Does it.
    pub(crate) async fn run(&self, session: Session<'_>) -> Result<Exit, Failure> {
        match self {
            Verb::Call(call) => call.run(session).await,
            Verb::Read(read) => read.run(session).await,
            Verb::Prompt(prompt) => prompt.run(session).await,
            Verb::List(list) => list.run(session).await,
            Verb::Complete(complete) => complete.run(session).await,
            Verb::Ping(ping) => ping.run(session).await,
            Verb::Raw(raw) => raw.run(session).await,
        }
    }
}
