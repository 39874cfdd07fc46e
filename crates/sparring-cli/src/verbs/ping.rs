//! `spar ping`: checks that the server responds, and shows its name and response time.

use std::time::Instant;

use clap::Args;
use serde_json::json;
use sparring_wire::Revision;

use crate::args::TargetFlags;
use crate::command_error::CommandError;
use crate::connection::Connection;
use crate::exit::Exit;
use crate::output::line;

const USAGE: &str =
    "spar ping [OPTIONS] (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar ping -- npx -y @modelcontextprotocol/server-everything
  spar ping --protocol 2025-06-18 --timeout 5s -- python server.py
  spar ping --url https://example.com/mcp --bearer \"$TOKEN\"
  spar ping --url http://127.0.0.1:3001/sse --transport sse
  spar ping --json --unix /tmp/server.sock

With --json: {\"server\":…,\"protocol\":…,\"milliseconds\":…}";

/// Check that the server responds
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Ping {
    #[command(flatten)]
    pub(super) flags: TargetFlags,
}

impl Ping {
    pub(super) async fn run(&self, connection: &Connection<'_>) -> Result<Exit, CommandError> {
        let began = Instant::now();
        connection.client.ping().await.map_err(CommandError::Request)?;
        let milliseconds = began.elapsed().as_secs_f64() * 1e3;
        let server = connection.client.session().and_then(|session| session.server_info.clone());
        let protocol = connection.client.revision().map(Revision::name);
        if connection.printer.is_json() {
            let milliseconds = (milliseconds * 1e3).round() / 1e3;
            let answer = json!({
                "server": server,
                "protocol": protocol,
                "milliseconds": milliseconds,
            });
            connection.printer.print_json(&answer).await?;
            return Ok(Exit::Success);
        }
        let name = server.map(|server| format!("{} {}", server.name, server.version));
        let name = line::clean(name.as_deref().unwrap_or("a server without serverInfo").trim());
        let name = connection.printer.paint().heading(&name);
        let protocol = protocol.unwrap_or_default();
        let answer = format!("{name} ({protocol}) answered in {milliseconds:.1} ms\n");
        connection.printer.print(&answer).await?;
        Ok(Exit::Success)
    }
}
