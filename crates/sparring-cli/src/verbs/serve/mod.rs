//! `spar serve`: serves all configured servers as one, on stdin and stdout or over HTTP.

mod config_reloader;
mod event_output;

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use sparring_host::gateway::{self, Gateway};
use sparring_peer::server::ServerTask;
use sparring_peer::{Cause, Server};
use sparring_transport::http::{Auth, HttpOptions, HttpServer, HttpServerHandle, listen_tcp};
use sparring_transport::{read_up_to, stdio};
use tokio::net::TcpListener;

use crate::args::{OutputFlags, values};
use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::host::{Host, HostOptions, ServerFlags};
use crate::output::Printer;
use crate::request_lines;
use crate::signals::Signals;
use crate::verbs::mock::{end_of_stdio, note_accept_error};
use config_reloader::ConfigReloader;
use event_output::EventOutput;

/// Limit for requests in flight when the gateway stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  spar serve --allow mcp__files
  spar serve --server files --allow 'mcp__files__read_*'
  spar serve --http 3001 --allow mcp__files --deny mcp__files__write_file
  spar serve --http 0.0.0.0:3001 --bearer-file token.txt --audit calls.jsonl

Tools are named mcp__SERVER__TOOL, and prompts likewise. Tools that no rule allows are
hidden and denied, since no user can be asked. Rules come from the config files (see
`spar config`), --allow and --deny. Changed files are reloaded.
Over stdio it exits at the end of input. Over HTTP it prints its URL to stdout and
exits on a signal; port 0 selects a free port. Without --bearer and --bearer-file, the
token is read from SPAR_SERVE_TOKEN. On a terminal it prints a line on stderr for each
request, without --quiet.";

/// Serve all configured servers as one
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Serve {
    /// Serve on stdin and stdout (the default)
    #[arg(long, conflicts_with = "http")]
    stdio: bool,

    /// Serve Streamable HTTP and HTTP+SSE at this address: a port of this machine, or IP:PORT
    #[arg(long, value_name = "ADDR", value_parser = values::parse_listen_address)]
    http: Option<SocketAddr>,

    /// Over HTTP, accept only clients with this token; required if other machines can
    /// connect
    #[arg(long, value_name = "TOKEN", requires = "http", allow_hyphen_values = true)]
    bearer: Option<String>,

    /// Read that token from the first line of this file, instead of the command line,
    /// which other users of the machine can see
    #[arg(long, value_name = "FILE", requires = "http", conflicts_with = "bearer")]
    bearer_file: Option<PathBuf>,

    /// Limit for a client that reads nothing while output waits for it [default: 5s on
    /// stdio, 30s over HTTP]
    #[arg(long, value_name = "TIME", value_parser = values::parse_duration)]
    write_timeout: Option<Duration>,

    #[command(flatten)]
    servers: ServerFlags,

    #[command(flatten)]
    pub(crate) output_flags: OutputFlags,
}

/// Limit for the wait for the servers' instructions, before the first client over stdio is
/// answered.
const INSTRUCTIONS_TIMEOUT: Duration = Duration::from_secs(2);

/// The largest file of `--bearer-file`, in bytes.
const MAX_TOKEN_FILE_BYTES: u64 = 64 * 1024;

/// The environment variable with the token, if no flag gives one.
const TOKEN_VARIABLE: &str = "SPAR_SERVE_TOKEN";

/// The transport that clients connect to.
enum Frontend {
    Stdio(ServerTask),
    Http(HttpServerHandle),
}

