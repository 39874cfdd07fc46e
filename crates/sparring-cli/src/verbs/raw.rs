//! `spar raw`: sends what it is given, and prints what comes back.

use std::time::Duration;

use clap::Args;
use sparring_peer::client::Error;
use sparring_wire::{Entry, Frame, RawJson};
use tokio::time::{Instant, timeout_at};

use crate::args::{Shared, given, time};
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;
use crate::trace;

const USAGE: &str = "spar raw [OPTIONS] <JSON> (-- <COMMAND>... | --unix <PATH>)";

const EXAMPLES: &str = "\
Examples:
  spar raw '{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}' -- python server.py
  spar raw --no-handshake @request.json -- ./server
  spar raw --bytes 'no JSON at all' --wait 2s -- ./server
  printf '\\377' | spar raw --bytes - --unix /tmp/server.sock

Every line that comes back is printed as it is; with --json as
{\"at\":…,\"from\":…,\"frame\":…,\"violations\":[…]}.
A request is over with its answer; anything else when nothing comes for --wait.";

/// To clap a plain `Vec` would be an argument that may be repeated.
type Bytes = std::vec::Vec<u8>;

/// Send JSON or bytes as they are, and print what comes back
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Raw {
    /// What to send: JSON, @FILE, or - for stdin
    #[arg(value_name = "JSON", value_parser = given::bytes)]
    what: Bytes,

    /// Send it whatever it is, also what is no JSON
    #[arg(long)]
    bytes: bool,

    /// Send nothing before it: neither the handshake nor a probe
    #[arg(long, conflicts_with = "protocol")]
    pub(super) no_handshake: bool,

    /// For what is no request: stop when nothing comes for so long
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = time)]
    wait: Duration,

    #[command(flatten)]
    pub(super) shared: Shared,
}

impl Raw {
    pub(super) async fn run(&self, mut session: Session<'_>) -> Result<Exit, Failure> {
        // What the handshake brought is not an answer to this.
        while session.frames.try_recv().is_ok() {}
        let frame = Frame::parse(self.to_send()?);
        match frame.id().is_some() && frame.method().is_some() {
            true => ask(&frame, &mut session).await,
            false => self.tell(frame, &mut session).await,
        }
    }

    /// The bytes as they go out; a line break in JSON would end the frame early.
    pub(super) fn to_send(&self) -> Result<Vec<u8>, Failure> {
        if self.bytes {
            return Ok(self.what.clone());
        }
        let refused = |error: String| Failure::Usage(format!("{error}; --bytes sends it as it is"));
        let text = std::str::from_utf8(&self.what).map_err(|error| refused(error.to_string()))?;
        let json = RawJson::parse(text).map_err(|error| refused(error.to_string()))?;
        Ok(given::one_line(&json).text().as_bytes().to_vec())
    }

    /// Sends what has no answer, and prints until it is quiet.
    async fn tell(&self, frame: Frame, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let latest = Instant::now() + self.shared.connection.timeout;
        session.client.send_bytes(frame.bytes());
        loop {
            // A target that never stops talking must not outlast its time.
            if Instant::now() >= latest {
                return Ok(Exit::Good);
            }
            let quiet = latest.min(Instant::now() + self.wait);
            let closed = session.client.closed();
            tokio::select! {
                biased;
                entry = timeout_at(quiet, session.frames.recv()) => match entry {
                    Ok(Some(entry)) => print(&entry, session.printer)?,
                    Ok(None) | Err(_) => return Ok(Exit::Good),
                },
                cause = closed => {
                    print_rest(session, None)?;
                    return Err(Failure::Request(Error::Closed { method: "what was sent".to_owned(), cause }));
                }
            }
        }
    }
}

/// Sends a request, and prints until its answer.
async fn ask(frame: &Frame, session: &mut Session<'_>) -> Result<Exit, Failure> {
    let mut answer = session.client.request_bytes(frame.bytes()).start();
    let answer = loop {
        tokio::select! {
            biased;
            // First: a target that never stops talking must not outlast its time.
            answer = &mut answer => {
                print_rest(session, Some(frame))?;
                break answer;
            }
            Some(entry) = session.frames.recv() => {
                print(&entry, session.printer)?;
                if answers(&entry, frame) {
                    break answer.await;
                }
            }
        }
    };
    match answer.map_err(Failure::Request)?.error() {
        None => Ok(Exit::Good),
        Some(error) => {
            session.printer.error(&format!("the answer is an error: {error}"));
            Ok(Exit::Failed)
        }
    }
}

/// Prints what has come, up to the answer.
fn print_rest(session: &mut Session<'_>, request: Option<&Frame>) -> Result<(), Failure> {
    for _ in 0..session.frames.len() {
        let Ok(entry) = session.frames.try_recv() else { break };
        print(&entry, session.printer)?;
        if request.is_some_and(|request| answers(&entry, request)) {
            break;
        }
    }
    Ok(())
}

fn answers(entry: &Entry, request: &Frame) -> bool {
    entry.frame.is_response_like() && entry.frame.id() == request.id()
}

fn print(entry: &Entry, printer: &Printer) -> Result<(), Failure> {
    match printer.json() {
        true => printer.print(&trace::line(entry)),
        false => printer.print(&format!("{}\n", entry.frame.text())),
    }
}
