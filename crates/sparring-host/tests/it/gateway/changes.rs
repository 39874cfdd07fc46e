//! Changed lists are reported to all clients, once for changes that come
//! together.

use serde_json::json;
use sparring_mock::{Reply, ToolMock};
use sparring_peer::Client;
use sparring_peer::client::{Subscription, SubscriptionFilter};

use super::{ERAS, GatewayFixture, list, names, plain, start_desk};
use crate::manager::fixture::{TEST_TIMEOUT, within};
use crate::permissions::rules;
use sparring_host::permissions::{Permissions, Policy};

const CHANGED: &str = "notifications/tools/list_changed";

fn all_notifications() -> SubscriptionFilter {
    let yes = true;
    SubscriptionFilter {
        tools_list_changed: yes,
        prompts_list_changed: yes,
        resources_list_changed: yes,
        uris: Vec::new(),
    }
}

#[tokio::test]
async fn added_and_removed_tools_are_notified_in_both_eras() {
    for inner in ERAS {
        let (connector, mock, servers) = start_desk(inner);
        let fixture = GatewayFixture::open(&connector, &servers).await;
        let old = fixture.connect(plain(ERAS[0])).await;
        let new = fixture.connect(plain(ERAS[1])).await;
        let mut both = Vec::new();
        for client in [&old, &new] {
            list(client, "tools/list", "tools").await;
            both.push((client, within(client.listen(all_notifications())).await.unwrap()));
        }
        mock.register(ToolMock::new("stamp").reply(Reply::text("stamped"))).unwrap();
        for (client, message) in &mut both {
            wait_for_list(client, message, |tools| tools.last().unwrap() == "mcp__desk__stamp")
                .await;
            assert_eq!(super::call(client, "mcp__desk__stamp").await, "stamped");
        }
        mock.remove("stamp").unwrap();
        for (client, message) in &mut both {
            let gone = |tools: &[String]| !tools.contains(&"mcp__desk__stamp".to_owned());
            wait_for_list(client, message, gone).await;
        }
    }
}

/// Waits for a matching list; clients are notified of each one.
async fn wait_for_list(
    client: &Client,
    message: &mut Subscription,
    fits: impl Fn(&[String]) -> bool,
) {
    loop {
        let frame = message.next(TEST_TIMEOUT).await.unwrap();
        let tools = names(&list(client, "tools/list", "tools").await, "name");
        if frame.method() == Some(CHANGED) && fits(&tools) {
            return;
        }
    }
}

#[tokio::test]
async fn changes_at_the_same_time_are_notified_once() {
    let (connector, mock, servers) = start_desk(ERAS[0]);
    let fixture = GatewayFixture::open(&connector, &servers).await;
    let client = fixture.connect(plain(ERAS[0])).await;
    list(&client, "tools/list", "tools").await;
    for number in 0..20 {
        let tool = ToolMock::new(format!("stamp{number}")).reply(Reply::text("stamped"));
        mock.register(tool).unwrap();
    }
    within(async {
        let mut message = 0;
        loop {
            message += 1;
            client.notifications().wait_for(CHANGED, message, TEST_TIMEOUT).await.unwrap();
            let tools = names(&list(&client, "tools/list", "tools").await, "name");
            if tools.contains(&"mcp__desk__stamp19".to_owned()) {
                assert!(message <= 3, "{message} times");
                break;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn the_lists_of_a_disconnected_server_disappear() {
    let (connector, _, servers) = start_desk(ERAS[0]);
    let fixture = GatewayFixture::open(&connector, &servers).await;
    let client = fixture.connect(plain(ERAS[1])).await;
    let mut message = within(client.listen(all_notifications())).await.unwrap();
    within(fixture.manager.disconnect("desk")).await.unwrap();
    let mut methods = Vec::new();
    for _ in 0..3 {
        methods.push(message.next(TEST_TIMEOUT).await.unwrap().method().unwrap().to_owned());
    }
    methods.sort();
    let expected = ["prompts", "resources", "tools"];
    assert_eq!(methods, expected.map(|it| format!("notifications/{it}/list_changed")));
    for (method, field) in
        [("tools/list", "tools"), ("resources/list", "resources"), ("prompts/list", "prompts")]
    {
        assert!(list(&client, method, field).await.is_empty(), "{method}");
    }
    let gone = within(client.call_tool("mcp__desk__echo", json!({})).into_future()).await.unwrap();
    assert_eq!(gone.error_message().unwrap(), "no tool named 'mcp__desk__echo'");
}

#[tokio::test]
async fn changed_rules_are_notified_as_a_changed_list() {
    let (connector, _, servers) = start_desk(ERAS[0]);
    let fixture = GatewayFixture::open(&connector, &servers).await;
    let client = fixture.connect(plain(ERAS[1])).await;
    let mut message = within(client.listen(all_notifications())).await.unwrap();
    let policy = Policy { user: rules(&[], &[], &["mcp__desk__echo"]), ..Policy::default() };
    fixture.registry.set_permissions(Permissions::new(&policy, &servers).0);
    wait_for_list(&client, &mut message, |tools| tools == ["mcp__desk__echo"]).await;
}

#[tokio::test]
async fn a_client_with_a_handshake_is_notified_only_of_a_list_that_it_has_read_and_that_changed() {
    let (connector, mock, servers) = start_desk(ERAS[0]);
    let fixture = GatewayFixture::open(&connector, &servers).await;
    let (unread, read) =
        (fixture.connect(plain(ERAS[0])).await, fixture.connect(plain(ERAS[0])).await);
    for (method, field) in
        [("tools/list", "tools"), ("resources/list", "resources"), ("prompts/list", "prompts")]
    {
        list(&read, method, field).await;
    }
    mock.register(ToolMock::new("stamp").reply(Reply::text("stamped"))).unwrap();
    read.notifications().wait_for(CHANGED, 1, TEST_TIMEOUT).await.unwrap();
    // Notifications are sent in order, so this one would follow others.
    mock.register(ToolMock::new("seal").reply(Reply::text("sealed"))).unwrap();
    list(&read, "tools/list", "tools").await;
    list(&unread, "tools/list", "tools").await;
    mock.remove("seal").unwrap();
    mock.remove("stamp").unwrap();
    unread.notifications().wait_for(CHANGED, 1, TEST_TIMEOUT).await.unwrap();
    read.notifications().wait_for(CHANGED, 2, TEST_TIMEOUT).await.unwrap();
    for client in [&unread, &read] {
        for other in ["resources", "prompts"] {
            let method = format!("notifications/{other}/list_changed");
            assert!(client.notifications().by_name(&method).is_empty(), "{method}");
        }
    }
    assert_eq!(unread.notifications().by_name(CHANGED).len(), 1, "it had read no list before");
}
