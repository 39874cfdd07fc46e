//! Reloads: unchanged servers stay connected, changed ones are replaced,
//! removed ones end, and new ones start.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sparring_host::config::{Origin, Rules, ServerConfig};
use sparring_host::manager::{Changes, Event, Manager, ServerState};
use sparring_transport::{ChildTarget, Target};
use sparring_wire::Revision;

use super::children::{all_ended, example_server, is_alive, pid, shell, wait_until_ended};
use super::controlled_server::ControlledServer;
use super::fixture::{TestConnector, entry, event, server_config, tools, wait_for_state, within};

fn names(names: &[Arc<str>]) -> Vec<&str> {
    names.iter().map(|name| &**name).collect()
}

/// The changes, each list as its names.
fn change_names(changes: &Changes) -> [Vec<&str>; 5] {
    let Changes { added, removed, changed, policy_only, untouched, .. } = changes;
    [added, removed, changed, policy_only, untouched].map(|list| names(list))
}

async fn reload(manager: &Manager, servers: &[ServerConfig]) -> Changes {
    within(manager.reload(servers.to_vec())).await.unwrap()
}

#[tokio::test]
async fn a_changed_server_is_reconnected_and_an_unchanged_one_keeps_its_process() {
    let manager = Manager::new(["a", "b"].map(|name| server_config(name, example_server(name))));
    within(manager.connect_all()).await;
    let [a, b] = ["a", "b"].map(|name| manager.get(name).unwrap());
    let pids = [pid(&a).await, pid(&b).await];
    let mut events = manager.subscribe();
    let changes = reload(
        &manager,
        &[server_config("a", example_server("a")), server_config("b", example_server("other"))],
    )
    .await;
    assert_eq!(change_names(&changes), [vec![], vec![], vec!["b"], vec![], vec!["a"]]);
    assert!(changes.failed.is_empty());
    let message = event(&mut events, |event| match event {
        Event::Reloaded(changes) => Some(Arc::clone(changes)),
        _ => None,
    })
    .await;
    assert_eq!(change_names(&message), change_names(&changes));
    assert_eq!(manager.get("a").unwrap().number(), a.number());
    assert_eq!(pid(&a).await, pids[0]);
    let new = manager.get("b").unwrap();
    assert!(new.number() != b.number() && pid(&new).await != pids[1]);
    assert_eq!(new.info().unwrap().name, "other");
    wait_until_ended(pids[1]).await;
}

#[tokio::test]
async fn a_server_that_is_not_configured_any_more_is_shut_down() {
    let manager =
        Manager::new(["old", "stays"].map(|name| server_config(name, example_server(name))));
    within(manager.connect_all()).await;
    let old = manager.get("old").unwrap();
    let pid = pid(&old).await;
    let changes = reload(&manager, &[server_config("stays", example_server("stays"))]).await;
    assert_eq!(change_names(&changes), [vec![], vec!["old"], vec![], vec![], vec!["stays"]]);
    assert!(!is_alive(pid) && !old.is_connected());
    assert!(manager.state("old").is_none() && manager.is_connected("stays"));
    assert!(manager.tools().iter().all(|tool| &*tool.server == "stays"));
}

#[tokio::test]
async fn a_new_server_is_connected_if_its_entry_says_so() {
    let connector = TestConnector::default();
    for name in ["there", "new", "later", "off"] {
        connector.mock(name, tools(&["t"]));
    }
    let manager = connector.manager([entry("there")]);
    within(manager.connect_all()).await;
    let later = ServerConfig { auto_connect: false, ..entry("later") };
    let off = ServerConfig { enabled: false, ..entry("off") };
    let changes = reload(&manager, &[entry("there"), entry("new"), later, off]).await;
    assert_eq!(names(&changes.added), ["later", "new", "off"]);
    let states = ["there", "new", "later", "off"].map(|name| manager.state(name).unwrap().name());
    assert_eq!(states, ["connected", "connected", "idle", "disabled"]);
}

#[tokio::test]
async fn changed_rules_and_limits_apply_to_the_same_connection() {
    let connector = TestConnector::default();
    connector.mock("a", tools(&["t"]));
    let manager = connector.manager([entry("a")]);
    let connection = within(manager.connect("a")).await.unwrap();
    let rules = Rules { deny: vec!["*".to_owned()], ..Rules::default() };
    let timeout = Duration::from_millis(1);
    let new = ServerConfig { rules: rules.clone(), timeout, ..entry("a") };
    let changes = reload(&manager, &[new]).await;
    assert_eq!(change_names(&changes), [vec![], vec![], vec![], vec!["a"], vec![]]);
    assert_eq!(manager.get("a").unwrap().number(), connection.number());
    assert_eq!((connection.config().rules.clone(), connection.config().timeout), (rules, timeout));
    assert_eq!(manager.servers()[0].config.timeout, timeout);
}

#[tokio::test(start_paused = true)]
async fn a_new_timeout_bounds_the_next_call() {
    let connector = TestConnector::default();
    let _actor = ControlledServer::new(&connector, "a", &Revision::ALL);
    let manager = connector.manager([entry("a")]);
    let connection = within(manager.connect("a")).await.unwrap();
    reload(&manager, &[ServerConfig { timeout: Duration::from_secs(3), ..entry("a") }]).await;
    let error = within(connection.call_tool("wait", json!({})).into_future()).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer to tools/call within 3s");
}

