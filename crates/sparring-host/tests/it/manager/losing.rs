//! A lost server: its calls fail at once and are never repeated, and the
//! manager reconnects for a while.

use std::time::Duration;

use serde_json::json;
use sparring_host::config::{Reconnect, ServerConfig};
use sparring_host::manager::{Events, Manager, ServerState};
use sparring_peer::Protocol;
use sparring_wire::Revision;
use tokio::time::{Instant, advance};

use super::controlled_server::ControlledServer;
use super::fixture::{TestConnector, advance_time, entry, wait_for_state, within};

/// A connected server with this number of reconnects.
async fn start_manager(attempts: u32) -> (Manager, ControlledServer, Events) {
    let connector = TestConnector::default();
    let controlled = ControlledServer::new(&connector, "a", &Revision::ALL);
    let reconnect = Reconnect { attempts, delay: Duration::from_secs(1) };
    let manager = connector.manager([ServerConfig { reconnect, ..entry("a") }]);
    within(manager.connect("a")).await.unwrap();
    let events = manager.subscribe();
    (manager, controlled, events)
}

/// The delay before the next try, which must be scheduled already.
fn wait(state: &ServerState) -> Duration {
    state.retry_in().expect("it is tried again")
}

#[tokio::test(start_paused = true)]
async fn a_lost_server_is_connected_again_after_a_while() {
    let (manager, controlled, mut events) = start_manager(3).await;
    let old = manager.get("a").unwrap();
    controlled.drop_connections();
    let lost = wait_for_state(&mut events, "a", "lost").await;
    let ServerState::Lost { why, attempt: 1, .. } = &lost else { panic!("{lost:?}") };
    assert!(why.to_string().starts_with("server `a` was lost: "), "{why}");
    let wait = wait(&lost);
    assert!(wait >= Duration::from_millis(499) && wait <= Duration::from_secs(1), "{wait:?}");
    assert!(manager.get("a").is_none() && manager.tools().is_empty());
    let since = Instant::now();
    wait_for_state(&mut events, "a", "connected").await;
    assert!(since.elapsed() >= wait, "not before its time");
    let new = manager.get("a").unwrap();
    assert!(new.number() != old.number() && !old.is_connected());
    assert_eq!(manager.tools().len(), 1, "its tools are there again");
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_fails_at_once_and_is_never_made_again() {
    let (manager, controlled, mut events) = start_manager(3).await;
    let call = manager.get("a").unwrap().call_tool("wait", json!({})).start();
    within(controlled.handler().called.subscribe().wait_for(|called| *called == 1)).await.unwrap();
    let since = Instant::now();
    controlled.drop_connections();
    let error = within(call).await.unwrap_err();
    assert_eq!(since.elapsed(), Duration::ZERO, "nothing was waited for");
    assert!(error.to_string().contains("the other side closed the connection"), "{error}");
    wait_for_state(&mut events, "a", "connected").await;
    // Enough time for a repeated call.
    advance_time(Duration::from_secs(600)).await;
    assert_eq!(*controlled.handler().called.borrow(), 1);
}

#[tokio::test(start_paused = true)]
async fn reconnecting_ends_after_the_configured_attempts() {
    let (manager, controlled, mut events) = start_manager(3).await;
    controlled.set_available(false);
    controlled.drop_connections();
    let mut waits = Vec::new();
    for _ in 0..3 {
        waits.push(wait(&wait_for_state(&mut events, "a", "lost").await));
        wait_for_state(&mut events, "a", "connecting").await;
    }
    for (tries, wait) in waits.iter().enumerate() {
        let longest = Duration::from_secs(1 << tries);
        assert!(*wait >= longest.mul_f64(0.49) && *wait <= longest, "{waits:?}");
    }
    let ServerState::Failed { why } = wait_for_state(&mut events, "a", "failed").await else {
        unreachable!()
    };
    assert!(why.to_string().contains("closed the connection"), "{why}");
    assert_eq!(controlled.opened(), 4);
    advance_time(Duration::from_secs(600)).await;
    assert_eq!(controlled.opened(), 4, "it stays given up");
    // Until the next connect.
    controlled.set_available(true);
    within(manager.connect("a")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn without_attempts_a_lost_server_stays_lost() {
    let (manager, controlled, mut events) = start_manager(0).await;
    controlled.drop_connections();
    wait_for_state(&mut events, "a", "failed").await;
    advance_time(Duration::from_secs(600)).await;
    assert!(!manager.is_connected("a"));
    assert_eq!(controlled.opened(), 1);
}

#[tokio::test(start_paused = true)]
async fn reconnecting_ends_for_a_server_that_crashes_after_each_connect() {
    let (_manager, controlled, mut events) = start_manager(2).await;
    for _ in 0..2 {
        controlled.drop_connections();
        wait_for_state(&mut events, "a", "connected").await;
    }
    controlled.drop_connections();
    wait_for_state(&mut events, "a", "failed").await;
}

#[tokio::test(start_paused = true)]
async fn a_stable_connection_resets_the_number_of_attempts() {
    let (_manager, controlled, mut events) = start_manager(1).await;
    for _ in 0..5 {
        advance(Duration::from_secs(61)).await;
        controlled.drop_connections();
        let lost = wait_for_state(&mut events, "a", "lost").await;
        assert!(matches!(lost, ServerState::Lost { attempt: 1, .. }), "{lost:?}");
        wait_for_state(&mut events, "a", "connected").await;
    }
}

#[tokio::test(start_paused = true)]
async fn connecting_a_lost_server_does_not_wait_for_the_retry() {
    let (manager, controlled, mut events) = start_manager(3).await;
    controlled.drop_connections();
    wait_for_state(&mut events, "a", "lost").await;
    let since = Instant::now();
    within(manager.connect("a")).await.unwrap();
    assert_eq!(since.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_lost_server_that_is_disconnected_is_not_tried_again() {
    let (manager, controlled, mut events) = start_manager(3).await;
    controlled.drop_connections();
    wait_for_state(&mut events, "a", "lost").await;
    within(manager.disconnect("a")).await.unwrap();
    advance_time(Duration::from_secs(600)).await;
    assert!(matches!(manager.state("a"), Some(ServerState::Idle)));
    assert_eq!(controlled.opened(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_final_error_is_not_retried() {
    let connector = TestConnector::default();
    let old = ControlledServer::new(&connector, "a", &[Revision::V2025_06_18]);
    let protocol = Protocol::Only(Revision::V2025_06_18);
    let manager = connector.manager([ServerConfig { protocol, ..entry("a") }]);
    within(manager.connect("a")).await.unwrap();
    // The new server has another revision.
    let new = ControlledServer::new(&connector, "a", &[Revision::LATEST]);
    let mut events = manager.subscribe();
    old.drop_connections();
    let state = wait_for_state(&mut events, "a", "failed").await;
    let why = state.reason().unwrap().to_string();
    assert!(why.contains("no common protocol version"), "{why}");
    assert_eq!(new.opened(), 1);
}
