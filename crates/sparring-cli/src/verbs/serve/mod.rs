//! `spar serve`: the configured servers as one, on stdin and stdout or over HTTP.

mod again;
mod telling;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use sparring_host::gateway::{self, Gateway};
use sparring_peer::Server;
use sparring_peer::server::Running;
use sparring_transport::http::{Auth, HttpOptions, HttpServer, Serving};
use sparring_transport::stdio;
use tokio::net::TcpListener;

use crate::args::Look;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::{Host, Servers, Wiring};
use crate::output::Printer;
use crate::signals::Signals;
use again::Reader;
use telling::Telling;

/// How long requests in flight may take when the gateway is to end.
const END: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  spar serve --allow mcp__files
  spar serve --server files --allow 'mcp__files__read_*'
  spar serve --http 127.0.0.1:3001 --allow mcp__files --deny mcp__files__write_file
  spar serve --http 0.0.0.0:3001 --bearer \"$TOKEN\" --audit calls.jsonl

Tools are called mcp__SERVER__TOOL, and so are prompts. What no rule allows is
hidden and refused: there is nobody to ask. Rules stand in config files, which
`spar config` shows, and in --allow and --deny. Whenever a file changes, the
servers follow.
Over stdio it ends with its input. Over HTTP it prints its URL to stdout, and
ends by a signal; port 0 is any that is free.";

/// Be one server that has what all configured servers have
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// Serve on stdin and stdout; this is the default
    #[arg(long, conflicts_with = "http")]
    stdio: bool,

    /// Serve Streamable HTTP and HTTP+SSE at this address
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,

    /// Over HTTP, let in only who has this token; needed where others than
    /// this machine can come
    #[arg(long, value_name = "TOKEN", requires = "http", allow_hyphen_values = true)]
    bearer: Option<String>,

    #[command(flatten)]
    servers: Servers,

    #[command(flatten)]
    pub(super) look: Look,
}

/// Who serves.
enum Front {
    Stdio(Running),
    Http(Serving),
}

impl Serve {
    /// Serves until the end of input, or until a signal comes.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        mut signals: Signals,
        environment: &Environment,
    ) -> Result<Exit, Failure> {
        // Before anything is started: somebody may be there already.
        let listener = self.listen().await?;
        let wiring = Wiring::default();
        let wiring = Wiring { client: gateway::client(wiring.client), ..wiring };
        let host = signals.during(self.servers.host(wiring, environment, printer)).await??;
        if host.manager.servers().is_empty() {
            let what = match host.config.servers.is_empty() {
                true => "no server is configured; `spar config add NAME -- COMMAND` adds one",
                false => "none of the configured servers can be served",
            };
            return Err(Failure::Usage(what.to_owned()));
        }
        let gateway = Gateway::new(host.manager.clone(), Arc::clone(&host.registry));
        let server = Server::new(gateway);
        let mut front = self.front(&server, listener, printer).await?;
        let telling = Telling::new(&host, printer);
        let work = async {
            tokio::select! {
                biased;
                () = front.ended() => Ok(Exit::Good),
                // Before what comes of it.
                never = telling.follow() => match never {},
                () = gateway::follow(&server) => Ok(Exit::Good),
                failed = begin(&server, &host, &telling) => failed,
            }
        };
        // Servers end first: what is in flight fails then, and clients are told so.
        let exit = host.during(&mut signals, printer, work).await;
        front.stop().await;
        Ok(exit)
    }

    async fn listen(&self) -> Result<Option<TcpListener>, Failure> {
        let Some(address) = self.http else { return Ok(None) };
        match &self.bearer {
            Some(token) if token.trim().is_empty() => {
                return Err(Failure::Usage("the token of --bearer is empty".to_owned()));
            }
            None if !address.ip().is_loopback() => {
                return Err(Failure::Usage(format!(
                    "at {address} others than this machine could call all tools; --bearer TOKEN \
                     lets in only who has that token"
                )));
            }
            _ => {}
        }
        let listener = TcpListener::bind(address).await;
        let cannot = |error| Failure::Usage(format!("cannot listen on {address}: {error}"));
        Ok(Some(listener.map_err(cannot)?))
    }

    async fn front(
        &self,
        server: &Server<Gateway>,
        listener: Option<TcpListener>,
        printer: &Printer,
    ) -> Result<Front, Failure> {
        let Some(listener) = listener else {
            return Ok(Front::Stdio(server.spawn(stdio(Default::default()))));
        };
        let address = listener.local_addr().map_err(Failure::System)?;
        let auth = self.bearer.iter().fold(Auth::default(), |auth, token| auth.bearer(token));
        let options = HttpOptions { auth, ..HttpOptions::default() };
        let url = format!("http://{address}{}", options.path);
        let serving = HttpServer::new(server.clone(), options).serve(listener);
        let told = match printer.json() {
            true => printer.print_json(&json!({"url": url})).await,
            false => printer.print(&format!("{url}\n")).await,
        };
        // Whoever does not want to know the URL may still come.
        told.or_else(Failure::unless_loud)?;
        Ok(Front::Http(serving))
    }
}

impl Front {
    /// Waits for the end of input; over HTTP there is none.
    async fn ended(&mut self) {
        match self {
            Front::Stdio(running) => drop(running.ended().await),
            Front::Http(_) => std::future::pending().await,
        }
    }

    async fn stop(self) {
        match self {
            Front::Stdio(running) => drop(running.stop().await),
            Front::Http(serving) => serving.stop(END).await,
        }
    }
}

/// Connects to all servers, and follows their files then. It only ends where
/// there is nothing to serve.
async fn begin(
    server: &Server<Gateway>,
    host: &Host,
    telling: &Telling<'_>,
) -> Result<Exit, Failure> {
    host.connect(telling.printer).await?;
    server.handler().begun();
    let wanted = host.manager.servers();
    let wanted = wanted.iter().filter(|it| it.config.auto_connect).count();
    if host.manager.list().is_empty() {
        return Err(match wanted {
            0 => Failure::Usage(
                "no server is to be connected by itself; --server NAME names one".to_owned(),
            ),
            _ => Failure::NoneConnected(wanted),
        });
    }
    telling.begun().await;
    let (reader, mut notes) = Reader::new(host);
    let registry = Arc::clone(&host.registry);
    let _following = host.manager.follow(move || reader.read(&registry));
    while let Some(note) = notes.recv().await {
        telling.printer.note(&note).await;
    }
    std::future::pending().await
}
