//! The loop of the shell: reads lines, runs commands, and prints events meanwhile.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{LocalBoxFuture, join_all};
use serde_json::{Value, json};
use sparring_host::manager::{ConfigWatch, Event, Events};
use sparring_host::registry;
use tokio::sync::mpsc;

use super::command::{Announces, Command, ParsedLine, parse_line};
use super::commands::ALL;
use super::completion::Completion;
use super::editor::{LinePrinter, edit_lines};
use super::event_text::{EventText, first_line, render_event};
use super::line_reader::{Input, LineReader};
use super::shell_state::ShellState;
use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::exit::{Exit, Signal};
use crate::output::table::Table;
use crate::output::{error_object, line};
use crate::server_questions::{RequestEvent, TerminalUser};
use crate::signals::Signals;

/// The loop of the shell.
pub(super) struct ShellLoop<'a> {
    pub(super) state: &'a ShellState<'a>,
    pub(super) lines: LineReader,
    /// Lines that were read ahead.
    pub(super) pending_input: VecDeque<Input>,
    /// The user to ask; nothing if lines come from a pipe.
    pub(super) user: Option<TerminalUser>,
    /// Questions and progress of requests.
    request_events: mpsc::UnboundedReceiver<RequestEvent>,
    /// Prints above the edited line; nothing if lines come from a pipe.
    line_printer: Option<LinePrinter>,
    /// Events that are not printed yet.
    background: BackgroundEvents,
    /// Connects the first servers; nothing once it is done.
    connecting: Option<LocalBoxFuture<'a, ()>>,
    /// Reloads changed files while it is held.
    _following: Option<ConfigWatch>,
    failed: bool,
}

/// The events besides those of commands.
struct BackgroundEvents {
    events: Events,
    tools: registry::Events,
    notes: mpsc::UnboundedReceiver<String>,
}

enum NextStep {
    Continue,
    End(Exit),
}

impl<'a> ShellLoop<'a> {
    /// Creates the loop for a terminal or a pipe, which will connect these servers.
    pub(super) fn new(
        state: &'a ShellState<'a>,
        environment: &Environment,
        servers: Vec<String>,
    ) -> Self {
        let interactive = environment.can_ask && state.printer.is_terminal();
        let (sender, notes) = mpsc::unbounded_channel();
        let background = BackgroundEvents {
            events: state.manager.subscribe(),
            tools: state.registry.subscribe(),
            notes,
        };
        let (lines, line_printer) = match interactive {
            false => (LineReader::from_stdin(), None),
            true => {
                let (manager, registry) = (state.manager.clone(), Arc::clone(&state.registry));
                let completion = Completion { manager, registry };
                let (lines, line_printer) = edit_lines(
                    completion,
                    environment.history_file.clone(),
                    state.printer.secrets(),
                );
                (lines, Some(line_printer))
            }
        };
        // A script reloads explicitly.
        let following = interactive.then(|| {
            state.manager.watch_config(state.config_reader(move |note| {
                // Nothing receives the note when the shell ends.
                let _ = sender.send(note);
            }))
        });
        let connecting = async move {
            join_all(servers.iter().map(|name| state.manager.connect(name))).await;
            state.registry.sync(&state.manager);
        };
        ShellLoop {
            state,
            lines,
            pending_input: VecDeque::new(),
            user: line_printer.is_some().then(TerminalUser::new),
            request_events: state.take_request_events(),
            line_printer,
            background,
            connecting: Some(Box::pin(connecting)),
            _following: following,
            failed: false,
        }
    }

