//! The verbs that talk to a target. All of them take the same path: resolve the
//! target, read the inputs, connect, run the one function of the verb, report,
//! close.

use clap::Subcommand;

use super::{
    call::Call, codegen::Codegen, complete::Complete, describe::Describe, init::Init, list::List,
    ping::Ping, prompt::Prompt, raw::Raw, read::Read,
};
use crate::args::TargetFlags;
use crate::command_error::CommandError;
use crate::connection::Connection;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;
use crate::server_questions::{self, AnswerFlags};
use crate::signals::Signals;

/// A verb that talks to a target.
#[derive(Subcommand)]
pub(crate) enum TargetCommand {
    Call(Call),
    Read(Read),
    Prompt(Prompt),
    List(List),
    Describe(Describe),
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
        let printer = &printer.with_raw_text(self.flags().raw());
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
            let exit = connection.report(&outcome).await;
            if let (Ok(_), Some(answers)) = (&outcome, self.answers()) {
                answers.note_unused(printer).await;
            }
            exit
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
            TargetCommand::Read(read) => read.check_output()?,
            TargetCommand::Prompt(prompt) => prompt.check_output()?,
            _ => {}
        }
        if let Some(answers) = self.answers() {
            answers.prepare(environment)?;
        }
        let handshake = !matches!(self, TargetCommand::Raw(raw) if raw.no_handshake);
        let this = &*self;
        let configure = |builder| match this {
            TargetCommand::Init(init) => init.configure(builder),
            TargetCommand::List(_) | TargetCommand::Describe(_) => {
                server_questions::declare(builder)
            }
            _ => match this.answers() {
                Some(answers) => answers.configure(builder, printer),
                None => builder,
            },
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
            TargetCommand::Describe(describe) => describe.run(connection).await,
            TargetCommand::Complete(complete) => complete.run(connection).await,
            TargetCommand::Ping(ping) => ping.run(connection).await,
            TargetCommand::Raw(raw) => raw.run(connection).await,
            TargetCommand::Init(init) => init.run(connection).await,
            TargetCommand::Codegen(codegen) => codegen.run(connection).await,
        }
    }

    /// The answers to the questions of the server, for verbs whose request may cause some.
    fn answers(&self) -> Option<&AnswerFlags> {
        match self {
            TargetCommand::Call(call) => Some(&call.answers),
            TargetCommand::Read(read) => Some(&read.answers),
            TargetCommand::Prompt(prompt) => Some(&prompt.answers),
            TargetCommand::Raw(raw) => Some(&raw.answers),
            _ => None,
        }
    }

    /// The flags that all of these verbs have.
    pub(crate) fn flags(&self) -> &TargetFlags {
        match self {
            TargetCommand::Call(call) => &call.flags,
            TargetCommand::Read(read) => &read.flags,
            TargetCommand::Prompt(prompt) => &prompt.flags,
            TargetCommand::List(list) => &list.flags,
            TargetCommand::Describe(describe) => &describe.flags,
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
            TargetCommand::Describe(describe) => &mut describe.flags,
            TargetCommand::Complete(complete) => &mut complete.flags,
            TargetCommand::Ping(ping) => &mut ping.flags,
            TargetCommand::Raw(raw) => &mut raw.flags,
            TargetCommand::Init(init) => &mut init.flags,
            TargetCommand::Codegen(codegen) => &mut codegen.flags,
        }
    }
}