impl Serve {
    /// Serves until the end of input or a signal, which is no error.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        signals: Signals,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        match self.run_until_done(printer, signals, environment).await {
            Err(CommandError::Stopped(signal)) => Ok(Exit::Stopped(signal)),
            ended => ended,
        }
    }

    async fn run_until_done(
        &self,
        printer: &Printer,
        mut signals: Signals,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        // Before anything is started, since the address may be in use.
        let token = self.token(environment, &mut signals).await?;
        let listener = self.listen(token.is_some()).await?;
        let host_options = HostOptions::default();
        let host_options =
            HostOptions { client: gateway::configure_client(host_options.client), ..host_options };
        let host = signals
            .interruptible(self.servers.open_host(host_options, environment, printer))
            .await??;
        if host.manager.servers().is_empty() {
            let what = match host.config.servers.is_empty() {
                true => "no servers configured; add one with `spar config add NAME -- COMMAND`",
                false => "none of the configured servers can be served",
            };
            return Err(CommandError::Usage(what.to_owned()));
        }
        let gateway = Gateway::new(host.manager.clone(), Arc::clone(&host.registry));
        let gateway = match host.roots.result() {
            Some(roots) => gateway.with_roots(roots),
            None => gateway,
        };
        token.iter().for_each(|token| printer.secrets().add(token));
        let secrets = printer.secrets().clone();
        let server = Server::new(gateway).mask_output(move |bytes| secrets.mask_bytes(bytes));
        if let Some(timeout) = self.write_timeout {
            server.set_write_timeout(timeout);
        }
        if let Some(observer) = request_lines::observer(printer) {
            server.on_request(observer);
        }
        // Over stdio the client is there already, and gets the instructions only once.
        let mut front = match listener {
            Some(listener) => Some(self.start_frontend(&server, listener, token, printer).await?),
            None => None,
        };
        let output = EventOutput::new(&host, printer);
        let work = async {
            let serving = async {
                let front = match &mut front {
                    Some(front) => front,
                    none => {
                        server.handler().wait_for_startup(INSTRUCTIONS_TIMEOUT).await;
                        server.refresh_description();
                        none.insert(Frontend::Stdio(server.spawn(stdio(Default::default()))))
                    }
                };
                front.ended(printer).await
            };
            tokio::select! {
                biased;
                cause = serving => end_of_stdio(&cause),
                // Before the events that follow from it.
                never = output.run() => match never {},
                () = gateway::notify_clients(&server) => Ok(Exit::Success),
                failed = connect_and_follow(&server, &host, &output) => failed,
            }
        };
        let on_signal = |signal| Ok(Exit::Stopped(signal));
        // The servers stop first, so that requests in flight fail and clients get the
        // error.
        let exit = host.run_until_done(&mut signals, printer, work, on_signal).await;
        if let Some(front) = front {
            front.stop().await;
        }
        Ok(exit)
    }

    /// Returns the token that clients over HTTP need, if there is one.
    async fn token(
        &self,
        environment: &Environment,
        signals: &mut Signals,
    ) -> Result<Option<String>, CommandError> {
        if self.http.is_none() {
            return Ok(None);
        }
        let (token, source) = match (&self.bearer, &self.bearer_file) {
            (Some(token), _) => (token.clone(), "--bearer".to_owned()),
            (None, Some(file)) => {
                let cannot_read = |error: std::io::Error| {
                    CommandError::File(format!("cannot read {}: {error}", file.display()))
                };
                let path = file.clone();
                // A pipe is allowed, for `<(command)`.
                let read = move || read_up_to(File::open(path)?, MAX_TOKEN_FILE_BYTES);
                let bytes = signals.interruptible_blocking(read).await?.map_err(cannot_read)?;
                let text = String::from_utf8(bytes).map_err(std::io::Error::other);
                let text = text.map_err(cannot_read)?;
                let token = text.lines().next().unwrap_or_default().trim().to_owned();
                (token, file.display().to_string())
            }
            (None, None) => match environment.variables.get(TOKEN_VARIABLE) {
                Some(token) => (token.clone(), TOKEN_VARIABLE.to_owned()),
                None => return Ok(None),
            },
        };
        match token.trim().is_empty() {
            true => Err(CommandError::Usage(format!("{source}: the token is empty"))),
            false => Ok(Some(token)),
        }
    }

    async fn listen(&self, has_token: bool) -> Result<Option<TcpListener>, CommandError> {
        let Some(address) = self.http else { return Ok(None) };
        if !has_token && !address.ip().is_loopback() {
            return Err(CommandError::Usage(format!(
                "{address} is reachable from other machines, which could call all tools; \
                 require a token with --bearer-file FILE or {TOKEN_VARIABLE}"
            )));
        }
        let listener = listen_tcp(address);
        let cannot = |error| CommandError::Usage(format!("cannot listen on {address}: {error}"));
        Ok(Some(listener.map_err(cannot)?))
    }

    async fn start_frontend(
        &self,
        server: &Server<Gateway>,
        listener: TcpListener,
        token: Option<String>,
        printer: &Printer,
    ) -> Result<Frontend, CommandError> {
        let address = listener.local_addr().map_err(CommandError::System)?;
        let auth = token.iter().fold(Auth::default(), |auth, token| auth.bearer(token.as_str()));
        let options = HttpOptions { auth, ..HttpOptions::default() };
        let url = format!("http://{address}{}", options.path);
        let serving = HttpServer::new(server.clone(), options).serve(listener);
        let printed = match printer.is_json() {
            true => printer.print_json(&json!({"url": url})).await,
            false => printer.print(&format!("{url}\n")).await,
        };
        // Clients may connect even if the URL could not be printed.
        printed.or_else(CommandError::ignore_broken_pipe)?;
        Ok(Frontend::Http(serving))
    }
}

impl Frontend {
    /// Waits for the end of input. HTTP has none.
    async fn ended(&mut self, printer: &Printer) -> Cause {
        match self {
            Frontend::Stdio(running) => running.wait().await,
            Frontend::Http(serving) => {
                match note_accept_error(serving.accept_error(), printer).await {}
            }
        }
    }

    async fn stop(self) {
        match self {
            Frontend::Stdio(running) => drop(running.stop().await),
            Frontend::Http(serving) => serving.stop(STOP_TIMEOUT).await,
        }
    }
}

/// Connects all servers, then follows their files. Returns only if there is nothing to
/// serve.
async fn connect_and_follow(
    server: &Server<Gateway>,
    host: &Host,
    output: &EventOutput<'_>,
) -> Result<Exit, CommandError> {
    host.connect(output.printer).await?;
    server.handler().finish_startup();
    let wanted = host.manager.servers();
    let wanted = wanted.iter().filter(|it| it.config.auto_connect).count();
    if host.manager.connections().is_empty() {
        return Err(match wanted {
            0 => CommandError::Usage(
                "no server has auto_connect; name one with --server NAME".to_owned(),
            ),
            _ => CommandError::NoneConnected(wanted),
        });
    }
    output.print_summary().await;
    let (reloader, mut notes) = ConfigReloader::new(host);
    let registry = Arc::clone(&host.registry);
    let _following = host.manager.watch_config(move || reloader.read(&registry));
    while let Some(note) = notes.recv().await {
        output.printer.note(&note).await;
    }
    std::future::pending().await
}
