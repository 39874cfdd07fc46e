//! Serves a mock over each transport.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sparring_mock::{MockServer, ProcessFault, Settings};
use sparring_peer::{LinkKind, MemoryLink, memory};
use sparring_transport::http::{HttpTarget, HttpTransport};
use sparring_transport::{ChildTarget, HttpProcessTarget, free_port};

use super::super::connection::MockTask;
use crate::model::Transport;

/// The HTTP transport, if it is one.
pub(in crate::run) fn http_transport(transport: Option<Transport>) -> Option<HttpTransport> {
    match transport {
        Some(Transport::Http) => Some(HttpTransport::Streamable),
        Some(Transport::Sse) => Some(HttpTransport::Sse),
        Some(Transport::Memory | Transport::Stdio) | None => None,
    }
}

/// Serves a mock in this process. Returns the client's end of its link.
pub(in crate::run) fn in_memory(server: Arc<MockServer>) -> (MemoryLink, MockTask) {
    let (client, server_end) = memory(LinkKind::Shared);
    let serving = async move {
        let exit = exit_fault(&server);
        tokio::select! {
            () = exit => {}
            _ = server.serve(server_end) => {}
        }
    };
    (client, MockTask::spawn(serving))
}

/// Serves a mock over HTTP. Returns the target to connect to.
///
/// # Errors
/// When it cannot listen, or its script does not serve this transport.
pub(in crate::run) async fn over_http(
    server: Arc<MockServer>,
    transport: HttpTransport,
) -> Result<(HttpTarget, MockTask), String> {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let failed = |error: std::io::Error| format!("cannot listen: {error}");
    let serving = server.listen(address).await.map_err(failed)?;
    let target = http_target(&server, serving.address().unwrap_or(address), transport)?;
    let until_exit = async move {
        exit_fault(&server).await;
        drop(serving);
    };
    Ok((target, MockTask::spawn(until_exit)))
}

/// The command line of a mock over stdio in a process of this program. Its variables
/// are strings, as on every command line.
pub(in crate::run) fn child(
    program: String,
    script: &Path,
    settings: &Settings,
    journal: Option<&Path>,
) -> ChildTarget {
    let vars = settings.vars.iter().map(|(name, value)| match value {
        Value::String(text) => format!("--var={name}={text}"),
        other => format!("--var={name}={other}"),
    });
    let words = ["mock".to_owned(), script.display().to_string(), "--quiet".to_owned()];
    let journal = journal.map(|path| format!("--journal={}", path.display()));
    ChildTarget::new(program).args(words.into_iter().chain(vars).chain(journal))
}

/// The target of a mock at an address.
fn http_target(
    server: &MockServer,
    address: std::net::SocketAddr,
    transport: HttpTransport,
) -> Result<HttpTarget, String> {
    let urls = server.urls(address);
    let url = match transport {
        HttpTransport::Sse => urls.sse.ok_or("the script has no path for HTTP+SSE")?,
        _ => urls.mcp,
    };
    Ok(HttpTarget { transport, ..HttpTarget::new(url) })
}

/// A mock over HTTP in a process of this program. `command` is its command line over stdio, and
/// `server` the same mock.
///
/// # Errors
/// When no port is free, or its script does not serve this transport.
pub(in crate::run) fn http_process(
    command: ChildTarget,
    server: &MockServer,
    transport: HttpTransport,
    timeout: Duration,
) -> Result<HttpProcessTarget, String> {
    let port = free_port().map_err(|error| format!("no port is free: {error}"))?;
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let target = http_target(server, address, transport)?;
    let command = command.arg(format!("--http={address}"));
    Ok(HttpProcessTarget::new(command, target).ready_path("/health").ready_within(timeout))
}

/// Waits until the script asks for its process to exit. In this process only the
/// connection ends then. Floods of stderr are ignored.
async fn exit_fault(server: &MockServer) {
    let Some(mut faults) = server.process_faults() else { return std::future::pending().await };
    while let Some(fault) = faults.recv().await {
        if let ProcessFault::Exit(_) = fault {
            return;
        }
    }
}
