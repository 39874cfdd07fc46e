//! The shell at work: takes a line, does it, and tells what happens meanwhile.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{LocalBoxFuture, join_all};
use sparring_host::manager::{Event, Events, Following};
use sparring_host::registry;
use tokio::sync::mpsc;

use super::asking::{Beside, Person};
use super::command::{Command, Said, Tells, read};
use super::commands::ALL;
use super::completion::Completion;
use super::desk::Desk;
use super::editor::{Above, edited};
use super::lines::{Input, Lines};
use super::telling::{Told, first_line, told};
use crate::environment::Environment;
use crate::exit::{Exit, Signal};
use crate::failure::Failure;
use crate::output::line;
use crate::output::table::Table;
use crate::signals::Signals;

/// The shell at work.
pub(super) struct Work<'a> {
    pub(super) desk: &'a Desk<'a>,
    pub(super) lines: Lines,
    /// Lines that were looked at and are still to be done.
    pub(super) ahead: VecDeque<Input>,
    /// Whoever is asked; nobody where lines come from a pipe.
    pub(super) person: Option<Person>,
    /// What comes beside requests.
    beside: mpsc::UnboundedReceiver<Beside>,
    /// Whether it is shown how far something is, on a line that is not ended.
    pub(super) progress_is_shown: bool,
    /// What prints while a line is edited; none where lines come from a pipe.
    above: Option<Above>,
    /// Tells of servers that nobody has looked at yet.
    happening: Happening,
    /// The servers that are being connected; none once they are.
    connecting: Option<LocalBoxFuture<'a, ()>>,
    /// Held, so that files that change are read again.
    _following: Option<Following>,
    /// Whether a command has failed.
    failed: bool,
}

/// All that happens beside commands.
struct Happening {
    events: Events,
    tools: registry::Events,
    notes: mpsc::UnboundedReceiver<String>,
}

/// What is done after a line.
enum Then {
    GoOn,
    End(Exit),
}

impl<'a> Work<'a> {
    /// At a terminal, or on what comes from a pipe. These servers are to be
    /// connected.
    pub(super) fn new(desk: &'a Desk<'a>, environment: &Environment, wanted: Vec<String>) -> Self {
        let attended = environment.answers && desk.printer.is_terminal();
        let (sender, notes) = mpsc::unbounded_channel();
        let happening =
            Happening { events: desk.manager.subscribe(), tools: desk.registry.subscribe(), notes };
        let (lines, above) = match attended {
            false => (Lines::from_stdin(), None),
            true => {
                let (manager, registry) = (desk.manager.clone(), Arc::clone(&desk.registry));
                let completion = Completion { manager, registry };
                let (lines, above) = edited(completion, environment.history.clone());
                (lines, Some(above))
            }
        };
        // A script says itself when something is to change.
        let following = attended.then(|| {
            desk.manager.follow(desk.reader(move |note| {
                // Nobody is there to be told once all ends.
                let _ = sender.send(note);
            }))
        });
        let connecting = async move {
            join_all(wanted.iter().map(|name| desk.manager.connect(name))).await;
            desk.registry.sync(&desk.manager);
        };
        Work {
            desk,
            lines,
            ahead: VecDeque::new(),
            person: above.is_some().then(Person::new),
            beside: desk.beside(),
            progress_is_shown: false,
            above,
            happening,
            connecting: Some(Box::pin(connecting)),
            _following: following,
            failed: false,
        }
    }

    /// Works until there are no more lines, somebody says that it is enough, or a
    /// signal comes.
    ///
    /// # Errors
    /// When a signal comes, or nobody takes what is printed.
    pub(super) async fn run(&mut self, signals: &mut Signals) -> Result<Exit, Failure> {
        if self.above.is_none() {
            self.connect_first(signals).await?;
        }
        let mut interrupted = false;
        loop {
            let input = self.next_line(signals).await?;
            let then = match input {
                Input::Line(line) => {
                    interrupted = false;
                    self.line(&line, signals).await?
                }
                Input::Interrupted if interrupted => {
                    return Err(Failure::Stopped(Signal::Interrupt));
                }
                Input::Interrupted => {
                    interrupted = true;
                    self.tell("Ctrl+C again, Ctrl+D or /quit ends the shell").await;
                    Then::GoOn
                }
                Input::End => Then::End(self.exit()),
                Input::Broken(why) => {
                    return Err(Failure::File(format!("cannot read what is typed: {why}")));
                }
            };
            if let Then::End(exit) = then {
                return Ok(exit);
            }
        }
    }

