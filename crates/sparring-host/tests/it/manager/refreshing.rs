//! Changed lists are fetched again, once for many changes; if that fails, the
//! old list stays and is marked as stale.

use std::sync::atomic::Ordering;
use std::time::Duration;

use sparring_host::config::ServerConfig;
use sparring_host::manager::{Connection, Event, Events, Manager};
use sparring_mock::{Reply, ToolMock};
use sparring_peer::Protocol;
use sparring_peer::client::ListKind;
use sparring_wire::Revision;

use super::controlled_server::ControlledServer;
use super::fixture::{TestConnector, advance_time, entry, event, tools, within};

/// A connected server in one revision, controlled by the test.
async fn start_manager(revision: Revision) -> (Manager, Connection, ControlledServer, Events) {
    let connector = TestConnector::default();
    let controlled = ControlledServer::new(&connector, "a", &[revision]);
    let manager = connector.manager([entry("a")]);
    let connection = within(manager.connect("a")).await.unwrap();
    let events = manager.subscribe();
    (manager, connection, controlled, events)
}

const ERAS: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

/// The name of the only tool.
fn tool(connection: &Connection) -> String {
    connection.tools().items[0].name.clone()
}

async fn wait_for_list_change(events: &mut Events) {
    event(events, |event| match event {
        Event::ListChanged { what: ListKind::Tools, .. } => Some(()),
        _ => None,
    })
    .await;
}

#[tokio::test]
async fn a_changed_list_is_fetched_again_in_every_revision() {
    for revision in Revision::ALL {
        let connector = TestConnector::default();
        let mock = connector.mock("a", tools(&["first"]));
        let protocol = Protocol::Only(revision);
        let manager = connector.manager([ServerConfig { protocol, ..entry("a") }]);
        within(manager.connect("a")).await.unwrap();
        let mut events = manager.subscribe();
        mock.register(ToolMock::new("second").reply(Reply::text("x"))).unwrap();
        wait_for_list_change(&mut events).await;
        let names: Vec<_> = manager.tools().iter().map(|it| it.item.name.clone()).collect();
        assert_eq!(names, ["first", "second"], "{revision}");
        mock.remove("first").unwrap();
        wait_for_list_change(&mut events).await;
        assert_eq!(manager.tools().len(), 1, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn many_changes_during_a_refresh_cause_one_more_refresh() {
    for revision in ERAS {
        let (_manager, connection, controlled, _events) = start_manager(revision).await;
        assert_eq!(tool(&connection), "1");
        controlled.handler().gate.send_replace(false);
        controlled.server.tools_changed();
        let mut asked = controlled.handler().listed.subscribe();
        within(asked.wait_for(|listed| *listed == 2)).await.unwrap();
        for _ in 0..500 {
            controlled.server.tools_changed();
        }
        // All notifications have arrived, and there was no second fetch.
        advance_time(Duration::from_secs(1)).await;
        assert_eq!(*controlled.handler().listed.borrow(), 2, "{revision}");
        controlled.handler().gate.send_replace(true);
        advance_time(Duration::from_secs(600)).await;
        assert_eq!(*controlled.handler().listed.borrow(), 3, "{revision}");
        assert_eq!(tool(&connection), "3", "{revision}");
    }
}

#[tokio::test]
async fn a_failed_refresh_keeps_the_old_list_and_reports_the_reason() {
    for revision in ERAS {
        let (manager, connection, controlled, mut events) = start_manager(revision).await;
        controlled.handler().failing.store(true, Ordering::Relaxed);
        controlled.server.tools_changed();
        let why = event(&mut events, |event| match event {
            Event::ListStale { what: ListKind::Tools, why, .. } => Some(why.clone()),
            _ => None,
        })
        .await;
        assert!(why.contains("the list is lost"), "{why}");
        let tools = connection.tools();
        assert_eq!((tool(&connection).as_str(), tools.stale), ("1", Some(why)), "{revision}");
        assert!(manager.is_connected("a"));
        // The next successful fetch updates the list.
        controlled.handler().failing.store(false, Ordering::Relaxed);
        controlled.server.tools_changed();
        wait_for_list_change(&mut events).await;
        assert_eq!((tool(&connection).as_str(), connection.tools().stale), ("3", None));
    }
}

#[tokio::test]
async fn malformed_tools_are_reported_once_and_the_others_are_listed() {
    for revision in ERAS {
        let (_manager, connection, controlled, mut events) = start_manager(revision).await;
        controlled.handler().malformed.store(true, Ordering::Relaxed);
        controlled.server.tools_changed();
        let why = event(&mut events, |event| match event {
            Event::ListMalformed { what: ListKind::Tools, why, .. } => Some(why.clone()),
            _ => None,
        })
        .await;
        assert!(why.contains("tools[0]: duplicate field `name`"), "{why}");
        assert!(why.contains("tools[1]: invalid type: sequence"), "{why}");
        let tools = connection.tools();
        assert_eq!((tools.items.len(), tools.stale, tools.malformed), (1, None, Some(why)));
        assert_eq!(tool(&connection), "2", "{revision}");
        // The next list has the same malformed items, so only the valid tool is
        // new.
        controlled.server.tools_changed();
        let next = event(&mut events, |event| match event {
            Event::ListMalformed { .. } => Some("malformed"),
            Event::ListChanged { .. } => Some("listed"),
            _ => None,
        });
        assert_eq!(next.await, "listed", "{revision}");
        controlled.handler().malformed.store(false, Ordering::Relaxed);
        controlled.server.tools_changed();
        wait_for_list_change(&mut events).await;
        assert_eq!((tool(&connection).as_str(), connection.tools().malformed), ("4", None));
    }
}

#[tokio::test(start_paused = true)]
async fn a_refresh_without_an_answer_ends_at_its_deadline() {
    let (_manager, connection, controlled, mut events) = start_manager(Revision::LATEST).await;
    controlled.handler().gate.send_replace(false);
    controlled.server.tools_changed();
    let why = event(&mut events, |event| match event {
        Event::ListStale { why, .. } => Some(why.clone()),
        _ => None,
    })
    .await;
    assert_eq!(&*why, "no answer to tools/list within 30s");
    assert_eq!(tool(&connection), "1");
}

#[tokio::test]
async fn a_server_whose_list_does_not_end_is_connected_without_it() {
    let connector = TestConnector::default();
    let controlled = ControlledServer::new(&connector, "a", &Revision::ALL);
    controlled.handler().endless.store(true, Ordering::Relaxed);
    let manager = connector.manager([entry("a")]);
    let connection = within(manager.connect("a")).await.unwrap();
    let tools = connection.tools();
    assert!(tools.items.is_empty());
    let why = tools.stale.expect("a reason");
    assert_eq!(&*why, "tools/list returned an endless list: cursor \"again\" repeats");
}