#[tokio::test]
async fn an_entry_with_only_another_position_is_untouched() {
    let connector = TestConnector::default();
    connector.mock("a", tools(&["t"]));
    let manager = connector.manager([entry("a")]);
    within(manager.connect_all()).await;
    let origin = Origin { line: 40, ..entry("a").origin };
    let changes = reload(&manager, &[ServerConfig { origin, ..entry("a") }]).await;
    assert_eq!(names(&changes.untouched), ["a"]);
    assert!(changes.is_empty());
    assert_eq!(manager.servers()[0].config.origin.line, 40);
}

#[tokio::test]
async fn a_disabled_server_is_disconnected_and_an_enabled_one_connected() {
    let connector = TestConnector::default();
    connector.mock("a", tools(&["t"]));
    let manager = connector.manager([entry("a")]);
    let old = within(manager.connect("a")).await.unwrap();
    let off = ServerConfig { enabled: false, ..entry("a") };
    assert_eq!(names(&reload(&manager, &[off]).await.changed), ["a"]);
    assert!(!old.is_connected() && matches!(manager.state("a"), Some(ServerState::Disabled)));
    assert_eq!(names(&reload(&manager, &[entry("a")]).await.changed), ["a"]);
    assert!(manager.is_connected("a"));
}

#[tokio::test]
async fn a_changed_server_that_fails_is_reported_and_the_old_one_does_not_return() {
    let connector = TestConnector::default();
    connector.mock("a", tools(&["t"]));
    let manager = connector.manager([entry("a")]);
    let old = within(manager.connect("a")).await.unwrap();
    let gone = ServerConfig { target: Target::Child(ChildTarget::new("nowhere")), ..entry("a") };
    let changes = reload(&manager, &[gone]).await;
    let (name, error) = &changes.failed[0];
    assert_eq!(&**name, "a");
    assert_eq!(error.to_string(), "server `a`: command not found: nowhere");
    assert!(!old.is_connected() && !manager.is_connected("a"));
}

#[tokio::test]
async fn a_server_that_the_user_disconnected_stays_so_after_a_change_of_its_entry() {
    let connector = TestConnector::default();
    connector.mock("a", tools(&["t"]));
    connector.mock("other", tools(&["t"]));
    let manager = connector.manager([entry("a")]);
    within(manager.connect("a")).await.unwrap();
    within(manager.disconnect("a")).await.unwrap();
    let other = ServerConfig { target: entry("other").target, ..entry("a") };
    assert_eq!(names(&reload(&manager, &[other]).await.changed), ["a"]);
    assert!(matches!(manager.state("a"), Some(ServerState::Idle)));
}

#[tokio::test]
async fn a_reload_while_a_server_connects_replaces_it_at_once() {
    let hanging = server_config("a", shell("exec cat > /dev/null"));
    let manager = Manager::new([hanging]);
    let mut events = manager.subscribe();
    let connecting = manager.connect("a");
    let reloading = async {
        wait_for_state(&mut events, "a", "connecting").await;
        reload(&manager, &[server_config("a", example_server("a"))]).await
    };
    let (connected, changes) = within(async { tokio::join!(connecting, reloading) }).await;
    let error = connected.unwrap_err().to_string();
    assert_eq!(error, "connecting to server `a` was cancelled");
    assert!(changes.failed.is_empty() && manager.is_connected("a"));
    assert_eq!(super::children::children().len(), 1);
}

#[tokio::test]
async fn of_concurrent_reloads_the_last_one_counts() {
    let connector = TestConnector::default();
    for name in ["a", "b", "c"] {
        connector.mock(name, tools(&["t"]));
    }
    let manager = connector.manager([]);
    let sets = [vec![entry("a")], vec![entry("a"), entry("b")], vec![entry("c")]];
    let reloads = sets.map(|set| manager.reload(set));
    let all = within(futures_util::future::join_all(reloads)).await;
    let all: Vec<Changes> = all.into_iter().map(Result::unwrap).collect();
    // Each configuration is compared with the one before, even if that one has not taken
    // effect yet.
    assert_eq!(all.iter().map(|it| it.added.len()).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(names(&all[2].removed), ["a", "b"]);
    let connected: Vec<_> =
        manager.connections().iter().map(|it| it.server().to_string()).collect();
    assert_eq!(connected, ["c"]);
}

#[tokio::test]
async fn a_reload_is_compared_with_the_last_configuration() {
    let connector = TestConnector::default();
    connector.mock("a", tools(&["t"]));
    connector.mock("b", tools(&["t"]));
    let manager = connector.manager([entry("a")]);
    let first = within(manager.connect("a")).await.unwrap();
    let other = || ServerConfig { target: entry("b").target, ..entry("a") };
    let reloads = [other(), other(), entry("a")].map(|server| manager.reload([server]));
    let all = within(futures_util::future::join_all(reloads)).await;
    let changed: Vec<usize> = all.iter().map(|it| it.as_ref().unwrap().changed.len()).collect();
    assert_eq!(changed, [1, 0, 1]);
    let last = manager.get("a").unwrap();
    assert!(last.number() != first.number() && last.config().target == entry("a").target);
}

#[tokio::test]
async fn a_server_that_is_configured_again_starts_after_the_old_one_has_ended() {
    let manager = Manager::new([server_config("a", example_server("a"))]);
    let old = within(manager.connect("a")).await.unwrap();
    let old_pid = pid(&old).await;
    let removing = manager.reload([]);
    let adding = manager.reload([server_config("a", example_server("a"))]);
    let (removed, added) = within(async { tokio::join!(removing, adding) }).await;
    assert_eq!(names(&removed.unwrap().removed), ["a"]);
    assert_eq!(names(&added.unwrap().added), ["a"]);
    assert!(!is_alive(old_pid) && manager.is_connected("a"));
    assert!(within(manager.shut_down(super::fixture::TEST_TIMEOUT)).await);
    all_ended().await;
}
