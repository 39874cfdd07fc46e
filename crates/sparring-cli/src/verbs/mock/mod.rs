//! `spar mock`: serves a script on stdin and stdout or over HTTP.

mod journal_file;
mod llm;
mod script_reloader;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sparring_mock::{ControlKeys, MockServer, ProcessFault, Settings};
use sparring_peer::Cause;
use sparring_peer::server::client_stopped_reading;
use sparring_transport::http::{Tls, TlsClient};
use sparring_transport::stdio;
use tokio::sync::mpsc::Receiver;

use crate::args::{OutputFlags, values};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::output::Printer;
use crate::request_lines;
use crate::signals::Signals;
use journal_file::JournalFile;
use script_reloader::{ScriptReloader, load_error};

/// Limit for requests in flight when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  spar mock weather.mock.yaml
  spar mock weather.mock.yaml --http 3001
  spar mock weather.mock.yaml --check
  spar call get_weather city=Oslo -- spar mock weather.mock.yaml --var unit=C
  spar mock weather.mock.yaml --journal requests.jsonl
  spar mock weather.mock.yaml --http 3001 --watch
  spar mock --interactions --http 3001
  spar mock --llm agent.llm.yaml --http 3002

Over stdio it exits at the end of input. Over HTTP it prints its URL to stdout and
exits on a signal; port 0 selects a free port. On a terminal it prints a line on
stderr for each request, without --quiet.";

/// Serve a script as an MCP server
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Mock {
    /// The script
    #[arg(required_unless_present = "interactions")]
    script: Option<PathBuf>,

    /// Serve on stdin and stdout (the default)
    #[arg(long, conflicts_with = "http")]
    stdio: bool,

    /// Serve Streamable HTTP and HTTP+SSE at this address: a port of this machine, or IP:PORT
    #[arg(long, value_name = "ADDR", value_parser = values::parse_listen_address)]
    http: Option<SocketAddr>,

    /// Check the script and exit
    #[arg(long, conflicts_with_all = ["stdio", "http"])]
    check: bool,

    /// Set a variable of the script; may be repeated
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = variable)]
    vars: Vec<(String, Value)>,

    /// Serve the tool get_data, whose test cases contain their responses; needs no script
    #[arg(long)]
    interactions: bool,

    /// Serve an LLM endpoint, whose answers the script contains [default address: a free
    /// port]
    #[arg(
        long,
        requires = "script",
        conflicts_with_all = ["stdio", "interactions", "watch", "allow_exec", "ca", "insecure"]
    )]
    llm: bool,

    /// Append every request and its response to this file as JSON lines
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    journal: Option<PathBuf>,

    /// Reload the script when it or a file that it names changes
    #[arg(long, requires = "script", conflicts_with = "check")]
    watch: bool,

    /// Limit for a client that reads nothing while output waits for it [default: 5s on
    /// stdio, 30s over HTTP]
    #[arg(long, value_name = "TIME", value_parser = values::parse_duration, conflicts_with_all = ["check", "llm"])]
    write_timeout: Option<Duration>,

    /// Allow the script to run programs with `exec`
    #[arg(long)]
    allow_exec: bool,

    /// Allow tools and replies that are registered over /_spar/ to use this key; may be
    /// repeated
    #[arg(long, value_name = "KEY", requires = "http", conflicts_with = "llm")]
    allow_control: Vec<ControlKey>,

    /// For `http` over TLS: also trust the certificates in this PEM file
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,

    /// For `http` over TLS: trust any certificate
    #[arg(long)]
    insecure: bool,

    #[command(flatten)]
    pub(crate) output_flags: OutputFlags,
}

/// A key that registered tools and replies may use: files below the script's folder, or requests
/// to HTTP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ControlKey {
    File,
    Http,
}

fn variable(text: &str) -> Result<(String, Value), String> {
    let (name, value) = values::parse_variable(text).ok_or("expected NAME=VALUE")?;
    Ok((name, value.into()))
}

