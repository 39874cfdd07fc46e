//! `spar mock`: a scripted server, on stdin and stdout or over HTTP.

mod llm;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use sparring_mock::{MockServer, ProcessFault, Settings};
use sparring_transport::http::{Tls, TlsClient};
use sparring_transport::stdio;
use tokio::sync::mpsc::Receiver;

use crate::args::{Look, pair};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::output::Printer;
use crate::reloading::{Reloading, not_loaded};
use crate::signals::Signals;

/// How long requests in flight may take when the server is to end.
const END: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  spar mock weather.mock.yaml
  spar mock weather.mock.yaml --http 127.0.0.1:3001
  spar mock weather.mock.yaml --check
  spar call get_weather city=Oslo -- spar mock weather.mock.yaml --var unit=C
  spar mock weather.mock.yaml --journal requests.jsonl
  spar mock weather.mock.yaml --http 127.0.0.1:3001 --watch
  spar mock --interactions --http 127.0.0.1:3001
  spar mock --llm agent.llm.yaml --http 127.0.0.1:3002

Over stdio it ends with its input. Over HTTP it prints its URL to stdout, and
ends by a signal; port 0 is any that is free.";

/// Be a server that does what a script says
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Mock {
    /// The script
    #[arg(required_unless_present = "interactions")]
    script: Option<PathBuf>,

    /// Serve on stdin and stdout; this is the default
    #[arg(long, conflicts_with = "http")]
    stdio: bool,

    /// Serve Streamable HTTP and HTTP+SSE at this address
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,

    /// Only check the script
    #[arg(long, conflicts_with_all = ["stdio", "http"])]
    check: bool,

    /// Set a variable of the script; may be repeated
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = variable)]
    vars: Vec<(String, Value)>,

    /// Have the tool get_data, whose test cases bring their responses along;
    /// needs no script
    #[arg(long)]
    interactions: bool,

    /// Be an LLM endpoint, of which the script says what the model answers; on
    /// a free port where no address is given
    #[arg(
        long,
        requires = "script",
        conflicts_with_all = ["stdio", "interactions", "watch", "allow_exec", "ca", "insecure"]
    )]
    llm: bool,

    /// Add every request and its answer to this file as JSON lines
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    journal: Option<PathBuf>,

    /// Read the script again whenever it or a file that it names changes
    #[arg(long, requires = "script", conflicts_with = "check")]
    watch: bool,

    /// Let the script run programs, as it may by `exec`
    #[arg(long)]
    allow_exec: bool,

    /// Trust the certificates in this PEM file too when `http` asks over TLS,
    /// not only the system's
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,

    /// Trust any certificate at all when `http` asks over TLS
    #[arg(long)]
    insecure: bool,

    #[command(flatten)]
    pub(super) look: Look,
}

fn variable(text: &str) -> Result<(String, Value), String> {
    let (name, value) = pair::variable(text).ok_or("write NAME=VALUE")?;
    Ok((name, value.into()))
}