    /// Runs until the end of input, `/quit` or a signal.
    ///
    /// # Errors
    /// When a signal arrives, or stdout cannot be written.
    pub(super) async fn run(&mut self, signals: &mut Signals) -> Result<Exit, CommandError> {
        if self.line_printer.is_none() {
            self.connect_first(signals).await?;
        }
        let mut interrupted = false;
        loop {
            let input = self.next_line(signals).await?;
            let next_step = match input {
                Input::Line(line) => {
                    interrupted = false;
                    self.run_line(&line, signals).await?
                }
                Input::Interrupted if interrupted => {
                    return Err(CommandError::Stopped(Signal::Interrupt));
                }
                Input::Interrupted => {
                    interrupted = true;
                    self.print_note("press Ctrl+C again, Ctrl+D or type quit to exit").await;
                    NextStep::Continue
                }
                Input::End => NextStep::End(self.exit()),
                Input::Error(why) => {
                    return Err(CommandError::File(format!("cannot read the input: {why}")));
                }
            };
            if let NextStep::End(exit) = next_step {
                return Ok(exit);
            }
        }
    }

    /// Connects the servers before the first line of a script, and prints failures.
    async fn connect_first(&mut self, signals: &mut Signals) -> Result<(), CommandError> {
        let Some(connecting) = self.connecting.take() else { return Ok(()) };
        signals.interruptible(connecting).await?;
        self.drain_events(Muted::Success).await;
        for note in self.state.registry.unmatched_rules() {
            self.state.printer.note(&note).await;
        }
        Ok(())
    }

    async fn next_line(&mut self, signals: &mut Signals) -> Result<Input, CommandError> {
        if let Some(input) = self.pending_input.pop_front() {
            return Ok(input);
        }
        loop {
            tokio::select! {
                biased;
                signal = signals.next() => match (signal, &self.line_printer) {
                    // Ctrl+C arrived before the line editor was ready.
                    (Signal::Interrupt, Some(_)) => return Ok(Input::Interrupted),
                    _ => return Err(CommandError::Stopped(signal)),
                },
                () = wait_for_connections(&mut self.connecting) => {
                    self.connecting = None;
                    for note in self.state.registry.unmatched_rules() {
                        self.print_note(&note).await;
                    }
                }
                event = self.background.next() => self.handle_event(event, Muted::NoEvents).await,
                input = self.lines.next() => return Ok(input),
            }
        }
    }

    async fn run_line(
        &mut self,
        line: &str,
        signals: &mut Signals,
    ) -> Result<NextStep, CommandError> {
        let printed = match parse_line(line) {
            Ok(printed) => printed,
            Err(failure) => return self.failed(None, &failure).await,
        };
        match printed {
            ParsedLine::Empty => Ok(NextStep::Continue),
            ParsedLine::Quit => {
                self.print_json_result("quit", true).await?;
                Ok(NextStep::End(self.exit()))
            }
            ParsedLine::Help(about) if self.state.printer.is_json() => {
                self.help_as_json(about);
                self.print_json_result("help", true).await?;
                Ok(NextStep::Continue)
            }
            ParsedLine::Help(about) => self.help(about).await.map(|()| NextStep::Continue),
            ParsedLine::Run(command, words) => {
                match command.complete_words(words, &self.state.server_names()) {
                    Ok(words) => self.run_command(command, &words, signals).await,
                    Err(failure) => self.failed(None, &failure).await,
                }
            }
        }
    }