impl Mock {
    /// Serves until the end of input or a signal. Hosts and users end a server with a signal,
    /// so this is no error.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        signals: Signals,
    ) -> Result<Exit, CommandError> {
        match self.run_until_done(printer, signals).await {
            Err(CommandError::Stopped(signal)) => Ok(Exit::Stopped(signal)),
            ended => ended,
        }
    }

    async fn run_until_done(
        &self,
        printer: &Printer,
        mut signals: Signals,
    ) -> Result<Exit, CommandError> {
        if let Some(script) = self.script.as_ref().filter(|_| self.llm) {
            return self.run_llm(script, printer, signals).await;
        }
        let (mock, reloader) = self.load(&mut signals).await?;
        if self.check {
            return self.print_valid(&mock.summary(), printer).await;
        }
        let journal = match &self.journal {
            None => None,
            Some(path) => {
                let journal = JournalFile::open(path, printer.secrets(), &mut signals).await?;
                let writer = journal.writer();
                mock.on_received(move |received| writer.add(|| received.to_line()));
                Some(journal)
            }
        };
        if let Some(timeout) = self.write_timeout {
            mock.server().set_write_timeout(timeout);
        }
        if let Some(observer) = request_lines::observer(printer) {
            mock.server().on_request(observer);
        }
        let ended = self.serve(&mock, reloader, printer, &mut signals).await;
        if let Some(journal) = journal {
            journal.finish().await?;
        }
        ended
    }

    async fn serve(
        &self,
        mock: &MockServer,
        reloader: Option<ScriptReloader>,
        printer: &Printer,
        signals: &mut Signals,
    ) -> Result<Exit, CommandError> {
        let following = async {
            match reloader {
                Some(reloader) => reloader.run(mock, printer).await,
                None => std::future::pending().await,
            }
        };
        let mut faults = mock.process_faults();
        let serving = async {
            match self.http {
                Some(address) => serve_http(mock, address, printer, signals).await,
                None => serve_stdio(mock, signals).await,
            }
        };
        tokio::select! {
            biased;
            status = apply_process_faults(&mut faults, printer) => Ok(Exit::Scripted(status)),
            ended = serving => match faults.as_mut().and_then(|it| it.try_recv().ok()) {
                // The script's exit may have ended the serving.
                Some(ProcessFault::Exit(status)) => Ok(Exit::Scripted(status)),
                _ => ended,
            },
            never = following => never,
        }
    }

    async fn load(
        &self,
        signals: &mut Signals,
    ) -> Result<(MockServer, Option<ScriptReloader>), CommandError> {
        let settings = self.settings()?;
        let mock = match &self.script {
            Some(script) if self.watch => {
                let (reloader, mock) = ScriptReloader::start(script, settings).await?;
                return Ok((mock, Some(reloader)));
            }
            Some(script) => {
                let script = script.clone();
                let read = move || MockServer::from_file(script, &settings);
                signals.interruptible_blocking(read).await?.map_err(load_error)?
            }
            None => MockServer::for_interactions(&settings)
                .map_err(|problems| CommandError::Script(vec![problems]))?,
        };
        Ok((mock, None))
    }

    fn settings(&self) -> Result<Settings, CommandError> {
        let tls = Tls { ca: self.ca.clone(), insecure: self.insecure };
        if tls.ca.is_some() {
            // Reports a wrong file now, and not with the first request.
            TlsClient::new(&tls).map_err(|error| CommandError::File(error.to_string()))?;
        }
        Ok(Settings {
            vars: self.vars.clone(),
            interactions: self.interactions,
            // A check runs nothing.
            allow_exec: self.allow_exec || self.check,
            control_keys: ControlKeys {
                file: self.allow_control.contains(&ControlKey::File),
                http: self.allow_control.contains(&ControlKey::Http),
            },
            tls,
        })
    }

    async fn print_valid(&self, summary: &str, printer: &Printer) -> Result<Exit, CommandError> {
        let script = self.script.as_deref().unwrap_or(Path::new("nothing")).display().to_string();
        printer.note(summary).await;
        match printer.is_json() {
            true => printer.print_json(&json!({"script": script, "good": true})).await?,
            false => printer.print(&format!("{script}: no problems\n")).await?,
        }
        Ok(Exit::Success)
    }
}

/// Applies the process faults of the script, until one exits.
async fn apply_process_faults(
    faults: &mut Option<Receiver<ProcessFault>>,
    printer: &Printer,
) -> u8 {
    while let Some(faults) = faults {
        match faults.recv().await {
            Some(ProcessFault::Exit(status)) => return status,
            Some(ProcessFault::FloodStderr(bytes)) => printer.flood_stderr(bytes),
            Some(_) => {}
            None => break,
        }
    }
    std::future::pending().await
}

/// Notes the first connection that a server could not accept; never returns.
pub(crate) async fn note_accept_error(
    first: impl Future<Output = String>,
    printer: &Printer,
) -> Infallible {
    let error = first.await;
    printer.note(&format!("cannot accept a connection, and tries again: {error}")).await;
    std::future::pending().await
}

/// Returns the exit code after the end of a session over stdio.
///
/// # Errors
/// When the session was ended because the client does not read.
pub(crate) fn end_of_stdio(cause: &Cause) -> Result<Exit, CommandError> {
    match client_stopped_reading(cause) {
        true => Err(CommandError::Client(cause.clone())),
        false => Ok(Exit::Success),
    }
}

async fn serve_stdio(mock: &MockServer, signals: &mut Signals) -> Result<Exit, CommandError> {
    tokio::select! {
        biased;
        signal = signals.next() => Ok(Exit::Stopped(signal)),
        cause = mock.serve(stdio(Default::default())) => end_of_stdio(&cause),
    }
}

async fn serve_http(
    mock: &MockServer,
    address: SocketAddr,
    printer: &Printer,
    signals: &mut Signals,
) -> Result<Exit, CommandError> {
    let serving = mock.listen(address).await;
    let serving = serving
        .map_err(|error| CommandError::Usage(format!("cannot listen on {address}: {error}")))?;
    let address = serving.address().unwrap_or(address);
    let urls = mock.urls(address);
    let printed = match printer.is_json() {
        true => printer.print_json(&json!({"url": urls.mcp, "sse_url": urls.sse})).await,
        false => printer.print(&format!("{}\n", urls.mcp)).await,
    };
    // Clients may connect even if the URL could not be printed.
    printed.or_else(CommandError::ignore_broken_pipe)?;
    printer.note(&format!("serving {}", mock.summary())).await;
    let signal = tokio::select! {
        signal = signals.next() => signal,
        never = note_accept_error(serving.accept_error(), printer) => match never {},
    };
    serving.stop(STOP_TIMEOUT).await;
    Ok(Exit::Stopped(signal))
}
