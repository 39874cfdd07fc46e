//! Subscriptions in both eras, with the same calls.

use std::time::Duration;

use serde_json::json;
use sparring_peer::client::SubscriptionFilter;
use sparring_peer::{Client, LinkKind, MemoryTransport, Server};
use sparring_wire::{Frame, Revision};

use crate::fixture::{TEST_TIMEOUT, TestConnection, TestServer, within};

const QUIET_TIME: Duration = Duration::from_millis(20);

fn everything() -> SubscriptionFilter {
    SubscriptionFilter {
        tools_list_changed: true,
        prompts_list_changed: true,
        resources_list_changed: true,
        uris: vec!["file:///a.txt".to_owned()],
    }
}

#[tokio::test]
async fn a_subscriber_receives_only_matching_changes() {
    for revision in Revision::ALL {
        for kind in [LinkKind::Shared, LinkKind::Streams] {
            let connection = TestConnection::with(
                Client::builder().revision(revision),
                TestServer::default(),
                kind,
            )
            .await;
            let mut one = within(connection.client.subscribe("file:///a.txt")).await.unwrap();
            let mut other = within(connection.client.listen(SubscriptionFilter {
                tools_list_changed: true,
                ..SubscriptionFilter::default()
            }))
            .await
            .unwrap();
            connection.server.resource_updated("file:///b.txt");
            connection.server.resource_updated("file:///a.txt");
            connection.server.tools_changed();
            let updated = one.next(TEST_TIMEOUT).await.unwrap();
            assert_eq!(updated.method(), Some("notifications/resources/updated"), "{revision}");
            assert_eq!(
                updated.params().unwrap().get("uri").unwrap().as_str().unwrap(),
                "file:///a.txt"
            );
            let changed = other.next(TEST_TIMEOUT).await.unwrap();
            assert_eq!(changed.method(), Some("notifications/tools/list_changed"), "{revision}");
            assert!(
                one.next(QUIET_TIME).await.is_err() && other.next(QUIET_TIME).await.is_err(),
                "{revision}"
            );
            assert_eq!(connection.client.transcript().violations(), [], "{revision} {kind:?}");
        }
    }
}

#[tokio::test]
async fn a_closed_subscription_receives_nothing() {
    for revision in Revision::ALL {
        let connection = TestConnection::start(revision).await;
        let subscription = within(connection.client.subscribe("file:///a.txt")).await.unwrap();
        within(subscription.close()).await.unwrap();
        within(connection.client.ping()).await.unwrap();
        connection.server.resource_updated("file:///a.txt");
        within(connection.client.ping()).await.unwrap();
        assert_eq!(
            connection.client.notifications().count("notifications/resources/updated"),
            0,
            "{revision}"
        );
        assert_eq!(connection.client.transcript().violations(), [], "{revision}");
    }
}

#[tokio::test]
async fn the_server_ends_a_modern_subscription_with_a_result() {
    let connection = TestConnection::start(Revision::V2026_07_28).await;
    let mut subscription = within(connection.client.listen(everything())).await.unwrap();
    assert_eq!(*subscription.acknowledged(), everything());
    within(connection.running.stop()).await;
    within(subscription.ended()).await.unwrap();
    assert_eq!(connection.client.transcript().violations(), []);
}

