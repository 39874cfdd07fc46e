//! What an idle client, and a request in flight, take in memory: the growth of
//! the process for many of them, divided by their number.

use std::sync::Arc;

use sparring_peer::server::{Answer, Context};
use sparring_peer::{Client, Handler, LinkKind, Server, memory};
use sparring_wire::Json;
use sparring_wire::types::ServerCapabilities;
use tokio::sync::Notify;

use super::ours::Echo;

const CLIENTS: usize = 2_000;
const REQUESTS: usize = 20_000;

/// A server whose tool does not answer until it is told to.
struct Patient(Arc<Notify>);

impl Handler for Patient {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, _: &Context) -> Answer {
        self.0.notified().await;
        Ok(sparring_wire::types::CallToolResult::text("").into())
    }
}

pub(crate) async fn print() {
    let Some(before) = resident() else {
        println!("memory: not known on this system\n");
        return;
    };
    let server = Server::new(Echo);
    let mut kept = Vec::new();
    for _ in 0..CLIENTS {
        let (here, there) = memory(LinkKind::Shared);
        let running = server.spawn(there);
        kept.push((Client::connect(here).await.expect("our own server"), running));
    }
    let idle = resident().unwrap_or_default().saturating_sub(before) / CLIENTS;
    let flight = requests_in_flight().await;
    println!("memory, client and server together: {idle} bytes an idle connection (of {CLIENTS}),");
    println!("{flight} bytes a request in flight (of {REQUESTS}), its transcript included\n");
}

async fn requests_in_flight() -> usize {
    let gate = Arc::new(Notify::new());
    let (here, there) = memory(LinkKind::Shared);
    let _server = Server::new(Patient(Arc::clone(&gate))).spawn(there);
    let client = Client::connect(here).await.expect("our own server");
    let before = resident().unwrap_or_default();
    let arguments = sparring_wire::RawJson::empty_object();
    let flying: Vec<_> =
        (0..REQUESTS).map(|_| client.call_tool("wait", arguments.clone()).start()).collect();
    client.request("unknown", None).await.expect("an answer behind all others");
    let grown = resident().unwrap_or_default().saturating_sub(before);
    gate.notify_waiters();
    futures_util::future::join_all(flying).await;
    grown / REQUESTS
}

/// The resident memory of this process, where the system tells.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kib: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
