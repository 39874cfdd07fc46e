//! Measures the memory of an idle client and of a request in flight: the growth
//! of the process for many of them, divided by their number.

use std::sync::Arc;

use sparring_peer::server::{Context, HandlerResult};
use sparring_peer::{Client, Handler, LinkKind, Server, memory};
use sparring_wire::Json;
use sparring_wire::types::ServerCapabilities;
use tokio::sync::Notify;

use super::sparring_contestants::Echo;

const CLIENTS: usize = 2_000;
const REQUESTS: usize = 20_000;

/// A server whose tool does not answer until the benchmark releases it.
struct WaitingServer(Arc<Notify>);

impl Handler for WaitingServer {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, _: &Context) -> HandlerResult {
        self.0.notified().await;
        Ok(sparring_wire::types::CallToolResult::text("").into())
    }
}

pub(crate) async fn print() {
    let Some(before) = resident_memory() else {
        println!("memory: not known on this system\n");
        return;
    };
    let server = Server::new(Echo);
    let mut connections = Vec::new();
    for _ in 0..CLIENTS {
        let (here, there) = memory(LinkKind::Shared);
        let running = server.spawn(there);
        connections.push((Client::connect(here).await.expect("our own server"), running));
    }
    let idle = resident_memory().unwrap_or_default().saturating_sub(before) / CLIENTS;
    let per_request = requests_in_flight().await;
    println!("memory, client and server together: {idle} bytes an idle connection (of {CLIENTS}),");
    println!("{per_request} bytes a request in flight (of {REQUESTS}), its transcript included\n");
}

async fn requests_in_flight() -> usize {
    let release = Arc::new(Notify::new());
    let (here, there) = memory(LinkKind::Shared);
    let _server = Server::new(WaitingServer(Arc::clone(&release))).spawn(there);
    let client = Client::connect(here).await.expect("our own server");
    let before = resident_memory().unwrap_or_default();
    let arguments = sparring_wire::RawJson::empty_object();
    let requests: Vec<_> =
        (0..REQUESTS).map(|_| client.call_tool("wait", arguments.clone()).start()).collect();
    client.request("unknown", None).await.expect("an answer behind all others");
    let grown = resident_memory().unwrap_or_default().saturating_sub(before);
    release.notify_waiters();
    futures_util::future::join_all(requests).await;
    grown / REQUESTS
}

/// Returns the resident memory of this process, if the system reports it.
fn resident_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kib: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
