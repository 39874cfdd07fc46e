//! A mock on each of the transports that it can be served over.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use sparring_mock::{MockServer, ProcessFault, Settings};
use sparring_peer::{LinkKind, MemoryLink, memory};
use sparring_transport::ChildTarget;
use sparring_transport::http::{HttpTarget, HttpTransport};

use super::running::Mocked;
use crate::model::Transport;

/// The way over HTTP, where it is one.
pub(super) fn http_transport(transport: Option<Transport>) -> Option<HttpTransport> {
    match transport {
        Some(Transport::Http) => Some(HttpTransport::Streamable),
        Some(Transport::Sse) => Some(HttpTransport::Sse),
        Some(Transport::Memory | Transport::Stdio) | None => None,
    }
}

/// A mock in this process, and the client's end of its link.
pub(super) fn in_memory(server: Arc<MockServer>) -> (MemoryLink, Mocked) {
    let (here, there) = memory(LinkKind::Shared);
    let serving = async move {
        let exit = exit_of(&server);
        tokio::select! {
            () = exit => {}
            _ = server.serve(there) => {}
        }
    };
    (here, Mocked::spawn(serving))
}

/// A mock that listens, and how to get to it.
///
/// # Errors
/// When it cannot listen, or not in this way.
pub(super) async fn over_http(
    server: Arc<MockServer>,
    transport: HttpTransport,
) -> Result<(HttpTarget, Mocked), String> {
    let here = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let refused = |error: std::io::Error| format!("it cannot listen: {error}");
    let serving = server.listen(here).await.map_err(refused)?;
    let urls = server.urls(serving.address().unwrap_or(here));
    let url = match transport {
        HttpTransport::Sse => urls.sse.ok_or("its script has no path for HTTP+SSE")?,
        _ => urls.mcp,
    };
    let target = HttpTarget { transport, ..HttpTarget::new(url) };
    let until_exit = async move {
        exit_of(&server).await;
        drop(serving);
    };
    Ok((target, Mocked::spawn(until_exit)))
}

/// This program, as a mock on its stdin and stdout. Its variables are texts
/// there, as they are on the command line.
pub(super) fn child(
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

/// Waits until the script wants its process to exit, which is this one: there,
/// only the connection ends. It has no stderr to flood.
async fn exit_of(server: &MockServer) {
    let Some(mut faults) = server.process_faults() else { return std::future::pending().await };
    while let Some(fault) = faults.recv().await {
        if let ProcessFault::Exit(_) = fault {
            return;
        }
    }
}
