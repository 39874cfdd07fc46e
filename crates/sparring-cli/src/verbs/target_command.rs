//! The verbs that talk to a target. All of them take the same path: resolve the
//! target, read the inputs, connect, run the one function of the verb, report,
//! close.

use clap::Subcommand;

use super::{
    call::Call, codegen::Codegen, complete::Complete, init::Init, list::List, ping::Ping,
    prompt::Prompt, raw::Raw, read::Read,
};
use crate::args::TargetFlags;
use crate::command_error::CommandError;
use crate::connection::Connection;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;
use crate::signals::Signals;

/// A verb that talks to a target.
#[derive(Subcommand)]
pub(crate) enum TargetCommand {
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

impl TargetCommand {
    /// Connects, runs the verb and closes the connection. A signal stops the verb
    /// and closes the connection; a second signal ends the program at once.
    ///
    /// # Errors
    /// When a signal arrives before the target is started.
    pub(crate) async fn run(
        mut self,
        printer: &Printer,
        environment: &Environment,
        mut signals: Signals,
    ) -> Result<Exit, CommandError> {
        if let TargetCommand::Init(init) = &self
            && !init.has_target()
        {
            return init.write_example(printer).await;
        }
        let connecting = signals.interruptible(self.connect(printer, environment)).await;
        let mut connection = match connecting.and_then(|connected| connected) {
            Ok(connection) => connection,
            Err(failure @ CommandError::Stopped(_)) => return Err(failure),
            Err(failure) => {
                return Ok(tokio::select! {
                    biased;
                    signal = signals.next() => Exit::Stopped(signal),
                    exit = printer.report_error(&failure, None) => exit,
                });
            }
        };
        let running = async {
            let outcome = self.run_verb(&connection).await;
            connection.report(&outcome).await
        };
        let outcome = tokio::select! {
            biased;
            signal = signals.next() => Err(signal),
            exit = running => Ok(exit),
        };
        let exit = tokio::select! {
            biased;
            // The second signal: the end of the runtime drops the link, and the link
            // ends the target.
            signal = signals.next() => Exit::Stopped(signal),
            exit = connection.close(outcome) => exit,
        };
        match &self {
            TargetCommand::Init(init) if exit == Exit::Success => {
                init.run_written_suite(printer, environment, signals).await
            }
            _ => Ok(exit),
        }
    }

    /// Resolves the target and reads the inputs, so that wrong arguments are reported
    /// before anything is started. Then connects.
    async fn connect<'a>(
        &mut self,
        printer: &'a Printer,
        environment: &Environment,
    ) -> Result<Connection<'a>, CommandError> {
        let target = self.flags_mut().resolve_target(environment, printer).await?;
        match self {
            TargetCommand::Call(call) => {
                call.check_permission()?;
                call.read_arguments().await?;
            }
            TargetCommand::Raw(raw) => raw.read_input().await?,
            TargetCommand::Codegen(codegen) => codegen.check_inputs().await?,
            _ => {}
        }
        let handshake = !matches!(self, TargetCommand::Raw(raw) if raw.no_handshake);
        let this = &*self;
        let configure = |builder| match this {
            TargetCommand::Init(init) => init.configure(builder),
            _ => builder,
        };
        Connection::open(target, this.flags(), handshake, configure, printer).await
    }

    async fn run_verb(&self, connection: &Connection<'_>) -> Result<Exit, CommandError> {
        connection.ready().await?;
        match self {
            TargetCommand::Call(call) => call.run(connection).await,
            TargetCommand::Read(read) => read.run(connection).await,
            TargetCommand::Prompt(prompt) => prompt.run(connection).await,
            TargetCommand::List(list) => list.run(connection).await,
            TargetCommand::Complete(complete) => complete.run(connection).await,
            TargetCommand::Ping(ping) => ping.run(connection).await,
            TargetCommand::Raw(raw) => raw.run(connection).await,
            TargetCommand::Init(init) => init.run(connection).await,
            TargetCommand::Codegen(codegen) => codegen.run(connection).await,
        }
    }

    /// The flags that all of these verbs have.
    pub(crate) fn flags(&self) -> &TargetFlags {
        match self {
            TargetCommand::Call(call) => &call.flags,
            TargetCommand::Read(read) => &read.flags,
            TargetCommand::Prompt(prompt) => &prompt.flags,
            TargetCommand::List(list) => &list.flags,
            TargetCommand::Complete(complete) => &complete.flags,
            TargetCommand::Ping(ping) => &ping.flags,
            TargetCommand::Raw(raw) => &raw.flags,
            TargetCommand::Init(init) => &init.flags,
            TargetCommand::Codegen(codegen) => &codegen.flags,
        }
    }

    /// The same flags, which a configured server completes.
    fn flags_mut(&mut self) -> &mut TargetFlags {
        match self {
            TargetCommand::Call(call) => &mut call.flags,
            TargetCommand::Read(read) => &mut read.flags,
            TargetCommand::Prompt(prompt) => &mut prompt.flags,
            TargetCommand::List(list) => &mut list.flags,
            TargetCommand::Complete(complete) => &mut complete.flags,
            TargetCommand::Ping(ping) => &mut ping.flags,
            TargetCommand::Raw(raw) => &mut raw.flags,
            TargetCommand::Init(init) => &mut init.flags,
            TargetCommand::Codegen(codegen) => &mut codegen.flags,
        }
    }
}
