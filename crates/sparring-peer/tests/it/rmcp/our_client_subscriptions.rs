//! Our client subscribes on an rmcp server, in each era.

use serde_json::json;
use sparring_peer::client::{Error, Subscription, SubscriptionFilter};
use sparring_wire::{Json, Revision};

use super::our_client_fixture::OurClient;
use super::{TEST_TIMEOUT, assert_clean, legacy, within};

const TAG: [&str; 2] = ["_meta", "io.modelcontextprotocol/subscriptionId"];

fn filter(uris: &[&str]) -> SubscriptionFilter {
    let uris = uris.iter().map(|uri| (*uri).to_owned()).collect();
    SubscriptionFilter {
        tools_list_changed: true,
        prompts_list_changed: true,
        uris,
        ..SubscriptionFilter::default()
    }
}

/// Returns the next notification: its method, and its resource.
async fn next(subscription: &mut Subscription) -> (String, Option<String>) {
    let frame = subscription.next(TEST_TIMEOUT).await.expect("a notification");
    let uri = frame.params().and_then(|params| params.get("uri")).and_then(Json::as_str);
    let uri = uri.map(|uri| uri.into_owned());
    (frame.method().unwrap_or_default().to_owned(), uri)
}

async fn change(ours: &OurClient, what: &str) {
    ours.call("change", json!({"what": what})).await;
}

fn updated(uri: &str) -> (String, Option<String>) {
    ("notifications/resources/updated".to_owned(), Some(uri.to_owned()))
}

fn tools_changed() -> (String, Option<String>) {
    ("notifications/tools/list_changed".to_owned(), None)
}

#[tokio::test]
async fn our_client_subscribes_to_resources_of_a_legacy_rmcp_server() {
    for revision in legacy() {
        let ours = OurClient::in_revision(revision).await;
        let mut subscription = within(ours.client.listen(filter(&["lib://a"]))).await.unwrap();
        for what in ["lib://b", "lib://a", "tools"] {
            change(&ours, what).await;
        }
        assert_eq!(next(&mut subscription).await, updated("lib://a"), "{revision}");
        assert_eq!(next(&mut subscription).await, tools_changed(), "{revision}");
        within(subscription.close()).await.unwrap();
        change(&ours, "lib://a").await;
        let count = ours.client.notifications().count("notifications/resources/updated");
        assert_eq!(count, 1, "{revision}: nothing comes after the end");
        ours.end().await;
    }
}

#[tokio::test]
async fn our_client_listens_to_a_modern_rmcp_server_until_its_normal_end() {
    let ours = OurClient::in_revision(Revision::V2026_07_28).await;
    let mut subscription = within(ours.client.listen(filter(&["lib://a"]))).await.unwrap();
    // The server does not support changes of prompts, and does not acknowledge
    // them.
    let granted = SubscriptionFilter { prompts_list_changed: false, ..filter(&["lib://a"]) };
    assert_eq!(*subscription.acknowledged(), granted);

    for what in ["prompts", "lib://b", "lib://a", "tools"] {
        change(&ours, what).await;
    }
    let listens = ours.client.transcript().entries().into_iter();
    let mut listens = listens.filter(|it| it.frame.method() == Some("subscriptions/listen"));
    let id = listens.next().and_then(|entry| entry.frame.id().cloned()).expect("a listen");
    for expected in ["notifications/resources/updated", "notifications/tools/list_changed"] {
        let frame = subscription.next(TEST_TIMEOUT).await.expect("a notification");
        assert_eq!(frame.method(), Some(expected));
        let tag = frame.params().and_then(|params| params.get_path(&TAG)).expect("a tag");
        assert_eq!(tag.text(), id.to_string());
    }
    change(&ours, "end").await;
    within(subscription.ended()).await.expect("a good end");
    assert!(matches!(subscription.next(TEST_TIMEOUT).await, Err(Error::Closed { .. })));
    ours.end().await;
}

#[tokio::test]
async fn our_client_holds_several_subscriptions_on_one_rmcp_server() {
    let ours = OurClient::in_revision(Revision::V2026_07_28).await;
    let mut tools = within(ours.client.listen(filter(&[]))).await.unwrap();
    let mut one = within(ours.client.subscribe("lib://a")).await.unwrap();
    let mut other = within(ours.client.subscribe("lib://b")).await.unwrap();
    for what in ["lib://b", "tools", "lib://a"] {
        change(&ours, what).await;
    }
    assert_eq!(next(&mut tools).await, tools_changed());
    assert_eq!(next(&mut one).await, updated("lib://a"));
    assert_eq!(next(&mut other).await, updated("lib://b"));
    change(&ours, "end").await;
    for subscription in [&mut tools, &mut one, &mut other] {
        within(subscription.ended()).await.expect("a good end");
        let end = subscription.next(TEST_TIMEOUT).await;
        assert!(matches!(end, Err(Error::Closed { .. })), "the end is an error: {end:?}");
    }
    ours.end().await;
}

#[tokio::test]
async fn our_client_ends_a_subscription_and_the_rmcp_server_sees_it() {
    let ours = OurClient::in_revision(Revision::V2026_07_28).await;
    let subscription = within(ours.client.subscribe("lib://a")).await.unwrap();
    within(subscription.close()).await.unwrap();
    ours.library.log.until("a subscription was cancelled").await;
    change(&ours, "lib://a").await;
    assert_eq!(ours.client.notifications().count("notifications/resources/updated"), 0);
    ours.end().await;
}

#[tokio::test]
async fn our_client_reports_that_an_rmcp_server_cancelled_its_subscription() {
    let ours = OurClient::in_revision(Revision::V2026_07_28).await;
    let mut subscription = within(ours.client.subscribe("lib://a")).await.unwrap();
    change(&ours, "cancel").await;
    let ended = within(subscription.ended()).await;
    let Err(Error::Closed { method, cause }) = ended else { panic!("{ended:?}") };
    assert_eq!((&*method, cause.to_string()), ("subscriptions/listen", "out of memory".to_owned()));
    // rmcp's handler never ends, so the test does not wait for its server.
    within(ours.client.close()).await;
    assert_clean(ours.client.transcript(), "a cancelled subscription");
}
