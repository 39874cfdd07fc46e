//! Shutdown: gracefully, at once, with the manager, and with the process.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use sparring_host::manager::{Error, Manager};
use tokio::time::Instant;

use super::children::{
    all_ended, children, example, example_server, is_alive, number, pid, shell, wait_until_ended,
};
use super::fixture::{TEST_TIMEOUT, server_config, within};

/// Ignores the end of its stdin and SIGTERM.
const IGNORES_SHUTDOWN: &str = r#"trap '' TERM
read hello
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}'
while :; do sleep 0.05; done"#;

fn unresponsive_server(name: &str) -> sparring_host::config::ServerConfig {
    let protocol = sparring_peer::Protocol::Only(sparring_wire::Revision::V2025_11_25);
    sparring_host::config::ServerConfig { protocol, ..server_config(name, shell(IGNORES_SHUTDOWN)) }
}

#[tokio::test]
async fn a_shutdown_ends_all_children_and_their_processes() {
    let servers = ["a", "b", "c"].map(|name| server_config(name, example_server(name)));
    let manager = Manager::new(servers);
    within(manager.connect_all()).await;
    let mut processes = Vec::new();
    for connection in manager.connections() {
        processes.push(pid(&connection).await);
        processes.push(number(&connection, "start").await);
    }
    assert!(processes.iter().all(|pid| is_alive(*pid)));
    assert!(within(manager.shut_down(TEST_TIMEOUT)).await, "they end by themselves");
    assert!(processes.iter().all(|pid| !is_alive(*pid)));
    assert_eq!(children(), [0; 0]);
    assert!(matches!(manager.connect("a").await, Err(Error::ShutDown)));
    assert!(matches!(manager.reload([]).await, Err(Error::ShutDown)));
    assert!(manager.connections().is_empty() && manager.servers().is_empty());
}

#[tokio::test]
async fn a_server_that_has_not_ended_by_the_deadline_is_killed() {
    let manager = Manager::new(["a", "b"].map(unresponsive_server));
    assert!(within(manager.connect_all()).await.iter().all(|(_, outcome)| outcome.is_ok()));
    assert!(children().len() >= 2);
    let (since, deadline) = (Instant::now(), Duration::from_millis(100));
    assert!(!within(manager.shut_down(deadline)).await);
    // One after the other would take six seconds.
    all_ended().await;
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
}

#[tokio::test]
async fn a_second_shutdown_kills_at_once() {
    let manager = Manager::new(["a", "b"].map(unresponsive_server));
    within(manager.connect_all()).await;
    let mut events = manager.subscribe();
    let since = Instant::now();
    let ending = manager.shut_down(TEST_TIMEOUT);
    let second = async {
        super::fixture::wait_for_state(&mut events, "b", "closing").await;
        manager.shut_down_now();
    };
    within(async { tokio::join!(ending, second) }).await;
    all_ended().await;
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    assert!(matches!(manager.connect("a").await, Err(Error::ShutDown)));
}

#[test]
fn dropping_the_manager_kills_its_children_without_a_running_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let manager = runtime.block_on(async {
        let manager =
            Manager::new([unresponsive_server("a"), server_config("b", example_server("b"))]);
        within(manager.connect_all()).await;
        manager
    });
    let connections = manager.connections();
    assert!(connections.len() == 2 && children().len() >= 2);
    drop(manager);
    // The runtime has not run since, and connections are still held.
    let since = std::time::Instant::now();
    while !children().is_empty() {
        assert!(since.elapsed() < Duration::from_secs(5), "they were not killed");
        std::thread::yield_now();
    }
    drop((connections, runtime));
}

#[tokio::test]
async fn kill_9_of_the_host_leaves_no_child() {
    let mut host = Command::new(example("host"))
        .args(["5", &example("stand_in")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(host.stdout.take().unwrap()).lines();
    let pids: Vec<u32> = lines.take(5).map(|line| line.unwrap().parse().unwrap()).collect();
    assert!(pids.len() == 5 && pids.iter().all(|pid| is_alive(*pid)));
    host.kill().unwrap();
    host.wait().unwrap();
    for pid in pids {
        wait_until_ended(pid).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_aborted_server_is_not_retried() {
    let connector = super::fixture::TestConnector::default();
    let controlled = super::controlled_server::ControlledServer::new(
        &connector,
        "a",
        &sparring_wire::Revision::ALL,
    );
    let manager = connector.manager([super::fixture::entry("a")]);
    within(manager.connect("a")).await.unwrap();
    let mut events = manager.subscribe();
    manager.shut_down_now();
    super::fixture::wait_for_state(&mut events, "a", "failed").await;
    super::fixture::advance_time(Duration::from_secs(600)).await;
    assert!(matches!(within(manager.connect("a")).await, Err(Error::ShutDown)));
    assert_eq!(controlled.opened(), 1);
}