impl Mock {
    /// Serves until the end of input, or until a signal comes.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        mut signals: Signals,
    ) -> Result<Exit, Failure> {
        if let Some(script) = self.script.as_ref().filter(|_| self.llm) {
            return self.run_llm(script, printer, signals).await;
        }
        let (mock, reloading) = self.load(&mut signals).await?;
        if self.check {
            return self.tell_good(&mock.summary(), printer).await;
        }
        let journal = match &self.journal {
            None => None,
            Some(path) => {
                let journal = Journal::begin(path, &mut signals).await?;
                let lines = journal.lines();
                mock.on_received(move |received| lines.add(|| received.to_line()));
                Some(journal)
            }
        };
        let ended = self.serve(&mock, reloading, printer, &mut signals).await;
        if let Some(journal) = journal {
            journal.end().await?;
        }
        ended
    }

    async fn serve(
        &self,
        mock: &MockServer,
        reloading: Option<Reloading>,
        printer: &Printer,
        signals: &mut Signals,
    ) -> Result<Exit, Failure> {
        let following = async {
            match reloading {
                Some(reloading) => reloading.follow(mock, printer).await,
                None => std::future::pending().await,
            }
        };
        let mut faults = mock.process_faults();
        let serving = async {
            match self.http {
                Some(address) => over_http(mock, address, printer, signals).await,
                None => over_stdio(mock, signals).await,
            }
        };
        tokio::select! {
            biased;
            status = misbehave(&mut faults, printer) => Ok(Exit::AsTold(status)),
            ended = serving => match faults.as_mut().and_then(|it| it.try_recv().ok()) {
                // What ended it may have been the exit itself.
                Some(ProcessFault::Exit(status)) => Ok(Exit::AsTold(status)),
                _ => ended,
            },
            never = following => never,
        }
    }

    async fn load(
        &self,
        signals: &mut Signals,
    ) -> Result<(MockServer, Option<Reloading>), Failure> {
        let settings = self.settings()?;
        let mock = match &self.script {
            Some(script) if self.watch => {
                let (reloading, mock) = Reloading::begin(script, settings).await?;
                return Ok((mock, Some(reloading)));
            }
            Some(script) => {
                let script = script.clone();
                let read = move || MockServer::from_file(script, &settings);
                signals.beside(read).await?.map_err(not_loaded)?
            }
            None => MockServer::of_interactions(&settings)
                .map_err(|problems| Failure::Script(vec![problems]))?,
        };
        Ok((mock, None))
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let tls = Tls { ca: self.ca.clone(), insecure: self.insecure };
        if tls.ca.is_some() {
            // Told now, and not only to whoever asks for an answer later.
            TlsClient::new(&tls).map_err(|error| Failure::File(error.to_string()))?;
        }
        Ok(Settings {
            vars: self.vars.clone(),
            interactions: self.interactions,
            // Nothing is run when a script is only checked.
            allow_exec: self.allow_exec || self.check,
            tls,
        })
    }

    async fn tell_good(&self, summary: &str, printer: &Printer) -> Result<Exit, Failure> {
        let script = self.script.as_deref().unwrap_or(Path::new("nothing")).display().to_string();
        printer.note(summary).await;
        match printer.json() {
            true => printer.print_json(&json!({"script": script, "good": true})).await?,
            false => printer.print(&format!("{script} is good\n")).await?,
        }
        Ok(Exit::Good)
    }
}

/// Does to this process what the script wants, until that is to exit.
async fn misbehave(faults: &mut Option<Receiver<ProcessFault>>, printer: &Printer) -> u8 {
    while let Some(faults) = faults {
        match faults.recv().await {
            Some(ProcessFault::Exit(status)) => return status,
            Some(ProcessFault::FloodStderr(bytes)) => printer.flood(bytes),
            Some(_) => {}
            None => break,
        }
    }
    std::future::pending().await
}

async fn over_stdio(mock: &MockServer, signals: &mut Signals) -> Result<Exit, Failure> {
    tokio::select! {
        biased;
        signal = signals.next() => Err(Failure::Stopped(signal)),
        _ = mock.serve(stdio(Default::default())) => Ok(Exit::Good),
    }
}

async fn over_http(
    mock: &MockServer,
    address: SocketAddr,
    printer: &Printer,
    signals: &mut Signals,
) -> Result<Exit, Failure> {
    let serving = mock.listen(address).await;
    let serving =
        serving.map_err(|error| Failure::Usage(format!("cannot listen on {address}: {error}")))?;
    let address = serving.address().unwrap_or(address);
    let urls = mock.urls(address);
    let told = match printer.json() {
        true => printer.print_json(&json!({"url": urls.mcp, "sse_url": urls.sse})).await,
        false => printer.print(&format!("{}\n", urls.mcp)).await,
    };
    // Whoever does not want to know the URL may still come.
    told.or_else(Failure::unless_loud)?;
    printer.note(&format!("serving {}", mock.summary())).await;
    let signal = signals.next().await;
    serving.stop(END).await;
    Err(Failure::Stopped(signal))
}
