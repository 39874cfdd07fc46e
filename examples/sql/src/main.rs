//! The server as a program: its flags, the links that it is served on, and its
//! exit codes.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use sparring::link::LineLinkOptions;
use sparring::transport::http::Auth;
use sparring::transport::stdio;
use sparring::{HttpOptions, HttpServer, Server};
use sql::statements::{Kind, Rules};
use sql::{
    BACKGROUND_VARIABLE, Limits, Location, OpenError, ServingMode, Settings, SqlServer, serve,
};
use tokio::net::TcpListener;

/// The exit code if serving is disabled.
const SERVING_DISABLED_CODE: u8 = 3;

/// Maximum wait for running requests at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// A SQLite database as an MCP server, over stdio or Streamable HTTP.
#[derive(Parser)]
#[command(
    version,
    after_help = "exit codes: 0 at the end of input or by a signal, 1 when the \
    server cannot start, 2 for wrong flags, 3 where serving is disabled. With the variable \
    SQL_SERVER_BACKGROUND=1 the end of input does not end the program, but a signal does"
)]
struct Flags {
    /// The database: a file, created if it does not exist, or :memory:
    #[arg(long, value_name = "PATH", default_value = ":memory:")]
    database: String,
    /// Run this script first, without rules
    #[arg(long, value_name = "FILE.sql")]
    init: Option<PathBuf>,
    /// Allow only statements that change nothing
    #[arg(long)]
    read_only: bool,
    /// Allow only statements of these kinds, such as select,insert
    #[arg(long, value_name = "KIND", num_args = 1.., value_delimiter = ',')]
    allow: Option<Vec<Kind>>,
    /// Deny statements of these kinds, even if --allow lists them
    #[arg(long, value_name = "KIND", num_args = 1.., value_delimiter = ',')]
    deny: Vec<Kind>,
    /// Maximum rows of a result
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_rows,
          value_parser = parse_count)]
    max_rows: usize,
    /// Maximum run time of a statement, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds)]
    timeout: Duration,
    /// Serve over HTTP at this address instead of stdio, on the path /mcp
    #[arg(long, value_name = "ADDR", requires = "token_env")]
    http: Option<SocketAddr>,
    /// The variable that holds the bearer token for HTTP
    #[arg(long, value_name = "NAME", requires = "http")]
    token_env: Option<String>,
    /// Refuse to serve anything
    #[arg(long)]
    disable_serving: bool,
}

fn parse_count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| "it must be an integer of at least 1".to_owned())
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "it must be a number of seconds above 0".to_owned())
}

impl Flags {
    fn settings(&self) -> Settings {
        Settings {
            database: Location::from(self.database.as_str()),
            init: self.init.clone(),
            rules: Rules {
                allow: self.allow.as_ref().map(|kinds| kinds.iter().copied().collect()),
                deny: self.deny.iter().copied().collect::<BTreeSet<_>>(),
                read_only: self.read_only,
            },
            limits: Limits { max_rows: self.max_rows, timeout: self.timeout, ..Limits::default() },
            disable_serving: self.disable_serving,
        }
    }
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let token = match flags.token_env.as_deref().map(read_token) {
        None => None,
        Some(Ok(token)) => Some(token),
        Some(Err(why)) => return fail(2, &why),
    };
    let mode = match ServingMode::from_variable(std::env::var_os(BACKGROUND_VARIABLE).as_deref()) {
        Ok(mode) => mode,
        Err(why) => return fail(2, &why),
    };
    let server = match serve(&flags.settings()) {
        Ok(server) => server,
        Err(error @ OpenError::ServingDisabled) => {
            return fail(SERVING_DISABLED_CODE, &error.to_string());
        }
        Err(error) => return fail(1, &error.to_string()),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = match runtime {
        Ok(runtime) => runtime.block_on(async {
            match (flags.http, token) {
                (Some(address), Some(token)) => over_http(server, address, token).await,
                _ => over_stdio(server, mode).await,
            }
        }),
        Err(error) => Err(format!("no runtime can be started: {error}")),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => fail(1, &why),
    }
}

fn fail(code: u8, why: &str) -> ExitCode {
    eprintln!("error: {why}");
    ExitCode::from(code)
}

fn read_token(name: &str) -> Result<String, String> {
    match std::env::var(name) {
        Ok(token) if !token.trim().is_empty() => Ok(token.trim().to_owned()),
        _ => Err(format!("the variable {name} of --token-env has no token")),
    }
}

async fn over_stdio(server: Server<SqlServer>, mode: ServingMode) -> Result<(), String> {
    let mut signal = pin!(shutdown_signal()?);
    let serving = mode.serve(&server, stdio(LineLinkOptions::default()));
    let background = tokio::select! {
        background = serving => background,
        () = &mut signal => return Ok(()),
    };
    let Some(task) = background else { return Ok(()) };
    // The program is free for other work here. This one only waits.
    eprintln!("serving in the background");
    signal.await;
    task.stop().await;
    Ok(())
}

async fn over_http(
    server: Server<SqlServer>,
    address: SocketAddr,
    token: String,
) -> Result<(), String> {
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| format!("{address} cannot be listened on: {error}"))?;
    let auth = Auth::default().bearer(token);
    let serving = HttpServer::new(server, HttpOptions { auth, ..HttpOptions::default() });
    let serving = serving.serve(listener);
    let bound_address = serving.address().unwrap_or(address);
    let signal = shutdown_signal()?;
    eprintln!("listening on http://{bound_address}/mcp");
    signal.await;
    serving.stop(SHUTDOWN_TIMEOUT).await;
    Ok(())
}

/// Catches Ctrl+C and the system's termination signal from now on. The result waits for one.
#[cfg(unix)]
fn shutdown_signal() -> Result<impl Future<Output = ()>, String> {
    use tokio::signal::unix::{SignalKind, signal};
    let catch = |kind| signal(kind).map_err(|error| format!("signals cannot be caught: {error}"));
    let (mut interrupt, mut terminate) =
        (catch(SignalKind::interrupt())?, catch(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Waits for Ctrl+C.
#[cfg(not(unix))]
fn shutdown_signal() -> Result<impl Future<Output = ()>, String> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