    /// Runs a command. At a terminal Ctrl+C cancels the command, not the shell.
    async fn run_command(
        &mut self,
        command: &Command,
        words: &[String],
        signals: &mut Signals,
    ) -> Result<NextStep, CommandError> {
        let muted = match command.announces {
            Announces::NoServer => Muted::NoEvents,
            Announces::FirstServer => Muted::Server(words.first().cloned().unwrap_or_default()),
            Announces::AllServers => Muted::All,
        };
        self.state.registry.sync(&self.state.manager);
        // The log and the states of servers are up to date.
        self.drain_events(muted.clone()).await;
        let mut work = (command.run)(self.state, words);
        let mut is_question_open = false;
        let done = loop {
            tokio::select! {
                biased;
                signal = signals.next() => match (signal, &self.line_printer) {
                    (Signal::Interrupt, Some(_)) => break None,
                    _ => return Err(CommandError::Stopped(signal)),
                },
                Some(event) = self.request_events.recv() => match event {
                    RequestEvent::Progress(progress) => self.show_progress(&progress).await,
                    RequestEvent::Question(question) => {
                        match self.answer_question(question, signals).await {
                            None => {}
                            Some(Signal::Interrupt) if self.line_printer.is_some() => {
                                is_question_open = true;
                                break None;
                            }
                            Some(signal) => return Err(CommandError::Stopped(signal)),
                        }
                    }
                },
                done = &mut work => break Some(done),
                () = wait_for_connections(&mut self.connecting) => self.connecting = None,
                event = self.background.next() => self.handle_event(event, muted.clone()).await,
            }
        };
        drop(work);
        self.state.printer.erase_status();
        self.discard_request_events();
        self.drain_events(muted).await;
        match done {
            Some(Ok(exit)) => {
                self.failed |= exit != Exit::Success;
                self.print_json_result(command.name, exit == Exit::Success).await?;
                Ok(NextStep::Continue)
            }
            Some(Err(failure @ (CommandError::Output(_) | CommandError::Stopped(_)))) => {
                Err(failure)
            }
            Some(Err(failure)) => self.failed(Some(command.name), &failure).await,
            None => {
                self.failed = true;
                // The terminal shows ^C on the current line. A question ends its own line.
                if !is_question_open {
                    self.state.printer.write_stderr("\n").await;
                }
                let note = match command.announces {
                    Announces::NoServer => "cancelled",
                    _ => "no longer waiting; the command continues in the background",
                };
                self.state.printer.note(note).await;
                let error = json!({"kind": "cancelled", "message": note});
                self.print_json_error(Some(command.name), &error).await?;
                Ok(NextStep::Continue)
            }
        }
    }

    /// Prints the result of a command as one line of JSON, with `--json`.
    async fn print_json_result(&self, command: &str, ok: bool) -> Result<(), CommandError> {
        if !self.state.printer.is_json() {
            return Ok(());
        }
        let result = self.state.take_result().unwrap_or_else(|| "null".to_owned());
        let line = format!("{{\"command\":\"{command}\",\"ok\":{ok},\"result\":{result}}}\n");
        self.state.printer.print_untrusted(line.as_bytes()).await
    }

    /// Prints the failure of a command as one line of JSON, with `--json`.
    async fn print_json_error(
        &self,
        command: Option<&str>,
        error: &Value,
    ) -> Result<(), CommandError> {
        drop(self.state.take_result());
        match self.state.printer.is_json() {
            true => {
                let line = json!({"command": command, "ok": false, "error": error});
                self.state.printer.print_json(&line).await
            }
            false => Ok(()),
        }
    }

    /// Discards events of requests that are over.
    fn discard_request_events(&mut self) {
        while self.request_events.try_recv().is_ok() {}
    }

    async fn failed(
        &mut self,
        command: Option<&str>,
        failure: &CommandError,
    ) -> Result<NextStep, CommandError> {
        self.failed = true;
        let stderr = match failure {
            // The server's stderr is printed on separate lines.
            CommandError::NoServer(error) => {
                let text = error.to_string();
                let last = text.split_once('\n').map(|(_, last)| last);
                let what = CommandError::Usage(first_line(&text));
                self.state.printer.write_error(&what, last).await;
                last.map(str::to_owned)
            }
            failure => {
                let stderr = failure.stderr();
                self.state.printer.write_error(failure, stderr).await;
                stderr.map(str::to_owned)
            }
        };
        let error = error_object(failure, stderr.as_deref());
        self.print_json_error(command, &error["error"]).await?;
        Ok(NextStep::Continue)
    }

    fn help_as_json(&self, about: Option<&Command>) {
        let render = |command: &Command| json!({"usage": command.usage(), "summary": command.summary, "details": command.details});
        let commands: Vec<Value> = match about {
            Some(command) => vec![render(command)],
            None => ALL.iter().map(render).collect(),
        };
        self.state.set_result(|| json!({"commands": commands}));
    }

