//! Connecting and disconnecting, one and all.

use std::collections::BTreeSet;

use serde_json::json;
use sparring_host::config::ServerConfig;
use sparring_host::manager::{Error, Event, Manager, ServerState};
use sparring_mock::{MockServer, PromptMock, Reply, ResourceMock};

use super::fixture::{TestConnector, entry, event, tools, wait_for_state, within};

/// A connector with these servers, each with a tool of its name.
fn connector(names: &[&str]) -> (TestConnector, Manager) {
    let connector = TestConnector::default();
    for name in names {
        connector.mock(name, tools(&[name]));
    }
    let manager = connector.manager(names.iter().map(|name| entry(name)));
    (connector, manager)
}

fn names(manager: &Manager) -> Vec<String> {
    manager.connections().iter().map(|connection| connection.server().to_string()).collect()
}

#[tokio::test]
async fn the_shared_manager_is_the_same_each_time_and_a_test_can_replace_it() {
    let first = Manager::shared();
    assert!(first.is_same(&Manager::shared()));
    let (_world, other) = connector(&["a"]);
    let before = Manager::share(other.clone()).unwrap();
    assert!(before.is_same(&first));
    assert!(Manager::shared().is_same(&other) && !Manager::shared().is_same(&first));
    // A manager whose runtime has ended is not shared any more.
    other.shut_down(super::fixture::TEST_TIMEOUT).await;
    assert!(!Manager::shared().is_same(&other));
}

#[tokio::test]
async fn a_server_is_connected_and_its_tools_are_discovered() {
    let (_world, manager) = connector(&["filesystem"]);
    let connection = within(manager.connect("filesystem")).await.unwrap();
    assert_eq!(&**connection.server(), "filesystem");
    assert_eq!(connection.tools().items[0].name, "filesystem");
    assert!(connection.tools().stale.is_none());
    assert_eq!(manager.get("filesystem").unwrap().number(), connection.number());
    let answer = within(connection.call_tool("filesystem", json!({})).into_future()).await;
    assert_eq!(answer.unwrap().content(), "filesystem");
    // Connecting again returns the current connection.
    let again = within(manager.connect("filesystem")).await.unwrap();
    assert_eq!(again.number(), connection.number());
}