    /// A script finds its servers connected, or else knows.
    async fn connect_first(&mut self, signals: &mut Signals) -> Result<(), Failure> {
        let Some(connecting) = self.connecting.take() else { return Ok(()) };
        signals.during(connecting).await?;
        self.catch_up(Mute::Success).await;
        for note in self.desk.registry.unfit_rules() {
            self.desk.printer.note(&note).await;
        }
        Ok(())
    }

    async fn next_line(&mut self, signals: &mut Signals) -> Result<Input, Failure> {
        if let Some(input) = self.ahead.pop_front() {
            return Ok(input);
        }
        loop {
            tokio::select! {
                biased;
                signal = signals.next() => match (signal, &self.above) {
                    // It was typed before the line could be edited.
                    (Signal::Interrupt, Some(_)) => return Ok(Input::Interrupted),
                    _ => return Err(Failure::Stopped(signal)),
                },
                () = connected(&mut self.connecting) => {
                    self.connecting = None;
                    for note in self.desk.registry.unfit_rules() {
                        self.tell(&note).await;
                    }
                }
                news = self.happening.next() => self.take(news, Mute::Nobody).await,
                input = self.lines.next() => return Ok(input),
            }
        }
    }

    async fn line(&mut self, line: &str, signals: &mut Signals) -> Result<Then, Failure> {
        let said = match read(line) {
            Ok(said) => said,
            Err(failure) => return self.failed(&failure).await,
        };
        match said {
            Said::Nothing => Ok(Then::GoOn),
            Said::Quit => Ok(Then::End(self.exit())),
            Said::Help(about) => self.help(about).await.map(|()| Then::GoOn),
            Said::Do(command, words) => self.command(command, &words, signals).await,
        }
    }

    /// Does a command. At a terminal Ctrl+C ends it, and not the shell.
    async fn command(
        &mut self,
        command: &Command,
        words: &[String],
        signals: &mut Signals,
    ) -> Result<Then, Failure> {
        let mute = match command.tells {
            Tells::Nobody => Mute::Nobody,
            Tells::First => Mute::Server(words.first().cloned().unwrap_or_default()),
            Tells::All => Mute::All,
        };
        self.desk.registry.sync(&self.desk.manager);
        let mut work = (command.run)(self.desk, words);
        let done = loop {
            tokio::select! {
                biased;
                signal = signals.next() => match (signal, &self.above) {
                    (Signal::Interrupt, Some(_)) => break None,
                    _ => return Err(Failure::Stopped(signal)),
                },
                Some(beside) = self.beside.recv() => match beside {
                    Beside::Progress(progress) => self.show_progress(&progress).await,
                    Beside::Asked(asked) => {
                        self.end_progress().await;
                        match self.answer(asked, signals).await {
                            None => {}
                            Some(Signal::Interrupt) if self.above.is_some() => break None,
                            Some(signal) => return Err(Failure::Stopped(signal)),
                        }
                    }
                },
                done = &mut work => break Some(done),
                () = connected(&mut self.connecting) => self.connecting = None,
                news = self.happening.next() => self.take(news, mute.clone()).await,
            }
        };
        drop(work);
        self.end_progress().await;
        self.forget_beside();
        self.catch_up(mute).await;
        match done {
            Some(Ok(Exit::Good)) => Ok(Then::GoOn),
            Some(Ok(_)) => {
                self.failed = true;
                Ok(Then::GoOn)
            }
            Some(Err(failure @ (Failure::Output(_) | Failure::Stopped(_)))) => Err(failure),
            Some(Err(failure)) => self.failed(&failure).await,
            None => {
                self.failed = true;
                // The terminal shows ^C where the line stands.
                self.desk.printer.notice("\n").await;
                let note = match command.tells {
                    Tells::Nobody => "cancelled",
                    _ => "nobody waits for it any more, and it goes on by itself",
                };
                self.desk.printer.note(note).await;
                Ok(Then::GoOn)
            }
        }
    }

    /// What comes too late is nobody's any more.
    fn forget_beside(&mut self) {
        while self.beside.try_recv().is_ok() {}
    }

