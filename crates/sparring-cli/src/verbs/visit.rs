//! The verbs that talk to a target.

use clap::Subcommand;

use super::{
    call::Call, codegen::Codegen, complete::Complete, init::Init, list::List, ping::Ping,
    prompt::Prompt, raw::Raw, read::Read,
};
use crate::args::Shared;
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;

/// What to do with a target.
#[derive(Subcommand)]
pub(crate) enum Visit {
    Call(Call),
    Read(Read),
    Prompt(Prompt),
    List(List),
    Complete(Complete),
    Ping(Ping),
    Raw(Raw),
    Init(Init),
    Codegen(Codegen),
}

impl Visit {
    /// The flags that all verbs have.
    pub(crate) fn shared(&self) -> &Shared {
        match self {
            Visit::Call(call) => &call.shared,
            Visit::Read(read) => &read.shared,
            Visit::Prompt(prompt) => &prompt.shared,
            Visit::List(list) => &list.shared,
            Visit::Complete(complete) => &complete.shared,
            Visit::Ping(ping) => &ping.shared,
            Visit::Raw(raw) => &raw.shared,
            Visit::Init(init) => &init.shared,
            Visit::Codegen(codegen) => &codegen.shared,
        }
    }

    /// The same, to be completed by what is configured.
    pub(crate) fn shared_mut(&mut self) -> &mut Shared {
        match self {
            Visit::Call(call) => &mut call.shared,
            Visit::Read(read) => &mut read.shared,
            Visit::Prompt(prompt) => &mut prompt.shared,
            Visit::List(list) => &mut list.shared,
            Visit::Complete(complete) => &mut complete.shared,
            Visit::Ping(ping) => &mut ping.shared,
            Visit::Raw(raw) => &mut raw.shared,
            Visit::Init(init) => &mut init.shared,
            Visit::Codegen(codegen) => &mut codegen.shared,
        }
    }

    /// Reads what was given by name, before anything is started.
    ///
    /// # Errors
    /// When what was typed cannot be sent.
    pub(crate) async fn prepare(&mut self) -> Result<(), Failure> {
        match self {
            Visit::Call(call) => call.prepare().await,
            Visit::Raw(raw) => raw.prepare().await,
            Visit::Codegen(codegen) => codegen.prepare().await,
            _ => Ok(()),
        }
    }

    /// Whether the client connects as the protocol says.
    pub(crate) fn shakes_hands(&self) -> bool {
        !matches!(self, Visit::Raw(raw) if raw.no_handshake)
    }

    /// Does it.
    pub(crate) async fn run(&self, session: Session<'_>) -> Result<Exit, Failure> {
        match self {
            Visit::Call(call) => call.run(session).await,
            Visit::Read(read) => read.run(session).await,
            Visit::Prompt(prompt) => prompt.run(session).await,
            Visit::List(list) => list.run(session).await,
            Visit::Complete(complete) => complete.run(session).await,
            Visit::Ping(ping) => ping.run(session).await,
            Visit::Raw(raw) => raw.run(session).await,
            Visit::Init(init) => init.run(session).await,
            Visit::Codegen(codegen) => codegen.run(session).await,
        }
    }
}
