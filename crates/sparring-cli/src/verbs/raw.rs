//! `spar raw`: sends JSON or bytes unchanged, and prints the frames that arrive.

use std::collections::VecDeque;
use std::time::Duration;

use clap::Args;
use sparring_peer::client::Error;
use sparring_wire::{Entry, Frame};
use tokio::time::{Instant, timeout_at};

use crate::args::text_source::TextSource;
use crate::args::{TargetFlags, parse_duration};
use crate::command_error::CommandError;
use crate::connection::Connection;
use crate::exit::Exit;
use crate::output::Printer;
use crate::server_questions::AnswerFlags;
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

Received frames are printed byte for byte, one a line; a terminal gets control
characters escaped as \\u001b or \\xff. With --json, one line each:
{\"at\":…,\"from\":…,\"frame\":…,\"violations\":[…]}.
A request ends with its response; anything else when nothing arrives for --wait.";

/// Send JSON or bytes unchanged, and print what arrives
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Raw {
    /// The message: JSON, @FILE, or - for stdin
    #[arg(value_name = "JSON")]
    input: TextSource,

    /// The bytes to send.
    #[arg(skip)]
    bytes_to_send: Vec<u8>,

    /// Send the bytes unchanged, even if they are not JSON
    #[arg(long)]
    bytes: bool,

    /// Send nothing first: no handshake and no probe
    #[arg(long, conflicts_with = "protocol")]
    pub(super) no_handshake: bool,

    /// Without a request: stop when nothing arrives for this time
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = parse_duration)]
    wait: Duration,

    #[command(flatten)]
    pub(super) answers: AnswerFlags,

    #[command(flatten)]
    pub(super) flags: TargetFlags,
}

impl Raw {
    /// Reads the bytes to send.
    pub(super) async fn read_input(&mut self) -> Result<(), CommandError> {
        self.bytes_to_send = match self.bytes {
            true => self.input.read().await?,
            false => {
                let refused = |error| {
                    CommandError::Usage(format!("{error}; use --bytes to send it unchanged"))
                };
                let json = self.input.read_json().await?.map_err(refused)?;
                json.text().as_bytes().to_vec()
            }
        };
        Ok(())
    }

    pub(super) async fn run(&self, connection: &Connection<'_>) -> Result<Exit, CommandError> {
        // Frames of the handshake are not part of the output.
        connection.frames().start();
        self.answers.begin_request(connection);
        let frame = Frame::parse(self.bytes_to_send.clone());
        match frame.id().is_some() && frame.method().is_some() {
            true => self.request_and_print(&frame, connection).await,
            false => self.send_and_print(&frame, connection).await,
        }
    }

    /// Sends something that has no response, and prints until nothing arrives.
    async fn send_and_print(
        &self,
        frame: &Frame,
        connection: &Connection<'_>,
    ) -> Result<Exit, CommandError> {
        let deadline = Instant::now() + self.flags.connection.timeout();
        connection.client.send_bytes(frame.bytes());
        loop {
            // The timeout also ends a target that never stops sending.
            if Instant::now() >= deadline {
                return self.unsent_error(frame, connection).map_or(Ok(Exit::Success), Err);
            }
            let quiet = deadline.min(Instant::now() + self.wait);
            let over = async {
                tokio::select! {
                    cause = connection.client.closed() => cause,
                    cause = connection.frames().send_error() => cause,
                }
            };
            tokio::select! {
                biased;
                entries = timeout_at(quiet, connection.frames().next()) => match entries {
                    Ok(entries) => print_frames(entries, None, connection.printer).await?,
                    Err(_) if connection.frames().unsent_bytes() == 0 => return Ok(Exit::Success),
                    Err(_) => {}
                },
                cause = over => {
                    print_frames(connection.frames().take(), None, connection.printer).await?;
                    let method = "the sent bytes".to_owned();
                    return Err(CommandError::Request(Error::Closed { method, cause }));
                }
            }
        }
    }

    /// Sends a request, and prints until its response.
    async fn request_and_print(
        &self,
        frame: &Frame,
        connection: &Connection<'_>,
    ) -> Result<Exit, CommandError> {
        let mut response = connection.client.request_bytes(frame.bytes()).start();
        let (response, printed) = loop {
            tokio::select! {
                biased;
                // First, since the timeout also ends a target that never stops sending.
                response = &mut response => {
                    let frames = connection.frames().take();
                    break (response, print_frames(frames, Some(frame), connection.printer).await);
                }
                entries = connection.frames().next() => {
                    let responded = entries.iter().any(|entry| is_response_to(entry, frame));
                    let printed = print_frames(entries, Some(frame), connection.printer).await;
                    if responded {
                        break (response.await, printed);
                    }
                    printed?;
                }
            }
        };
        match response {
            Err(error @ (Error::Timeout { .. } | Error::Stalled { .. })) => {
                Err(self.unsent_error(frame, connection).unwrap_or(CommandError::Request(error)))
            }
            Err(error) => Err(CommandError::Request(error)),
            Ok(response) => match response.error() {
                None => printed.map(|()| Exit::Success),
                Some(error) => {
                    connection.printer.error(&format!("the response is an error: {error}")).await;
                    printed.or_else(CommandError::ignore_broken_pipe).map(|()| Exit::Failed)
                }
            },
        }
    }

    /// Returns the failure if bytes were not sent.
    fn unsent_error(&self, frame: &Frame, connection: &Connection<'_>) -> Option<CommandError> {
        // The line break after the frame is not counted.
        let (left, all) = (connection.frames().unsent_bytes(), frame.bytes().len());
        let within = self.flags.connection.timeout();
        (left > 0).then(|| CommandError::Unsent { left: left.min(all), all, within })
    }
}

fn is_response_to(entry: &Entry, request: &Frame) -> bool {
    entry.frame.is_response_like() && entry.frame.id() == request.id()
}

/// Prints frames, up to the response of the request.
async fn print_frames(
    entries: VecDeque<Entry>,
    request: Option<&Frame>,
    printer: &Printer,
) -> Result<(), CommandError> {
    let mut bytes = Vec::new();
    for entry in entries {
        match printer.is_json() {
            true => bytes.extend_from_slice(trace::frame_line(&entry).as_bytes()),
            false => {
                bytes.extend_from_slice(entry.frame.bytes());
                bytes.push(b'\n');
            }
        }
        if request.is_some_and(|request| is_response_to(&entry, request)) {
            break;
        }
    }
    printer.print_untrusted(&bytes).await
}
