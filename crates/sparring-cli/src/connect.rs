//! From the flags to a client and back: starts the target, lets the verb talk
//! to it, tells what came of it, and leaves nothing running.

use std::io;
use std::time::Duration;

use sparring_peer::{Client, ClientBuilder, Link, Protocol};
use sparring_transport::{Container, Opened, Stderr, Target};
use sparring_wire::Transcript;
use tokio::time::timeout;

use crate::environment::Environment;
use crate::exit::{Exit, Signal};
use crate::failure::Failure;
use crate::frames::Frames;
use crate::output::Printer;
use crate::relay::Relay;
use crate::signals::Signals;
use crate::verbs::Visit;
use crate::watch::Watch;

/// How long somebody who asked the program to stop waits for it to say so, to
/// readers that may not read.
const SOON: Duration = Duration::from_secs(1);

/// What a verb has to work with.
pub(crate) struct Session<'a> {
    /// The connection.
    pub(crate) client: Client,
    /// Who prints.
    pub(crate) printer: &'a Printer,
    /// Everything that the target sends, for who wants it.
    pub(crate) frames: Frames,
    /// What it is a connection to.
    pub(crate) target: &'a Target,
}

/// What is running.
struct Conversation<'a> {
    verb: &'a Visit,
    printer: &'a Printer,
    target: Target,
    client: Client,
    watch: Watch,
    /// The stderr of a child.
    stderr: Option<Stderr>,
    /// Set where that is passed on.
    relay: Option<Relay>,
    /// The container that it runs in.
    container: Option<Container>,
}

/// Does what the verb says.
///
/// # Errors
/// When the system does not give what that needs.
pub(crate) fn run(verb: Visit, printer: &Printer, environment: &Environment) -> io::Result<Exit> {
    // One thread: on Linux a child dies with the thread that started it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        Ok(converse(verb, printer, environment, &mut signals).await)
    });
    // A thread that hangs in a read or a write is not waited for.
    runtime.shutdown_background();
    exit
}

/// Everything from reading what was given to the end of the target.
async fn converse(
    mut verb: Visit,
    printer: &Printer,
    environment: &Environment,
    signals: &mut Signals,
) -> Exit {
    let begun = tokio::select! {
        biased;
        signal = signals.next() => Err(Failure::Stopped(signal)),
        begun = begin(&mut verb, printer, environment) => begun,
    };
    let begun = match begun {
        Ok(begun) => begun,
        Err(Failure::Stopped(signal)) => return stopped(printer, signal).await,
        Err(failure) => {
            return tokio::select! {
                biased;
                signal = signals.next() => Exit::Stopped(signal),
                exit = printer.failure(&failure, None) => exit,
            };
        }
    };
    let Begun { target, client, watch, stderr, relay, container } = begun;
    let mut conversation =
        Conversation { verb: &verb, printer, target, client, watch, stderr, relay, container };
    let told = tokio::select! {
        biased;
        signal = signals.next() => Err(signal),
        exit = conversation.talk_and_tell() => Ok(exit),
    };
    tokio::select! {
        biased;
        // Whoever asks again does not want to wait: with the runtime goes the
        // link, and with that the target.
        signal = signals.next() => Exit::Stopped(signal),
        exit = conversation.end(told) => exit,
    }
}

/// What was started.
struct Begun {
    target: Target,
    client: Client,
    watch: Watch,
    stderr: Option<Stderr>,
    relay: Option<Relay>,
    container: Option<Container>,
}

/// Reads what was given, begins the trace, and starts the target, in this
/// order: what is wrong with what was typed is told before anything is started.
async fn begin(
    verb: &mut Visit,
    printer: &Printer,
    environment: &Environment,
) -> Result<Begun, Failure> {
    let target = verb.shared_mut().target(environment, printer).await?;
    verb.prepare().await?;
    let trace = verb.shared().connection.trace.clone();
    let (watch, transcript) = Watch::begin(trace).await?;
    let Opened { link, stderr, container } =
        open(&target, verb.shared().connection.timeout()).await?;
    let passed_on = stderr.as_ref().filter(|_| verb.shared().show_stderr());
    let relay = passed_on.map(|stderr| Relay::start(stderr, printer.stderr()));
    let client = start(verb, watch.gate(link), transcript);
    Ok(Begun { target, client, watch, stderr, relay, container })
}

async fn open(target: &Target, within: Duration) -> Result<Opened, Failure> {
    // A container has the same deadline, and says what it waited for.
    if let Target::Container(_) = target {
        return Ok(target.open().await?);
    }
    let opened = timeout(within, target.open()).await;
    Ok(opened.map_err(|_| Failure::NotConnected(within))??)
}

fn start(verb: &Visit, link: impl Link, transcript: Transcript) -> Client {
    let mut options = verb.shared().client();
    if !verb.shakes_hands() {
        options.protocol = Protocol::Raw;
    }
    ClientBuilder::with_options(options).transcript(transcript).start(link)
}

/// Says that a signal ends the program, to whoever reads soon.
async fn stopped(printer: &Printer, signal: Signal) -> Exit {
    let failure = Failure::Stopped(signal);
    let _ = timeout(SOON, printer.failure(&failure, None)).await;
    failure.exit()
}

impl Conversation<'_> {
    /// Lets the verb do its work and tells of it.
    async fn talk_and_tell(&self) -> Exit {
        let outcome = self.talk().await;
        self.tell(&outcome).await
    }

    async fn talk(&self) -> Result<Exit, Failure> {
        self.client.ready().await.map_err(Failure::Connect)?;
        let (client, frames) = (self.client.clone(), self.watch.frames().clone());
        self.verb.run(Session { client, printer: self.printer, frames, target: &self.target }).await
    }

    async fn tell(&self, outcome: &Result<Exit, Failure>) -> Exit {
        // What was passed on is not shown again.
        let stderr = self.stderr.as_ref().filter(|_| self.relay.is_none()).map(Stderr::tail);
        let (exit, shown) = match outcome {
            Ok(exit) => (*exit, None),
            Err(failure) => {
                (self.printer.failure(failure, stderr.as_deref()).await, failure.frame())
            }
        };
        let mishaps = self.client.mishaps();
        for note in self.watch.notes(shown, &mishaps) {
            self.printer.note(&note).await;
        }
        if let (Err(failure), Some(container)) = (outcome, &self.container)
            && failure.is_silence()
            && let Some(trouble) = container.trouble().await
        {
            self.printer.note(&trouble).await;
        }
        exit
    }

    /// Ends the target; a signal that came instead of an exit code is told
    /// while that goes on.
    async fn end(&mut self, told: Result<Exit, Signal>) -> Exit {
        match told {
            Ok(exit) => {
                self.client.close().await;
                self.finish(exit).await
            }
            Err(signal) => {
                let outcome = Err(Failure::Stopped(signal));
                let _ = tokio::join!(timeout(SOON, self.tell(&outcome)), self.client.close());
                let exit = Exit::Stopped(signal);
                timeout(SOON, self.finish(exit)).await.unwrap_or(exit)
            }
        }
    }

    /// Waits until the target's last words and the trace are written.
    async fn finish(&mut self, exit: Exit) -> Exit {
        if let Some(relay) = &mut self.relay {
            relay.finish().await;
        }
        if let Some(left) = self.container.as_ref().and_then(Container::left) {
            self.printer.note(&left).await;
        }
        match self.watch.finish().await {
            Ok(()) => exit,
            Err(failure) => {
                self.printer.error(&failure.to_string()).await;
                if exit == Exit::Good { failure.exit() } else { exit }
            }
        }
    }
}
