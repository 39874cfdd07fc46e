//! `spar raw`: sends what it is given, and prints what comes back.

use std::collections::VecDeque;
use std::time::Duration;

use clap::Args;
use sparring_peer::client::Error;
use sparring_wire::{Entry, Frame};
use tokio::time::{Instant, timeout_at};

use crate::args::given::Given;
use crate::args::{Shared, time};
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;
use crate::trace;

const USAGE: &str =
    "spar raw [OPTIONS] <JSON> (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar raw '{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}' -- python server.py
  spar raw --no-handshake @request.json -- ./server
  spar raw --bytes 'no JSON at all' --wait 2s -- ./server
  spar raw @request.json --url http://127.0.0.1:3001/mcp --header 'X-Tenant: a'
  printf '\\377' | spar raw --bytes - --unix /tmp/server.sock

Whatever comes back is printed byte for byte, a line each; on a terminal, what
is no text is spelled out as \\u001b or \\xff. With --json: a line each of
{\"at\":…,\"from\":…,\"frame\":…,\"violations\":[…]}.
A request is over with its answer; anything else when nothing comes for --wait.";

/// Send JSON or bytes as they are, and print what comes back
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Raw {
    /// What to send: JSON, @FILE, or - for stdin
    #[arg(value_name = "JSON")]
    what: Given,

    /// The bytes as they go out.
    #[arg(skip)]
    bytes_to_send: Vec<u8>,

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
    /// Reads what to send.
    pub(super) async fn prepare(&mut self) -> Result<(), Failure> {
        self.bytes_to_send = match self.bytes {
            true => self.what.read().await?,
            false => {
                let refused = |error| Failure::Usage(format!("{error}; --bytes sends it as it is"));
                let json = self.what.read_json().await?.map_err(refused)?;
                json.text().as_bytes().to_vec()
            }
        };
        Ok(())
    }

    pub(super) async fn run(&self, session: Session<'_>) -> Result<Exit, Failure> {
        // What the handshake brought is not an answer to this.
        session.frames.begin();
        let frame = Frame::parse(self.bytes_to_send.clone());
        match frame.id().is_some() && frame.method().is_some() {
            true => self.ask(&frame, &session).await,
            false => self.tell(&frame, &session).await,
        }
    }

    /// Sends what has no answer, and prints until it is quiet.
    async fn tell(&self, frame: &Frame, session: &Session<'_>) -> Result<Exit, Failure> {
        let latest = Instant::now() + self.shared.connection.timeout();
        session.client.send_bytes(frame.bytes());
        loop {
            // A target that never stops talking must not outlast its time.
            if Instant::now() >= latest {
                return self.unsent(frame, session).map_or(Ok(Exit::Good), Err);
            }
            let quiet = latest.min(Instant::now() + self.wait);
            let over = async {
                tokio::select! {
                    cause = session.client.closed() => cause,
                    cause = session.frames.broken() => cause,
                }
            };
            tokio::select! {
                biased;
                entries = timeout_at(quiet, session.frames.next()) => match entries {
                    Ok(entries) => print(entries, None, session.printer).await?,
                    Err(_) if session.frames.unsent() == 0 => return Ok(Exit::Good),
                    Err(_) => {}
                },
                cause = over => {
                    print(session.frames.take(), None, session.printer).await?;
                    let method = "what was sent".to_owned();
                    return Err(Failure::Request(Error::Closed { method, cause }));
                }
            }
        }
    }

    /// Sends a request, and prints until its answer.
    async fn ask(&self, frame: &Frame, session: &Session<'_>) -> Result<Exit, Failure> {
        let mut answer = session.client.request_bytes(frame.bytes()).start();
        let (answer, printed) = loop {
            tokio::select! {
                biased;
                // First: a target that never stops talking must not outlast its time.
                answer = &mut answer => {
                    break (answer, print(session.frames.take(), Some(frame), session.printer).await);
                }
                entries = session.frames.next() => {
                    let answered = entries.iter().any(|entry| answers(entry, frame));
                    let printed = print(entries, Some(frame), session.printer).await;
                    if answered {
                        break (answer.await, printed);
                    }
                    printed?;
                }
            }
        };
        match answer {
            Err(error @ (Error::Timeout { .. } | Error::Stalled { .. })) => {
                Err(self.unsent(frame, session).unwrap_or(Failure::Request(error)))
            }
            Err(error) => Err(Failure::Request(error)),
            Ok(answer) => match answer.error() {
                None => printed.map(|()| Exit::Good),
                Some(error) => {
                    session.printer.error(&format!("the answer is an error: {error}")).await;
                    printed.or_else(Failure::unless_loud).map(|()| Exit::Failed)
                }
            },
        }
    }

    /// What is to be said of bytes that did not get out.
    fn unsent(&self, frame: &Frame, session: &Session<'_>) -> Option<Failure> {
        // What ends the line is not counted.
        let (left, all) = (session.frames.unsent(), frame.bytes().len());
        let within = self.shared.connection.timeout();
        (left > 0).then(|| Failure::Unsent { left: left.min(all), all, within })
    }
}

fn answers(entry: &Entry, request: &Frame) -> bool {
    entry.frame.is_response_like() && entry.frame.id() == request.id()
}

/// Prints frames, up to the answer if there is one.
async fn print(
    entries: VecDeque<Entry>,
    request: Option<&Frame>,
    printer: &Printer,
) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    for entry in entries {
        match printer.json() {
            true => bytes.extend_from_slice(trace::line(&entry).as_bytes()),
            false => {
                bytes.extend_from_slice(entry.frame.bytes());
                bytes.push(b'\n');
            }
        }
        if request.is_some_and(|request| answers(&entry, request)) {
            break;
        }
    }
    printer.print_foreign(&bytes).await
}
