//! A hundred servers over stdio and a hundred over HTTP, a tenth of them broken:
//! the others answer as without them.

use std::sync::Arc;

use serde_json::json;
use sparring_host::config::ServerConfig;
use sparring_host::gateway::{self, Gateway};
use sparring_host::manager::{Manager, ServerState};
use sparring_host::permissions::{PermissionGate, PermissionGateOptions, Permissions, Policy};
use sparring_host::registry::Registry;
use sparring_peer::{LinkKind, Protocol, Server, memory};
use sparring_transport::Target;
use sparring_transport::http::HttpTarget;
use sparring_wire::Revision;
use tokio::net::TcpListener;

use super::{plain, until};
use crate::manager::children::{all_ended, shell};
use crate::manager::fixture::{TEST_TIMEOUT, within};
use crate::manager::load::{start_http_servers, stdio};
use crate::permissions::rules;

const MANY: usize = 100;

/// Answers the handshake, and lists only malformed tools.
const MALFORMED: &str = r#"
read a
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"m","version":"1"}}}'
read b; read c
echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[["x"],{"name":"a","name":"b"},{"name":"bare"}]}}'
while read line; do :; done"#;

/// Every tenth server is broken: it hangs, crashes, or sends a malformed list.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Hangs,
    Crashes,
    Malformed,
}

fn fault(number: usize) -> Option<Fault> {
    let faults = [Fault::Hangs, Fault::Crashes, Fault::Malformed];
    number.is_multiple_of(10).then(|| faults[number / 10 % faults.len()])
}

/// The server with its fault. Its deadline does not pass during the test.
fn with_fault(server: ServerConfig, fault: Option<Fault>, silent: &Target) -> ServerConfig {
    let is_http = matches!(server.target, Target::Http(_));
    let server = ServerConfig { timeout: TEST_TIMEOUT * 10, ..server };
    match fault {
        None => server,
        Some(Fault::Hangs) if is_http => ServerConfig { target: silent.clone(), ..server },
        Some(Fault::Hangs) => {
            ServerConfig { target: shell("while read line; do :; done"), ..server }
        }
        Some(Fault::Crashes) => ServerConfig { target: shell("read hello; exit 9"), ..server },
        Some(Fault::Malformed) => ServerConfig {
            target: shell(MALFORMED),
            protocol: Protocol::Only(Revision::V2025_11_25),
            ..server
        },
    }
}

#[tokio::test]
async fn servers_answer_while_a_tenth_of_the_others_hangs_crashes_or_lists_malformed_tools() {
    // It accepts connections and never responds.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}/", listener.local_addr().unwrap());
    let silent = Target::Http(HttpTarget::new(silent));
    let webs = start_http_servers(MANY, false).await;
    let all = (0..MANY).map(stdio).chain(webs.iter().map(|(_, server)| server.clone()));
    let servers: Vec<ServerConfig> =
        all.enumerate().map(|(number, it)| with_fault(it, fault(number), &silent)).collect();
    let with = |wanted: Option<Fault>| -> Vec<&ServerConfig> {
        let numbered = servers.iter().enumerate();
        numbered.filter(|(number, _)| fault(*number) == wanted).map(|(_, it)| it).collect()
    };
    let allow: Vec<String> = servers.iter().map(|it| format!("mcp__{}", it.name)).collect();
    let allow: Vec<&str> = allow.iter().map(String::as_str).collect();
    let policy = Policy { user: rules(&[], &[], &allow), ..Policy::default() };
    let permissions = Permissions::new(&policy, &servers).0;
    let gate = PermissionGate::new(permissions, PermissionGateOptions::default());
    let registry = Arc::new(Registry::new(gate));
    let client = gateway::configure_client(Manager::default_client());
    let manager = Manager::builder().servers(servers.clone()).client(client).build();
    let server = Server::new(Gateway::new(manager.clone(), registry));
    let connecting = tokio::spawn({
        let manager = manager.clone();
        async move { drop(manager.connect_all().await) }
    });
    let (ours, theirs) = memory(LinkKind::Shared);
    let _session = server.spawn(theirs);
    let client = within(plain(Revision::V2025_11_25).connect(ours)).await.unwrap();
    // The calls begin before the servers are connected, and wait for their own.
    let healthy = with(None);
    let calls = healthy.iter().map(|server| {
        let tool = format!("mcp__{}__echo", server.name);
        let call = client.call_tool(&tool, json!({"to": server.name}));
        async move { (tool, call.timeout(TEST_TIMEOUT).await) }
    });
    for (tool, answer) in within(futures_util::future::join_all(calls)).await {
        let answer = answer.unwrap_or_else(|error| panic!("{tool}: {error}"));
        assert!(answer.success(), "{tool}: {}", answer.raw().text());
    }
    let is = |server: &ServerConfig, fits: fn(&ServerState) -> bool| {
        manager.state(&server.name).is_some_and(|state| fits(&state))
    };
    for server in with(Some(Fault::Hangs)) {
        let hangs = is(server, |state| matches!(state, ServerState::Connecting { .. }));
        let state = manager.state(&server.name);
        assert!(hangs, "{}: it must not be waited for: {state:?}", server.name);
    }
    until(|| {
        let failed =
            |it: &&ServerConfig| is(it, |state| matches!(state, ServerState::Failed { .. }));
        with(Some(Fault::Crashes)).iter().all(failed)
    })
    .await;
    until(|| with(Some(Fault::Malformed)).iter().all(|it| manager.is_connected(&it.name))).await;
    for server in with(Some(Fault::Malformed)) {
        let tools = manager.get(&server.name).unwrap().tools();
        assert_eq!((tools.items.len(), tools.malformed.is_some()), (1, true), "{}", server.name);
    }
    connecting.abort();
    within(manager.shut_down(TEST_TIMEOUT)).await;
    all_ended().await;
}