#[tokio::test]
async fn a_server_acknowledges_only_declared_changes() {
    struct Tools;
    impl sparring_peer::Handler for Tools {
        fn capabilities(&self) -> sparring_wire::types::ServerCapabilities {
            sparring_wire::types::ServerCapabilities::none().tools()
        }
    }
    let (here, there) = sparring_peer::memory(LinkKind::Shared);
    let _running = Server::new(Tools).spawn(there);
    let client = within(Client::connect(here)).await.unwrap();
    let subscription = within(client.listen(everything())).await.unwrap();
    let granted = SubscriptionFilter { tools_list_changed: true, ..SubscriptionFilter::default() };
    assert_eq!(*subscription.acknowledged(), granted);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_outlives_the_timeout_of_requests() {
    let connection = TestConnection::start(Revision::V2026_07_28).await;
    let mut subscription = connection.client.subscribe("file:///a.txt").await.unwrap();
    tokio::time::advance(Duration::from_secs(3600)).await;
    connection.server.resource_updated("file:///a.txt");
    subscription.next(TEST_TIMEOUT).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_is_never_acknowledged_times_out() {
    let (transport, link) = MemoryTransport::new();
    let connecting = tokio::spawn(Client::builder().revision(Revision::V2026_07_28).connect(link));
    let discover = transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    transport
        .queue_incoming(crate::core_fixture::discovery(discover.id().unwrap(), &["2026-07-28"]));
    let client = connecting.await.unwrap().unwrap();
    let Err(error) = client.subscribe("file:///a.txt").await else {
        panic!("it was not acknowledged")
    };
    assert_eq!(error.to_string(), "no answer to subscriptions/listen within 30s");
}

#[tokio::test]
async fn every_frame_of_a_modern_subscription_is_tagged_with_its_id() {
    let (transport, link) = MemoryTransport::new();
    let server = Server::new(TestServer::default());
    let _running = server.spawn(link);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"_meta": meta, "notifications": {"toolsListChanged": true}});
    transport.queue_incoming(
        json!({"jsonrpc": "2.0", "id": "sub", "method": "subscriptions/listen", "params": params})
            .to_string(),
    );
    let tagged = |frame: &Frame| {
        let id = frame.params().and_then(|params| {
            params.get_path(&["_meta", "io.modelcontextprotocol/subscriptionId"])
        });
        id.and_then(|id| id.as_str().map(|id| id == "sub")) == Some(true)
    };
    let acknowledged = transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    assert_eq!(acknowledged.method(), Some("notifications/subscriptions/acknowledged"));
    assert!(tagged(&acknowledged));
    server.tools_changed();
    assert!(tagged(&transport.wait_sent(TEST_TIMEOUT).await.unwrap()));
}

#[tokio::test]
async fn a_dropped_subscription_ends_on_the_server_too() {
    for revision in Revision::ALL {
        let connection = TestConnection::start(revision).await;
        drop(within(connection.client.subscribe("file:///a.txt")).await.unwrap());
        within(connection.client.ping()).await.unwrap();
        connection.server.resource_updated("file:///a.txt");
        within(connection.client.ping()).await.unwrap();
        assert_eq!(
            connection.client.notifications().count("notifications/resources/updated"),
            0,
            "{revision}"
        );
    }
}

#[tokio::test]
async fn only_the_acknowledgment_opens_a_subscription() {
    let (transport, link) = MemoryTransport::new();
    let connecting = tokio::spawn(Client::builder().revision(Revision::V2026_07_28).connect(link));
    let discover = transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    transport
        .queue_incoming(crate::core_fixture::discovery(discover.id().unwrap(), &["2026-07-28"]));
    let client = within(connecting).await.unwrap().unwrap();
    let wanted = SubscriptionFilter { tools_list_changed: true, ..SubscriptionFilter::default() };
    let opening = tokio::spawn({
        let (client, wanted) = (client.clone(), wanted.clone());
        async move { client.listen(wanted).await }
    });
    let id = transport.wait_sent(TEST_TIMEOUT).await.unwrap().id().unwrap().to_string();
    let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    transport.queue_incoming(format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{{meta}}}}}"#
    ));
    transport.queue_incoming(format!(r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{{meta},"notifications":{{"toolsListChanged":true}}}}}}"#));
    let subscription = within(opening).await.unwrap().unwrap();
    assert_eq!(*subscription.acknowledged(), wanted);
    let rules: Vec<_> =
        client.transcript().violations().iter().map(|found| found.rule.id()).collect();
    // This server does not declare tools either.
    let expected =
        ["capabilities/undeclared", "subscriptions/invalid", "subscriptions/undeclared-kind"];
    assert_eq!(rules, expected);
}