#[tokio::test]
async fn all_servers_are_connected_and_the_connections_returned() {
    let (_world, manager) = connector(&["a", "b", "c"]);
    let outcomes = within(manager.connect_all()).await;
    let connected = outcomes.iter().map(|(name, outcome)| {
        assert_eq!(outcome.as_ref().unwrap().server(), name);
        &**name
    });
    assert_eq!(connected.collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(names(&manager), ["a", "b", "c"]);
}

#[tokio::test]
async fn a_disabled_server_is_not_connected_with_all_and_refused_alone() {
    let (connector, _) = connector(&["on", "off"]);
    let off = ServerConfig { enabled: false, ..entry("off") };
    let manager = connector.manager([entry("on"), off]);
    assert_eq!(within(manager.connect_all()).await.len(), 1);
    assert_eq!(names(&manager), ["on"]);
    assert!(matches!(manager.state("off"), Some(ServerState::Disabled)));
    let error = within(manager.connect("off")).await.unwrap_err();
    assert_eq!(error.to_string(), "server `off` is disabled");
}

#[tokio::test]
async fn a_server_without_auto_connect_is_left_out_of_all_and_connected_when_asked_for() {
    let (connector, _) = connector(&["on", "later"]);
    let later = ServerConfig { auto_connect: false, ..entry("later") };
    let manager = connector.manager([entry("on"), later]);
    assert_eq!(within(manager.connect_all()).await.len(), 1);
    assert!(matches!(manager.state("later"), Some(ServerState::Idle)));
    within(manager.connect("later")).await.unwrap();
    assert_eq!(names(&manager), ["later", "on"]);
}

#[tokio::test]
async fn a_server_is_disconnected_and_its_tools_are_gone() {
    let (_world, manager) = connector(&["filesystem", "other"]);
    within(manager.connect_all()).await;
    let connection = manager.get("filesystem").unwrap();
    within(manager.disconnect("filesystem")).await.unwrap();
    assert!(!connection.is_connected());
    assert!(matches!(manager.state("filesystem"), Some(ServerState::Idle)));
    assert_eq!(names(&manager), ["other"]);
    let left: Vec<_> = manager.tools().into_iter().map(|tool| tool.server).collect();
    assert_eq!(left, ["other".into()]);
    let call = within(connection.call_tool("filesystem", json!({})).into_future()).await;
    assert!(call.unwrap_err().to_string().contains("this side closed the connection"));
}

#[tokio::test]
async fn all_servers_are_disconnected_and_no_tools_are_left() {
    let (_world, manager) = connector(&["a", "b", "c"]);
    within(manager.connect_all()).await;
    let connections = manager.connections();
    within(manager.disconnect_all()).await;
    assert!(manager.connections().is_empty() && manager.tools().is_empty());
    assert!(connections.iter().all(|connection| !connection.is_connected()));
    // They are still configured and can be connected again.
    assert_eq!(within(manager.connect_all()).await.len(), 3);
}

#[tokio::test]
async fn reconnecting_closes_the_old_connection_and_makes_a_new_one() {
    let (_world, manager) = connector(&["filesystem"]);
    let old = within(manager.connect("filesystem")).await.unwrap();
    let mut events = manager.subscribe();
    let new = within(manager.reconnect("filesystem")).await.unwrap();
    assert!(!old.is_connected() && new.is_connected());
    assert_ne!(old.number(), new.number());
    for state in ["closing", "connecting", "connected"] {
        wait_for_state(&mut events, "filesystem", state).await;
    }
    // A server that is not connected is only connected.
    within(manager.disconnect("filesystem")).await.unwrap();
    within(manager.reconnect("filesystem")).await.unwrap();
    assert!(manager.is_connected("filesystem"));
}

#[tokio::test]
async fn the_list_has_every_connection_and_no_other_server() {
    let (_world, manager) = connector(&["a", "b", "c"]);
    within(manager.connect("c")).await.unwrap();
    within(manager.connect("a")).await.unwrap();
    assert_eq!(names(&manager), ["a", "c"]);
}

#[tokio::test]
async fn a_connection_is_found_by_its_name() {
    let (_world, manager) = connector(&["filesystem", "other"]);
    within(manager.connect_all()).await;
    let connection = manager.get("filesystem").unwrap();
    assert_eq!(&**connection.server(), "filesystem");
    let revision = connection.revision().unwrap();
    assert!(revision.is_modern(), "{revision}");
    assert!(connection.capabilities().has("tools"));
    assert!(connection.info().is_some());
}

#[tokio::test]
async fn an_unknown_connection_is_none_and_connecting_it_an_error() {
    let (_world, manager) = connector(&["a"]);
    assert!(manager.get("unknown").is_none() && manager.state("unknown").is_none());
    let error = within(manager.connect("unknown")).await.unwrap_err();
    assert_eq!(error.to_string(), "no server named `unknown` is configured");
    assert!(matches!(
        within(manager.disconnect("unknown")).await,
        Err(Error::Unknown { server }) if server == "unknown"
    ));
}

#[tokio::test]
async fn is_connected_returns_the_current_state() {
    let (_world, manager) = connector(&["filesystem", "other"]);
    within(manager.connect("filesystem")).await.unwrap();
    assert!(manager.is_connected("filesystem"));
    assert!(!manager.is_connected("other") && !manager.is_connected("unknown"));
    within(manager.disconnect("filesystem")).await.unwrap();
    assert!(!manager.is_connected("filesystem"));
}

#[tokio::test]
async fn the_tools_of_all_connections_come_with_their_servers() {
    let connector = TestConnector::default();
    connector.mock("a", tools(&["one", "two", "three"]));
    connector.mock("b", tools(&["one", "four"]));
    connector.mock("c", tools(&["never"]));
    let manager = connector.manager(["a", "b", "c"].map(entry));
    within(manager.connect("a")).await.unwrap();
    within(manager.connect("b")).await.unwrap();
    let found = manager.tools();
    let found: Vec<_> = found.iter().map(|it| (&*it.server, it.item.name.as_str())).collect();
    let expected = [("a", "one"), ("a", "two"), ("a", "three"), ("b", "one"), ("b", "four")];
    assert_eq!(found, expected);
}

fn resources(uris: &[&str]) -> sparring_mock::MockBuilder {
    uris.iter().fold(MockServer::builder(), |mock, uri| {
        mock.resource(ResourceMock::new(*uri).reply(Reply::text("x")))
    })
}

#[tokio::test]
async fn the_resources_of_all_connections_come_with_their_servers() {
    let connector = TestConnector::default();
    connector.mock("a", resources(&["x:1", "x:2"]));
    connector.mock("b", resources(&["x:1", "x:3", "x:4"]));
    let manager = connector.manager(["a", "b"].map(entry));
    within(manager.connect_all()).await;
    let found = manager.resources();
    let found: Vec<_> = found.iter().map(|it| (&*it.server, it.item.uri.as_str())).collect();
    let expected = [("a", "x:1"), ("a", "x:2"), ("b", "x:1"), ("b", "x:3"), ("b", "x:4")];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn the_status_counts_servers_and_their_items() {
    let connector = TestConnector::default();
    let prompt = PromptMock::new("p").reply(Reply::text("hello"));
    let resource = ResourceMock::new("x:1").reply(Reply::text("x"));
    connector.mock("a", tools(&["one", "two"]).prompt(prompt).resource(resource));
    connector.mock("b", tools(&["three"]));
    let manager =
        connector.manager([entry("a"), ServerConfig { auto_connect: false, ..entry("b") }]);
    within(manager.connect_all()).await;
    let status = manager.status();
    assert_eq!((status.configured_servers, status.connected_servers), (2, 1));
    assert_eq!((status.tools, status.resources, status.prompts), (2, 1, 1));
    assert_eq!((status.templates, status.enabled_servers), (0, 2));
    let states: Vec<_> = status.servers.iter().map(|server| server.state.name()).collect();
    assert_eq!(states, ["connected", "idle"]);
}

#[tokio::test]
async fn every_state_of_a_server_is_sent_to_every_subscriber() {
    let (_world, manager) = connector(&["a"]);
    let (mut one, mut other) = (manager.subscribe(), manager.subscribe());
    within(manager.connect("a")).await.unwrap();
    within(manager.disconnect("a")).await.unwrap();
    for events in [&mut one, &mut other] {
        let mut message = Vec::new();
        while message.last() != Some(&"idle") {
            message.push(
                event(events, |event| match event {
                    Event::State { state, .. } => Some(state.name()),
                    _ => None,
                })
                .await,
            );
        }
        assert_eq!(message, ["connecting", "connected", "closing", "idle"]);
    }
}

#[tokio::test]
async fn concurrent_connects_share_one_connection() {
    let (_world, manager) = connector(&["a"]);
    let all = (0..50).map(|_| manager.connect("a"));
    let all = within(futures_util::future::join_all(all)).await;
    let numbers: BTreeSet<u64> = all.iter().map(|it| it.as_ref().unwrap().number()).collect();
    assert_eq!(numbers.len(), 1);
}
