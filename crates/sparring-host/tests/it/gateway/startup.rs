//! A server that hangs at startup delays only the requests that need it.

use std::sync::Arc;

use serde_json::json;
use sparring_host::gateway::{self, Gateway};
use sparring_host::manager::Manager;
use sparring_host::permissions::{PermissionGate, PermissionGateOptions, Permissions, Policy};
use sparring_host::registry::Registry;
use sparring_peer::{LinkKind, Server, memory};

use super::{DESK_SCRIPT, ERAS, plain, put_script, server_in_revision};
use crate::manager::fixture::{TestConnector, entry, within};
use crate::permissions::rules;

#[tokio::test(start_paused = true)]
async fn requests_to_connected_servers_do_not_wait_for_a_server_that_hangs() {
    let connector = TestConnector::default();
    put_script(&connector, "desk", DESK_SCRIPT);
    // The other end is kept, and never answers.
    let (silent, _kept) = memory(LinkKind::Shared);
    let silent = std::sync::Mutex::new(Some(silent));
    connector.put("hanging", move || silent.lock().unwrap().take().expect("one connection"));
    let servers = [server_in_revision("desk", ERAS[0]), entry("hanging")];
    let policy = Policy { user: rules(&[], &[], &["mcp__desk"]), ..Policy::default() };
    let gate = PermissionGate::new(
        Permissions::new(&policy, &servers).0,
        PermissionGateOptions::default(),
    );
    let registry = Arc::new(Registry::new(gate));
    let client = gateway::configure_client(Manager::default_client());
    let manager = Manager::builder().connector(connector).servers(servers).client(client).build();
    let server = Server::new(Gateway::new(manager.clone(), Arc::clone(&registry)));
    let connecting = tokio::spawn({
        let manager = manager.clone();
        async move { drop(manager.connect("hanging").await) }
    });
    within(manager.connect("desk")).await.unwrap();
    // The startup has not ended.
    for era in ERAS {
        let (ours, theirs) = memory(LinkKind::Shared);
        let _session = server.spawn(theirs);
        let client = within(plain(era).connect(ours)).await.unwrap();
        let before = tokio::time::Instant::now();
        let echo = client.call_tool("mcp__desk__echo", json!({"message": "hi"}));
        assert_eq!(within(echo.into_future()).await.unwrap().content(), "hi");
        within(client.get_prompt("mcp__desk__greet", json!({}))).await.unwrap();
        within(client.read_resource("desk://note")).await.unwrap();
        within(client.read_resource("desk://drawer/1")).await.unwrap();
        within(client.read_resource("mcp+desk+desk://note")).await.unwrap();
        let of = json!({"type": "ref/prompt", "name": "mcp__desk__greet"});
        within(client.complete(of, "name", "")).await.unwrap();
        let unknown = client.call_tool("mcp__desk__nothing", json!({}));
        assert!(within(unknown.into_future()).await.unwrap().error().is_some());
        assert!(within(client.get_prompt("mcp__desk__nothing", json!({}))).await.is_err());
        assert_eq!(before.elapsed().as_secs(), 0, "{era}: it waited for the other server");
        // These may belong to the server that is being connected.
        let unknown = client.call_tool("mcp__hanging__tool", json!({}));
        assert!(unknown.await.unwrap().error().is_some());
        assert!(before.elapsed().as_secs() >= 10, "{era}: it did not wait for its server");
    }
    connecting.abort();
}
