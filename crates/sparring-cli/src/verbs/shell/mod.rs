//! `spar shell`: a prompt for the configured servers, or for the server of the command line.
//!
//! Lines at a terminal are edited and completed. Lines from a pipe are a script. Commands
//! work the same in both cases.

mod command;
mod commands;
mod completion;
mod editor;
mod event_log;
mod event_text;
mod history;
mod line_reader;
mod loop_questions;

mod shell_loop;
mod shell_state;

use std::io;
use std::sync::Arc;

use clap::{Args, ColorChoice};
use futures_util::future::BoxFuture;
use sparring_host::permissions::{Answer, Asker, Question};
use sparring_transport::http::HttpTarget;
use sparring_transport::{ChildTarget, PrivateFile, Target};

use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::host::{HostOptions, ServerFlags, SessionFlags, terminal_asker};
use crate::output::Printer;
use crate::server_questions;
use crate::signals::Signals;
use crate::terminal_prompt;
use shell_loop::ShellLoop;
use shell_state::ShellState;

const EXAMPLES: &str = "\
Examples:
  spar shell
  spar shell --server weather --allow mcp__weather
  spar shell --config servers.json --save work.json
  spar shell --resume work.json --save work.json
  spar shell -- npx -y @modelcontextprotocol/server-everything
  spar shell --url http://127.0.0.1:3001/mcp
  printf 'tools\\n' | spar shell
  printf 'call weather get city=Oslo\\n' | spar shell --allow mcp__weather --json

help lists the commands, which work with and without /mcp. A server of the command
line has the name `server`, and its tools are allowed. Commands from a pipe run line by line, once the servers are
connected; lines that begin with # are comments. After a failed command the others
still run, and the exit code is 1. A line /answer answers a question of the server of
the command before it; without one the question is declined.";

/// Use servers and their tools at a prompt
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Shell {
    /// The command of a server, after `--`; it is used instead of the configured servers
    #[arg(last = true, value_name = "COMMAND")]
    #[arg(conflicts_with_all = ["url", "named", "config", "save", "resume"])]
    command: Vec<String>,

    /// Use the server at this URL instead of the configured servers
    #[arg(long, value_name = "URL", help_heading = "Servers")]
    #[arg(conflicts_with_all = ["named", "config", "save", "resume"])]
    url: Option<String>,

    #[command(flatten)]
    servers: ServerFlags,

    #[command(flatten)]
    sessions: SessionFlags,

    /// Print one line of JSON for each command: {"command":…,"ok":…,"result":…}, or
    /// {"command":…,"ok":false,"error":{"kind":…,"message":…}}
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Print errors only, no notes
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    /// When to use colours; NO_COLOR turns them off
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    color: ColorChoice,
}

/// Asks about a call only if a rule requires it. The user typed the call, which is consent.
struct TypedCalls(Arc<dyn Asker>);

impl Asker for TypedCalls {
    fn ask(&self, question: Question) -> BoxFuture<'_, io::Result<Option<Answer>>> {
        match question.rule {
            None => Box::pin(std::future::ready(Ok(Some(Answer::Once)))),
            Some(_) => self.0.ask(question),
        }
    }
}

impl Shell {
    pub(crate) fn output_flags(&self) -> OutputFlags {
        OutputFlags { json: self.json, quiet: self.quiet, color: self.color }
    }

    /// Runs the lines until the end of input.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        mut signals: Signals,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        let host_options = HostOptions::default();
        let client = server_questions::client(host_options.client);
        let asker = terminal_asker(environment, printer);
        let asker = asker.map(|asker| Arc::new(TypedCalls(asker)) as Arc<dyn Asker>);
        let host_options = HostOptions { asker, client };
        let mut servers = self.servers.clone();
        if let Some(target) = self.target(environment) {
            servers.use_only(target.with_secrets(printer.secrets()));
        }
        let opening = async {
            self.check_that_it_can_be_saved().await?;
            let host = servers.open_host(host_options, environment, printer).await?;
            let wanted = host.servers_to_resume(&self.sessions, printer).await?;
            Ok::<_, CommandError>((host, wanted))
        };
        let (host, wanted) = signals.interruptible(opening).await??;
        let state = ShellState::new(&host, printer);
        let mut work = ShellLoop::new(&state, environment, wanted);
        let done = work.run(&mut signals).await;
        drop(work);
        host.set_rules(state.rules());
        terminal_prompt::restore_terminal_mode();
        let saved = match &self.sessions.save {
            Some(path) => host.save_session(path).await,
            None => Ok(()),
        };
        // The failure of the shell is printed before the failure to save.
        match saved {
            Ok(()) => Ok(host.shut_down(&mut signals, printer, done).await),
            Err(failure) => {
                host.shut_down(&mut signals, printer, done).await;
                Err(failure)
            }
        }
    }

    /// The server of the command line, if there is one.
    fn target(&self, environment: &Environment) -> Option<Target> {
        if let Some(url) = &self.url {
            let target =
                HttpTarget { proxies: environment.proxies.clone(), ..HttpTarget::new(url) };
            return Some(Target::Http(target));
        }
        let (program, arguments) = self.command.split_first()?;
        Some(Target::Child(ChildTarget::new(program).args(arguments)))
    }

    /// Checks at the start that the session can be saved.
    async fn check_that_it_can_be_saved(&self) -> Result<(), CommandError> {
        let Some(path) = &self.sessions.save else { return Ok(()) };
        let lock = PrivateFile::new(path).lock().await;
        lock.map(drop).map_err(|error| {
            CommandError::File(format!("cannot save the session to {}: {error}", path.display()))
        })
    }
}
