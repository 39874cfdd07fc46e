//! From the flags to a client and back: starts the target, lets the verb talk
//! to it, tells what came of it, and leaves nothing running.

use std::io::Write as _;

use sparring_peer::{Client, ClientBuilder, Link, Protocol};
use sparring_transport::{Opened, Stderr};
use sparring_wire::{Entry, Transcript};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;
use crate::signals::Signals;
use crate::verbs::Verb;
use crate::watch::Watch;

/// What a verb has to work with.
pub(crate) struct Session<'a> {
    /// The connection.
    pub(crate) client: Client,
    /// Who prints.
    pub(crate) printer: &'a Printer,
    /// Everything that the target sends; only filled for who wants it.
    pub(crate) frames: mpsc::UnboundedReceiver<Entry>,
}

/// Does what the verb says.
pub(crate) fn run(verb: &Verb, printer: &Printer) -> Exit {
    if let Err(failure) = verb.check() {
        return printer.failure(&failure, None);
    }
    // One thread: on Linux a child dies with the thread that started it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(converse(verb, printer)),
        Err(error) => Err(Failure::System(error)),
    };
    outcome.unwrap_or_else(|failure| printer.failure(&failure, None))
}

/// Everything from the start of the target to its end. What fails before there
/// is a target is given back, the rest is told here, before the shutdown.
async fn converse(verb: &Verb, printer: &Printer) -> Result<Exit, Failure> {
    let mut signals = Signals::listen().map_err(Failure::System)?;
    let (sender, frames) = mpsc::unbounded_channel();
    let sender = verb.wants_frames().then_some(sender);
    let trace = verb.shared().connection.trace.as_deref();
    let (watch, transcript) = Watch::begin(trace, sender)?;
    let opened = tokio::select! {
        biased;
        signal = signals.next() => return Err(Failure::Stopped(signal)),
        opened = open(verb) => opened?,
    };
    let stderr = opened.stderr;
    if let Some(stderr) = stderr.as_ref().filter(|_| verb.shared().show_stderr()) {
        pass_on(stderr);
    }
    let client = start(verb, opened.link, transcript);
    let outcome = tokio::select! {
        biased;
        signal = signals.next() => Err(Failure::Stopped(signal)),
        outcome = talk(verb, printer, client.clone(), frames) => outcome,
    };
    let exit = tell(verb, printer, &watch, &outcome, stderr.as_ref());
    tokio::select! {
        biased;
        // Whoever asks again does not want to wait: with the runtime goes the
        // link, and with that the target.
        signal = signals.next() => Ok(Exit::Stopped(signal)),
        () = client.close() => Ok(exit),
    }
}

async fn open(verb: &Verb) -> Result<Opened, Failure> {
    let within = verb.shared().connection.timeout;
    let target = verb.shared().target();
    let opened = timeout(within, target.open()).await;
    Ok(opened.map_err(|_| Failure::NotConnected(within))??)
}

fn start(verb: &Verb, link: Box<dyn Link>, transcript: Transcript) -> Client {
    let mut options = verb.shared().client();
    if !verb.shakes_hands() {
        options.protocol = Protocol::Raw;
    }
    ClientBuilder::with_options(options).transcript(transcript).start(link)
}

async fn talk(
    verb: &Verb,
    printer: &Printer,
    client: Client,
    frames: mpsc::UnboundedReceiver<Entry>,
) -> Result<Exit, Failure> {
    client.ready().await.map_err(Failure::Connect)?;
    verb.run(Session { client, printer, frames }).await
}

fn tell(
    verb: &Verb,
    printer: &Printer,
    watch: &Watch,
    outcome: &Result<Exit, Failure>,
    stderr: Option<&Stderr>,
) -> Exit {
    // What was passed on is not shown again.
    let stderr = stderr.filter(|_| !verb.shared().show_stderr()).map(Stderr::tail);
    let (exit, shown) = match outcome {
        Ok(exit) => (*exit, None),
        Err(failure) => (printer.failure(failure, stderr.as_deref()), failure.frame()),
    };
    for note in watch.notes(shown) {
        printer.note(&note);
    }
    exit
}

/// Gives what the target writes to its stderr to ours, byte by byte as it comes.
fn pass_on(stderr: &Stderr) {
    stderr.on_output(|bytes| {
        // There is nobody left to tell that stderr is closed.
        let _ = std::io::stderr().lock().write_all(bytes);
    });
}
