//! rmcp's client subscribes on our server, in each era.
#![expect(deprecated, reason = "rmcp deprecates what only older revisions have")]

use rmcp::ClientLifecycleMode::Discover;
use rmcp::ClientServiceExt;
use rmcp::model::{
    GetMeta, ServerNotification, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::SubscriptionEnd;
use serde_json::json;
use sparring_peer::{Cause, Handler, LineLink, Server};
use sparring_wire::Revision;
use sparring_wire::types::ServerCapabilities;

use super::their_client_fixture::RmcpClient;
use super::{assert_clean, legacy, version, within};

#[tokio::test]
async fn rmcp_subscribes_to_our_server_in_every_legacy_revision() {
    for revision in legacy() {
        let peer = RmcpClient::in_revision(revision).await;
        let (client, server) = (&peer.client, &peer.server);
        within(client.subscribe(SubscribeRequestParams::new("handler://a"))).await.unwrap();
        server.resource_updated("handler://b");
        server.resource_updated("handler://a");
        peer.log.until("updated handler://a").await;
        within(client.unsubscribe(UnsubscribeRequestParams::new("handler://a"))).await.unwrap();
        server.resource_updated("handler://a");
        server.tools_changed();
        server.prompts_changed();
        server.resources_changed();
        for what in ["tools changed", "prompts changed", "resources changed"] {
            peer.log.until(what).await;
        }
        assert_eq!(peer.sent_count("notifications/resources/updated"), 1, "{revision}");
        peer.end().await;
    }
}

#[tokio::test]
async fn rmcp_listens_to_our_server_until_it_stops() {
    let peer = RmcpClient::in_revision(Revision::V2026_07_28).await;
    let filter = || SubscriptionFilter::builder().resource_subscription("handler://a");
    let mut tools =
        within(peer.client.listen(filter().tools_list_changed().build())).await.unwrap();
    let mut other = within(peer.client.listen(filter().build())).await.unwrap();
    assert_eq!(*tools.acknowledged(), filter().tools_list_changed().build());

    peer.server.resource_updated("handler://b");
    peer.server.prompts_changed();
    peer.server.tools_changed();
    peer.server.resource_updated("handler://a");
    let changed = within(tools.next()).await.unwrap().expect("a notification");
    assert!(matches!(changed, ServerNotification::ToolListChangedNotification(_)), "{changed:?}");
    assert_eq!(changed.get_meta().subscription_id().as_ref(), Some(tools.id()));
    for subscription in [&mut tools, &mut other] {
        let updated = within(subscription.next()).await.unwrap().expect("a notification");
        let ServerNotification::ResourceUpdatedNotification(update) = &updated else {
            panic!("{updated:?}")
        };
        assert_eq!(update.params.uri, "handler://a");
        assert_eq!(updated.get_meta().subscription_id().as_ref(), Some(subscription.id()));
    }

    assert_eq!(within(peer.running.stop()).await, Cause::ClosedLocally);
    for subscription in [&mut tools, &mut other] {
        assert!(within(subscription.next()).await.unwrap().is_none());
        let Some(SubscriptionEnd::Graceful(result)) = subscription.end() else {
            panic!("{:?}", subscription.end())
        };
        assert_eq!(result.meta.subscription_id().as_ref(), Some(subscription.id()));
    }
    within(peer.client.waiting()).await.expect("rmcp's client ends with the connection");
    assert_clean(&peer.transcript, "2026-07-28");
}

#[tokio::test]
async fn rmcp_cancels_a_subscription_on_our_server() {
    let peer = RmcpClient::in_revision(Revision::V2026_07_28).await;
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut subscription = within(peer.client.listen(filter)).await.unwrap();
    within(subscription.cancel()).await.unwrap();
    // The server has read the cancellation once it has answered a later request.
    peer.call("echo", json!({})).await.unwrap();
    peer.server.tools_changed();
    peer.call("echo", json!({})).await.unwrap();
    assert_eq!(peer.sent_count("notifications/tools/list_changed"), 0);
    peer.end().await;
}

/// A server that reports changes of its tools only.
struct ToolsOnly;

impl Handler for ToolsOnly {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools().with("resources", json!({"subscribe": false}))
    }
}

#[tokio::test]
async fn our_server_grants_rmcp_only_supported_changes() {
    let (here, there) = tokio::io::duplex(64 * 1024);
    let server = Server::new(ToolsOnly);
    let running = server.spawn(LineLink::from_stream(there));
    let lifecycle = Discover { preferred_versions: vec![version(Revision::V2026_07_28)] };
    let client = within(().serve_with_lifecycle(here, lifecycle)).await.unwrap();
    let all = SubscriptionFilter::builder()
        .tools_list_changed()
        .prompts_list_changed()
        .resources_list_changed()
        .resource_subscription("handler://a")
        .build();
    let mut subscription = within(client.listen(all)).await.unwrap();
    let granted = SubscriptionFilter::builder().tools_list_changed().build();
    assert_eq!(*subscription.acknowledged(), granted);
    server.prompts_changed();
    server.resource_updated("handler://a");
    server.tools_changed();
    // rmcp reports an error if a change arrives that was not granted.
    let first = within(subscription.next()).await.unwrap().expect("a notification");
    assert!(matches!(first, ServerNotification::ToolListChangedNotification(_)), "{first:?}");
    within(running.stop()).await;
}
