//! The program: reads flags and environment, and serves over stdio or HTTP.
//!
//! Only this file reads the environment.

use std::env;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Parser;
use instructions::library::Opened;
use instructions::watch::{Watch, log_problems};
use instructions::{Instructions, Level, Library, Log};
use sparring::link::LineLinkOptions;
use sparring::transport::stdio;
use sparring::{HttpOptions, HttpServer, Server};
use tokio::net::TcpListener;

/// The default folder of instructions.
const DEFAULT_FOLDER: &str = ".pongogo/instructions";

/// Maximum wait for running requests at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves Markdown instructions over MCP: on stdin and stdout, or over HTTP.
#[derive(Parser)]
#[command(version, after_help = ENVIRONMENT)]
struct Flags {
    /// The folder of instructions, instead of PONGOGO_KNOWLEDGE_PATH
    #[arg(long, value_name = "DIR")]
    knowledge: Option<PathBuf>,
    /// Serve Streamable HTTP at /mcp and HTTP+SSE at /sse on this address
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
}

const ENVIRONMENT: &str = "Environment:
  PONGOGO_KNOWLEDGE_PATH  the folder of instructions (default: .pongogo/instructions)
  PONGOGO_LOG_LEVEL       the log level on stderr: DEBUG, INFO (the default), WARNING or ERROR
  PONGOGO_TEST_MODE       1: log lines have no time, so that they do not differ between runs";

fn main() -> ExitCode {
    let flags = Flags::parse();
    match run(flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn run(flags: Flags) -> Result<()> {
    let log = log()?;
    let folder = flags.knowledge.unwrap_or_else(folder);
    let Opened { library, problems, stamps } = Library::open(&folder)
        .context("set PONGOGO_KNOWLEDGE_PATH or --knowledge to the folder of instructions")?;
    log_problems(log, &problems);
    let count = library.all().len();
    let server = Server::new(Instructions::new(library, log));
    log.write(Level::Info, format_args!("serving {count} instructions of {}", folder.display()));
    let following = Watch::new(&folder, stamps).follow(&server);
    tokio::select! {
        served = serve(&server, flags.http) => served,
        never = following => never,
    }
}

/// Serves until stdin ends, or over HTTP until a signal.
async fn serve(server: &Server<Instructions>, address: Option<SocketAddr>) -> Result<()> {
    let Some(address) = address else {
        server.serve(stdio(LineLinkOptions::default())).await;
        return Ok(());
    };
    let listener = TcpListener::bind(address).await;
    let listener = listener.with_context(|| format!("cannot listen on {address}"))?;
    let serving = HttpServer::new(server.clone(), HttpOptions::default()).serve(listener);
    let address = serving.address().unwrap_or(address);
    // With port 0 the user needs the address at every log level.
    eprintln!("listening on http://{address}/mcp");
    shutdown_signal().await?;
    serving.stop(SHUTDOWN_TIMEOUT).await;
    Ok(())
}

/// Waits for Ctrl+C or the termination signal.
async fn shutdown_signal() -> Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).context("cannot listen for signals")?;
        tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed.context("cannot listen for signals"),
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await.context("cannot listen for signals")
}

fn folder() -> PathBuf {
    let set = env::var_os("PONGOGO_KNOWLEDGE_PATH").filter(|path| !path.is_empty());
    set.map_or_else(|| Path::new(DEFAULT_FOLDER).to_owned(), PathBuf::from)
}

fn log() -> Result<Log> {
    let level = match env::var("PONGOGO_LOG_LEVEL") {
        Ok(name) if !name.is_empty() => name.parse().context("PONGOGO_LOG_LEVEL")?,
        Ok(_) | Err(env::VarError::NotPresent) => Level::Info,
        Err(error) => return Err(error).context("PONGOGO_LOG_LEVEL"),
    };
    let test_mode = env::var_os("PONGOGO_TEST_MODE").is_some_and(|set| set == "1");
    Ok(Log { level: Some(level), timed: !test_mode })
}