    async fn failed(&mut self, failure: &Failure) -> Result<Then, Failure> {
        self.failed = true;
        match failure {
            // What a server said last stands in lines of its own.
            Failure::NoServer(error) => {
                let text = error.to_string();
                let last = text.split_once('\n').map(|(_, last)| last);
                let what = Failure::Usage(first_line(&text));
                self.desk.printer.failure(&what, last).await;
            }
            failure => {
                self.desk.printer.failure(failure, None).await;
            }
        }
        Ok(Then::GoOn)
    }

    async fn help(&self, about: Option<&Command>) -> Result<(), Failure> {
        let printer = self.desk.printer;
        if let Some(command) = about {
            let more = match command.more {
                "" => String::new(),
                more => format!("\n{more}\n"),
            };
            let text = format!("{}\n  {}\n{more}", command.usage(), command.about);
            return printer.print(&text).await;
        }
        let mut table = Table::default();
        for command in &ALL {
            table.row([&*command.usage(), command.about]);
        }
        table.row([
            "/answer ANSWER",
            "in a script, answer what the server of the command before asks",
        ]);
        table.row(["/help [COMMAND]", "show this, or more about one command"]);
        table.row(["/quit, /exit", "end the shell; so does Ctrl+D"]);
        printer.print(&table.render(printer.paint(), printer.width(), 0)).await
    }

    /// Takes all that has happened by now.
    async fn catch_up(&mut self, mute: Mute) {
        while let Some(news) = self.happening.next().now_or_never() {
            self.take(news, mute.clone()).await;
        }
    }

    async fn take(&self, news: News, mute: Mute) {
        let told = match news {
            News::Event(event) => {
                self.follow_tools(&event);
                match event {
                    // That it has lists at all is told when it is connected.
                    Event::Listed { server, .. } if !self.desk.log().is_connected(&server) => None,
                    event => told(&event),
                }
            }
            News::Note(text) => Some(Told { said: Some(text), ..Told::default() }),
        };
        let Some(Told { server, kept, said, connected }) = told else { return };
        if let Some(server) = &server {
            self.desk.note_down(server, &kept, connected);
        }
        let Some(said) = said else { return };
        let muted = match &mute {
            Mute::Nobody => false,
            Mute::All => true,
            Mute::Server(name) => server.as_ref() == Some(name),
            Mute::Success => said.starts_with("connected to "),
        };
        if !muted {
            self.tell(&said).await;
        }
    }

    fn follow_tools(&self, event: &Event) {
        if matches!(event, Event::State { .. } | Event::Listed { .. } | Event::Missed(_)) {
            self.desk.registry.sync(&self.desk.manager);
        }
    }

    /// Tells something beside the point, above the line that is edited if one is.
    async fn tell(&self, text: &str) {
        if self.desk.printer.quiet() {
            return;
        }
        if let Some(above) = self.above.as_ref().filter(|_| self.lines.is_waiting()) {
            let lines: Vec<String> = text.lines().map(line::clean).collect();
            if above.print(format!("{}\n", lines.join("\n"))) {
                return;
            }
        }
        self.desk.printer.note(text).await;
    }

    /// At a terminal somebody has seen what failed.
    fn exit(&self) -> Exit {
        match self.failed && self.above.is_none() {
            true => Exit::Failed,
            false => Exit::Good,
        }
    }
}

/// Of what nothing is told, since a command does.
#[derive(Clone)]
enum Mute {
    Nobody,
    Server(String),
    Success,
    All,
}

/// Something that happened beside commands.
enum News {
    Event(Event),
    Note(String),
}

impl Happening {
    async fn next(&mut self) -> News {
        loop {
            tokio::select! {
                Some(event) = self.events.next() => return News::Event(event),
                Some(event) = self.tools.next() => {
                    if let registry::Event::Note(text) = event {
                        return News::Note(text.to_string());
                    }
                }
                Some(note) = self.notes.recv() => return News::Note(note),
                else => std::future::pending().await,
            }
        }
    }
}

/// Waits until all are connected that are being connected.
async fn connected(connecting: &mut Option<Pin<Box<dyn Future<Output = ()> + '_>>>) {
    match connecting {
        Some(connecting) => connecting.await,
        None => std::future::pending().await,
    }
}
