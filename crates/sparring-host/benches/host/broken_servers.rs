//! A hundred servers over stdio and a hundred over HTTP behind a gateway, once without and
//! once with the tenth of them that hangs, crashes or lists malformed tools.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use sparring_host::config::{Rules, ServerConfig};
use sparring_host::gateway::{self, Gateway};
use sparring_host::manager::Manager;
use sparring_host::permissions::{PermissionGate, PermissionGateOptions, Permissions, Policy};
use sparring_host::registry::Registry;
use sparring_peer::{Client, LinkKind, Protocol, Server, memory};
use sparring_transport::http::HttpTarget;
use sparring_transport::{ChildTarget, Target};
use sparring_wire::Revision;
use tokio::net::TcpListener;

use super::servers::{Kind, Servers};
use super::{ROUNDS, SERVER_COUNT, check, median};

/// The number of calls of one server, after the first answers.
const CALLS: usize = 1_000;
/// The answers beside broken servers may take so many times as long as without them.
const MAX_SLOWDOWN: f64 = 1.25;

/// Answers the handshake, and lists only malformed tools.
const MALFORMED: &str = r#"
read a
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"m","version":"1"}}}'
read b; read c
echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[["x"],{"name":"a","name":"b"},{"name":"bare"}]}}'
while read line; do :; done"#;

/// The times of one round.
struct Times {
    /// From the start of the gateway to the first answer of the last good server.
    first_answers: Duration,
    /// One call of a good server.
    call: Duration,
}

/// Measures the good servers alone and beside the broken ones, in turn.
pub(crate) async fn measure() -> bool {
    // It accepts connections and never responds.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let silent = format!("http://{}/", listener.local_addr().expect("an address"));
    let silent = Target::Http(HttpTarget::new(silent));
    let (stdio, http) =
        (Servers::start(Kind::Stdio, SERVER_COUNT), Servers::start(Kind::Http, SERVER_COUNT));
    let all = stdio.configs.iter().chain(&http.configs).cloned().enumerate();
    let all = all.map(|(number, config)| rename(number, config));
    let (mut good, mut broken) = (Vec::new(), Vec::new());
    for (number, config) in all.enumerate() {
        match number.is_multiple_of(10) {
            true => broken.push(with_fault(number, config, &silent)),
            false => good.push(config),
        }
    }
    let mut times = [const { (Vec::new(), Vec::new()) }; 2];
    for _ in 0..ROUNDS {
        for (beside, times) in [&[][..], &broken].iter().zip(&mut times) {
            let round = measure_round(&good, beside).await;
            times.0.push(round.first_answers);
            times.1.push(round.call);
        }
    }
    let [alone, beside] = times.map(|(first, calls)| (median(first), median(calls)));
    println!("{} servers, alone and beside {} broken ones", good.len(), broken.len());
    println!("  all first answers        {:>10.1?} {:>10.1?}", alone.0, beside.0);
    println!("  a call                   {:>10.1?} {:>10.1?}", alone.1, beside.1);
    let met = |before: Duration, after: Duration| after <= before.mul_f64(MAX_SLOWDOWN);
    check(&format!("the first answers take at most {MAX_SLOWDOWN} x"), met(alone.0, beside.0))
        & check(&format!("a call takes at most {MAX_SLOWDOWN} x"), met(alone.1, beside.1))
}

fn rename(number: usize, config: ServerConfig) -> ServerConfig {
    let rules = Rules { allow: vec!["*".to_owned()], ..Rules::default() };
    ServerConfig { name: format!("s{number:03}"), rules, ..config }
}

/// The server with a fault. Its deadline does not pass during a round.
fn with_fault(number: usize, server: ServerConfig, silent: &Target) -> ServerConfig {
    let shell = |script: &str| Target::Child(ChildTarget::new("sh").args(["-c", script]));
    let is_http = matches!(server.target, Target::Http(_));
    let (target, protocol) = match number / 10 % 3 {
        0 if is_http => (silent.clone(), Protocol::Auto),
        0 => (shell("while read line; do :; done"), Protocol::Auto),
        1 => (shell("read hello; exit 9"), Protocol::Auto),
        _ => (shell(MALFORMED), Protocol::Only(Revision::V2025_11_25)),
    };
    ServerConfig { target, protocol, timeout: Duration::from_secs(600), ..server }
}

async fn measure_round(good: &[ServerConfig], broken: &[ServerConfig]) -> Times {
    let servers = [broken, good].concat();
    let (permissions, _) = Permissions::new(&Policy::default(), &servers);
    let gate = PermissionGate::new(permissions, PermissionGateOptions::default());
    let registry = Arc::new(Registry::new(gate));
    let client = gateway::configure_client(Manager::default_client());
    let start = Instant::now();
    let manager = Manager::builder().servers(servers).client(client).build();
    let server = Server::new(Gateway::new(manager.clone(), registry));
    let connecting = tokio::spawn({
        let manager = manager.clone();
        async move { drop(manager.connect_all().await) }
    });
    let (ours, theirs) = memory(LinkKind::Shared);
    let _session = server.spawn(theirs);
    let client = Client::builder().protocol(Protocol::Only(Revision::V2025_11_25));
    let client = client.connect(ours).await.expect("the gateway answers");
    let tool = |config: &ServerConfig| format!("mcp__{}__work", config.name);
    let calls = good.iter().map(|config| {
        let call = client.call_tool(&tool(config), json!({}));
        async move { call.timeout(Duration::from_secs(60)).await.expect("an answer") }
    });
    futures_util::future::join_all(calls).await;
    let first_answers = start.elapsed();
    let mut calls = Vec::with_capacity(CALLS);
    let tool = tool(&good[0]);
    for _ in 0..CALLS {
        let start = Instant::now();
        client.call_tool(&tool, json!({})).await.expect("an answer");
        calls.push(start.elapsed());
    }
    connecting.abort();
    manager.shut_down(Duration::from_secs(30)).await;
    Times { first_answers, call: median(calls) }
}