    async fn help(&self, about: Option<&Command>) -> Result<(), CommandError> {
        let printer = self.state.printer;
        if let Some(command) = about {
            let more = match command.details {
                "" => String::new(),
                more => format!("\n{more}\n"),
            };
            let text = format!("{}\n  {}\n{more}", command.usage(), command.summary);
            return printer.print(&text).await;
        }
        let mut table = Table::default();
        for command in &ALL {
            table.add_row([&*command.usage(), command.summary]);
        }
        table.add_row(["/answer ANSWER", "in a script, answer the server of the command before"]);
        table.add_row(["help [COMMAND]", "show this list, or details of a command"]);
        table.add_row(["quit, exit", "exit; Ctrl+D does the same"]);
        let table = table.render(printer.paint(), printer.width(), 0);
        let more = "Every command works with and without /mcp. A server that is the only one can \
                    be left out.";
        printer.print(&format!("{table}\n{more}\n")).await
    }

    /// Handles all events that have arrived.
    async fn drain_events(&mut self, muted: Muted) {
        while let Some(event) = self.background.next().now_or_never() {
            self.handle_event(event, muted.clone()).await;
        }
    }

    async fn handle_event(&self, event: BackgroundEvent, muted: Muted) {
        let text_of_event = match event {
            BackgroundEvent::Event(event) => {
                self.sync_tools(&event);
                match event {
                    // The first lists are part of the text for the connect.
                    Event::ListChanged { server, .. }
                        if !self.state.log().is_connected(&server) =>
                    {
                        None
                    }
                    event => render_event(&event),
                }
            }
            BackgroundEvent::Note(text) => {
                Some(EventText { printed: Some(text), ..EventText::default() })
            }
        };
        let Some(EventText { server, logged, printed, connected }) = text_of_event else { return };
        if let Some(server) = &server {
            self.state.log_event(server, &logged, connected);
        }
        let Some(printed) = printed else { return };
        let muted = match &muted {
            Muted::NoEvents => false,
            Muted::All => true,
            Muted::Server(name) => server.as_ref() == Some(name),
            Muted::Success => printed.starts_with("connected to "),
        };
        if !muted {
            self.print_note(&printed).await;
        }
    }

    fn sync_tools(&self, event: &Event) {
        if matches!(event, Event::State { .. } | Event::ListChanged { .. } | Event::Missed(_)) {
            self.state.registry.sync(&self.state.manager);
        }
    }

    /// Prints a note, above the edited line if there is one.
    async fn print_note(&self, text: &str) {
        if self.state.printer.is_quiet() {
            return;
        }
        if let Some(line_printer) = self.line_printer.as_ref().filter(|_| self.lines.is_waiting()) {
            let lines: Vec<String> = text.lines().map(line::clean).collect();
            if line_printer.print(format!("{}\n", lines.join("\n"))) {
                return;
            }
        }
        self.state.printer.note(text).await;
    }

    /// At a terminal the user has seen the failures, so they do not change the exit code.
    fn exit(&self) -> Exit {
        match self.failed && self.line_printer.is_none() {
            true => Exit::Failed,
            false => Exit::Success,
        }
    }
}

/// The events that are not printed, since a command prints them.
#[derive(Clone)]
enum Muted {
    NoEvents,
    Server(String),
    Success,
    All,
}

/// One of these events.
enum BackgroundEvent {
    Event(Event),
    Note(String),
}

impl BackgroundEvents {
    async fn next(&mut self) -> BackgroundEvent {
        loop {
            tokio::select! {
                Some(event) = self.events.next() => return BackgroundEvent::Event(event),
                Some(event) = self.tools.next() => {
                    if let registry::Event::Note(text) = event {
                        return BackgroundEvent::Note(text.to_string());
                    }
                }
                Some(note) = self.notes.recv() => return BackgroundEvent::Note(note),
                else => std::future::pending().await,
            }
        }
    }
}

/// Waits until the first servers are connected.
async fn wait_for_connections(connecting: &mut Option<Pin<Box<dyn Future<Output = ()> + '_>>>) {
    match connecting {
        Some(connecting) => connecting.await,
        None => std::future::pending().await,
    }
}
