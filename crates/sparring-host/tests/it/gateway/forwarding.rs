//! Forwarded calls: results and errors, progress, cancellation, metadata.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use sparring_host::config::{Reconnect, ServerConfig};
use sparring_host::manager::{Connection, Manager};
use sparring_peer::client::SubscriptionFilter;

use super::{ERAS, GatewayFixture, list, names, plain, start_desk, until};
use crate::manager::children::example_server;
use crate::manager::fixture::{TEST_TIMEOUT, server_config, within};

/// Every pair of an outer and an inner era.
fn pairs() -> impl Iterator<Item = (sparring_wire::Revision, sparring_wire::Revision)> {
    ERAS.into_iter().flat_map(|outer| ERAS.map(|inner| (outer, inner)))
}

#[tokio::test]
async fn results_and_errors_are_forwarded_unchanged() {
    for (outer, inner) in pairs() {
        let (connector, _, servers) = start_desk(inner);
        let fixture = GatewayFixture::open(&connector, &servers).await;
        let client = fixture.connect(plain(outer)).await;
        let arguments = json!({"message": "a\n😀"});
        let answer = client.call_tool("mcp__desk__echo", arguments);
        assert_eq!(within(answer.into_future()).await.unwrap().content(), "a\n😀");
        let failed = client.call_tool("mcp__desk__broken", json!({}));
        let failed = within(failed.into_future()).await.unwrap();
        assert!(failed.is_error() && failed.content() == "out of ink");
        let refused = client.call_tool("mcp__desk__fail", json!({}));
        let error = within(refused.into_future()).await.unwrap().error().unwrap();
        assert_eq!((error.code, &*error.message), (-31000, "no paper"));
        assert_eq!(error.data.unwrap(), json!({"left": 0}));
        assert_eq!(client.transcript().violations(), [], "{outer} to {inner}");
    }
}

#[tokio::test]
async fn progress_is_forwarded_before_the_response() {
    for (outer, inner) in pairs() {
        let (connector, _, servers) = start_desk(inner);
        let fixture = GatewayFixture::open(&connector, &servers).await;
        let client = fixture.connect(plain(outer)).await;
        let received = Arc::new(Mutex::new(Vec::new()));
        let recorder = Arc::clone(&received);
        let call = client.call_tool("mcp__desk__count", json!({}));
        let call = call.on_progress(move |it| {
            recorder.lock().unwrap().push((it.progress, it.total, it.message));
        });
        assert_eq!(within(call.into_future()).await.unwrap().content(), "done");
        let expected = vec![(1.0, Some(2.0), Some("one".to_owned())), (2.0, Some(2.0), None)];
        assert_eq!(*received.lock().unwrap(), expected, "{outer} to {inner}");
    }
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_its_server() {
    for (outer, inner) in pairs() {
        let (connector, mock, servers) = start_desk(inner);
        let fixture = GatewayFixture::open(&connector, &servers).await;
        let client = fixture.connect(plain(outer)).await;
        let call = client.call_tool("mcp__desk__slow", json!({})).start();
        until(|| mock.received_for("slow").len() == 1).await;
        call.cancel(Some("enough"));
        assert!(within(call).await.is_err());
        let connection = fixture.manager.get("desk").unwrap();
        until(|| has_sent(&connection, "notifications/cancelled")).await;
    }
}

#[tokio::test]
async fn a_disconnected_client_leaves_no_call_behind() {
    let (connector, mock, servers) = start_desk(ERAS[0]);
    let fixture = GatewayFixture::open(&connector, &servers).await;
    let client = fixture.connect(plain(ERAS[0])).await;
    let call = client.call_tool("mcp__desk__slow", json!({})).start();
    until(|| mock.received_for("slow").len() == 1).await;
    call.detach();
    // A server stops serving a dropped client.
    fixture.sessions.lock().unwrap().clear();
    let connection = fixture.manager.get("desk").unwrap();
    until(|| has_sent(&connection, "notifications/cancelled")).await;
}

#[tokio::test]
async fn metadata_of_callers_is_forwarded_and_metadata_of_one_hop_is_not() {
    let (connector, mock, servers) = start_desk(ERAS[0]);
    let fixture = GatewayFixture::open(&connector, &servers).await;
    let client = fixture.connect(plain(ERAS[1])).await;
    let params = json!({
        "name": "mcp__desk__echo",
        "arguments": {"message": "hi"},
        "_meta": {"traceparent": "00-1", "progressToken": "mine"},
    });
    within(client.request("tools/call", Some(params.into())).into_future()).await.unwrap();
    let received = mock.received_for("echo").remove(0).to_line();
    assert!(received.contains("traceparent"), "{received}");
    assert!(!received.contains("clientInfo") && !received.contains("mine"), "{received}");
}

#[tokio::test]
async fn a_crashed_server_is_reported_and_reconnected_and_others_continue() {
    let reconnect = Reconnect { delay: Duration::from_millis(10), ..Reconnect::default() };
    let servers = ["child", "other"]
        .map(|name| ServerConfig { reconnect, ..server_config(name, example_server(name)) });
    let fixture = GatewayFixture::with_manager(
        Manager::builder(),
        &servers,
        &[],
        &["mcp__child", "mcp__other"],
    )
    .await;
    for era in ERAS {
        let client = fixture.connect(plain(era)).await;
        let filter =
            SubscriptionFilter { tools_list_changed: true, ..SubscriptionFilter::default() };
        let mut changes = within(client.listen(filter)).await.unwrap();
        let waits = client.call_tool("mcp__child__hang", json!({})).start();
        let crash = client.call_tool("mcp__child__crash", json!({}));
        let error = within(crash.into_future()).await.unwrap().error().unwrap();
        assert!(error.message.starts_with("server `child`: "), "{}", error.message);
        assert!(error.message.contains("these are my last words"), "{}", error.message);
        let data = json!({"server": "child", "kind": "closed"});
        assert_eq!(error.data.unwrap(), data);
        assert!(within(waits).await.unwrap().error().is_some());
        assert_eq!(super::call(&client, "mcp__other__echo").await, "{}");
        // It may be gone or already reconnected; in the end it is connected.
        loop {
            // A client with a handshake is not notified if the list is the same again.
            if era.is_modern() {
                changes.next(TEST_TIMEOUT).await.unwrap();
            }
            let tools = list(&client, "tools/list", "tools").await;
            if names(&tools, "name").contains(&"mcp__child__echo".to_owned()) {
                break;
            }
        }
        assert_eq!(super::call(&client, "mcp__child__echo").await, "{}");
    }
    assert!(within(fixture.manager.shut_down(Duration::from_secs(20))).await);
}

/// Returns true if a message of that method was sent on a connection.
fn has_sent(connection: &Connection, method: &str) -> bool {
    let client = connection.client();
    client.transcript().entries().iter().any(|entry| entry.frame.method() == Some(method))
}
