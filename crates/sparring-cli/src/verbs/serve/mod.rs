//! `spar serve`: the configured servers as one, on stdin and stdout or over HTTP.

mod choice;
mod telling;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use sparring_host::config::Rules;
use sparring_host::gateway::{self, Gateway};
use sparring_host::manager::Manager;
use sparring_host::permissions::{Audit, Gate, GateOptions};
use sparring_host::registry::Registry;
use sparring_peer::Server;
use sparring_peer::server::Running;
use sparring_transport::http::{Auth, HttpOptions, HttpServer, Serving};
use sparring_transport::stdio;
use tokio::net::TcpListener;

use crate::args::Look;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;
use crate::signals::Signals;
use choice::{Chooser, Chosen};
use telling::Telling;

/// How long requests in flight may take when the gateway is to end.
const END: Duration = Duration::from_secs(1);

/// How long servers may take to end: what a child is given, and some more.
const GOOD_ORDER: Duration = Duration::from_secs(10);

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

    /// Only this server, trusted or not; may be repeated
    #[arg(long = "server", value_name = "NAME")]
    servers: Vec<String>,

    /// Let these tools be called, whatever the files ask for; may be repeated
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<String>,

    /// Never let these tools be called; may be repeated
    #[arg(long, value_name = "PATTERN")]
    deny: Vec<String>,

    /// Add a line to this file for every call that was allowed or denied
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,

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
        let audit = self.audit.as_ref().map(Audit::open).transpose();
        let audit = audit.map_err(|error| Failure::File(error.to_string()))?;
        let rules = Rules { allow: self.allow.clone(), deny: self.deny.clone(), ask: Vec::new() };
        let chooser = Chooser::new(environment, printer, self.servers.clone(), rules);
        let chooser = Arc::new(chooser);
        let reading = Arc::clone(&chooser);
        let chosen = signals.beside(move || reading.begin()).await??;
        for note in &chosen.notes {
            printer.note(note).await;
        }
        let Chosen { servers, permissions, .. } = chosen;
        let gate = Gate::new(permissions, GateOptions { audit, ..GateOptions::default() });
        let registry = Arc::new(Registry::new(gate));
        let manager = Manager::builder().client(gateway::client()).servers(servers).build();
        let server = Server::new(Gateway::new(manager.clone(), Arc::clone(&registry)));
        let mut front = self.front(&server, listener, printer).await?;
        let telling = Telling::new(&manager, &registry, printer);
        let ended = tokio::select! {
            biased;
            signal = signals.next() => Err(Failure::Stopped(signal)),
            () = front.ended() => Ok(Exit::Good),
            failure = begin(&server, &telling, chooser) => Err(failure),
            () = gateway::follow(&server) => Ok(Exit::Good),
            never = telling.follow() => match never {},
        };
        tokio::select! {
            biased;
            () = end(&manager, front) => {}
            // Somebody does not want to wait.
            _ = signals.next() => manager.shut_down_now(),
        }
        ended
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
}

/// Connects to all servers, and follows their files then. It only ends where
/// there is nothing to serve.
async fn begin(server: &Server<Gateway>, telling: &Telling<'_>, chooser: Arc<Chooser>) -> Failure {
    let outcomes = telling.manager.connect_all().await;
    server.handler().begun();
    let failed: Vec<_> = outcomes.iter().filter_map(|(_, it)| it.as_ref().err()).collect();
    for error in &failed {
        telling.printer.error(&error.to_string()).await;
    }
    if failed.len() == outcomes.len() {
        return Failure::NoServer(outcomes.len());
    }
    telling.begun().await;
    let (registry, read) = (Arc::clone(telling.registry), Arc::clone(&chooser));
    let _following = telling.manager.follow(move || read.again(&registry));
    loop {
        let note = chooser.next_note().await;
        telling.printer.note(&note).await;
    }
}

/// Ends everything in good order. Servers first: what is in flight fails then, and
/// clients are told so.
async fn end(manager: &Manager, front: Front) {
    match front {
        Front::Stdio(running) => {
            manager.shut_down(GOOD_ORDER).await;
            running.stop().await;
        }
        Front::Http(serving) => {
            tokio::join!(manager.shut_down(GOOD_ORDER), serving.stop(END));
        }
    }
}
