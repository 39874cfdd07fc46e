//! A small server over stdin and stdout, for hosts with many servers: its tools
//! return its name, start a process, hang or crash.
//!
//! With `--meet FOLDER COUNT` it answers nothing before so many instances have
//! started, which they signal by a file in that folder.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use sparring_peer::Server;
use sparring_peer::link::LineLinkOptions;
use sparring_peer::server::{Context, Handler, HandlerResult};
use sparring_transport::stdio;
use sparring_wire::types::{CallToolResult, Implementation, ServerCapabilities, Tool};
use sparring_wire::{ErrorObject, Json};

struct StandIn {
    name: String,
}

impl Handler for StandIn {
    fn info(&self) -> Implementation {
        Implementation::new(&self.name, "1")
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(["echo", "pid", "start", "hang", "crash"].map(Tool::new).to_vec().into())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
        match name {
            "echo" => Ok(CallToolResult::text(arguments.to_string()).into()),
            "pid" => Ok(CallToolResult::text(std::process::id().to_string()).into()),
            "start" => {
                let child = std::process::Command::new("sleep").arg("1000").spawn();
                let child = child.map_err(|error| ErrorObject::internal(error.to_string()))?;
                Ok(CallToolResult::text(child.id().to_string()).into())
            }
            "hang" => {
                eprintln!("hanging");
                std::future::pending().await
            }
            "crash" => {
                eprintln!("these are my last words");
                std::process::exit(3)
            }
            other => Err(ErrorObject::invalid_params(format!("no tool {other}")).into()),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "stand-in".to_owned());
    if args.next().as_deref() == Some("--meet") {
        let folder = PathBuf::from(args.next().ok_or("--meet needs a folder")?);
        let count = args.next().ok_or("--meet needs a count")?.parse()?;
        meet(&folder, count).await?;
    }
    Server::new(StandIn { name }).serve(stdio(LineLinkOptions::default())).await;
    Ok(())
}

/// Waits until so many instances have started.
async fn meet(folder: &Path, count: usize) -> std::io::Result<()> {
    std::fs::write(folder.join(std::process::id().to_string()), json!(null).to_string())?;
    while std::fs::read_dir(folder)?.count() < count {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
