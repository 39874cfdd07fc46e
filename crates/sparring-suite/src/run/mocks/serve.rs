//! Serves a mock over each transport.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sparring_mock::{MockServer, ProcessFault, Settings};
use sparring_peer::{LinkKind, MemoryLink, memory};
use sparring_transport::http::{HttpServerHandle, HttpTarget, HttpTransport};
use sparring_transport::{ChildTarget, HttpProcessTarget, free_port};
use tokio::sync::{mpsc, oneshot};

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
        let mut faults = server.process_faults();
        let exit = exit_fault(faults.as_mut());
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
    let (target, serving, _) = listen(&server, transport).await?;
    let until_exit = async move {
        let mut faults = server.process_faults();
        exit_fault(faults.as_mut()).await;
        drop(serving);
    };
    Ok((target, MockTask::spawn(until_exit)))
}

/// A mock over HTTP in this process that can be restarted after its script ended it. Dropping it
/// ends the mock.
#[derive(Debug)]
pub(in crate::run) struct RestartableMock {
    restarts: mpsc::Sender<oneshot::Sender<()>>,
    _task: MockTask,
}

impl RestartableMock {
    /// Serves a mock over HTTP. Returns the target to connect to.
    ///
    /// # Errors
    /// When it cannot listen, or its script does not serve this transport.
    pub(in crate::run) async fn start(
        server: Arc<MockServer>,
        transport: HttpTransport,
    ) -> Result<(HttpTarget, RestartableMock), String> {
        let (target, serving, address) = listen(&server, transport).await?;
        let (restarts, mut restart) = mpsc::channel::<oneshot::Sender<()>>(1);
        let mut faults = server.process_faults();
        let serve = async move {
            let mut serving = Some(serving);
            loop {
                // A script that ended the mock did so before the restart.
                tokio::select! {
                    biased;
                    () = exit_fault(faults.as_mut()) => serving = None,
                    restarted = restart.recv() => {
                        let Some(restarted) = restarted else { return };
                        if serving.is_none() {
                            // Clients see the failure: the address still refuses connections.
                            serving = server.listen(address).await.ok();
                        }
                        let _ = restarted.send(());
                    }
                }
            }
        };
        Ok((target, RestartableMock { restarts, _task: MockTask::spawn(serve) }))
    }

    /// Serves the mock again at its address if its script ended it.
    pub(in crate::run) async fn restart(&self) {
        let (restarted, done) = oneshot::channel();
        if self.restarts.send(restarted).await.is_ok() {
            let _ = done.await;
        }
    }
}

/// Listens on a free port. Returns the target to connect to, too.
async fn listen(
    server: &MockServer,
    transport: HttpTransport,
) -> Result<(HttpTarget, HttpServerHandle, SocketAddr), String> {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let failed = |error: std::io::Error| format!("cannot listen: {error}");
    let serving = server.listen(any_port).await.map_err(failed)?;
    let address = serving.address().unwrap_or(any_port);
    Ok((http_target(server, address, transport)?, serving, address))
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
    address: SocketAddr,
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
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let target = http_target(server, address, transport)?;
    let command = command.arg(format!("--http={address}"));
    Ok(HttpProcessTarget::new(command, target).ready_path("/health").ready_within(timeout))
}

/// Waits until the script asks for its process to exit. In this process only the
/// connection ends then. Floods of stderr are ignored.
async fn exit_fault(faults: Option<&mut mpsc::Receiver<ProcessFault>>) {
    let Some(faults) = faults else { return std::future::pending().await };
    while let Some(fault) = faults.recv().await {
        if let ProcessFault::Exit(_) = fault {
            return;
        }
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sparring_peer::ClientBuilder;
    use sparring_transport::http::HttpLink;

    use super::*;

    #[tokio::test]
    async fn a_mock_that_its_script_ended_is_served_again_at_its_address_after_a_restart() {
        let script = "tools: [{name: crash, fault: {exit: 1}}, {name: work, text: done}]";
        let server = Arc::new(MockServer::from_yaml(script, ".").unwrap());
        let started = RestartableMock::start(server, HttpTransport::Streamable).await;
        let (target, mock) = started.unwrap();
        for _ in 0..2 {
            let client = ClientBuilder::default().start(HttpLink::new(&target).unwrap());
            assert!(client.call_tool("work", json!({})).await.is_ok());
            assert!(client.call_tool("crash", json!({})).await.is_err());
            client.close().await;
            mock.restart().await;
        }
    }
}
