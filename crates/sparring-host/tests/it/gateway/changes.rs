//! Lists that change are told to all clients, once for what comes together.

use serde_json::json;
use sparring_mock::{Reply, ToolMock};
use sparring_peer::Client;
use sparring_peer::client::{Filter, Subscription};

use super::{ERAS, House, desk, list, names, plain};
use crate::manager::fixture::{PATIENCE, within};
use crate::permissions::rules;
use sparring_host::permissions::{Permissions, Policy};

const CHANGED: &str = "notifications/tools/list_changed";

fn all() -> Filter {
    let yes = true;
    Filter {
        tools_list_changed: yes,
        prompts_list_changed: yes,
        resources_list_changed: yes,
        uris: Vec::new(),
    }
}

#[tokio::test]
async fn a_tool_that_comes_or_goes_is_told_in_both_eras() {
    for inner in ERAS {
        let (world, mock, servers) = desk(inner);
        let house = House::open(&world, &servers).await;
        let old = house.visit(plain(ERAS[0])).await;
        let new = house.visit(plain(ERAS[1])).await;
        let mut both = Vec::new();
        for client in [&old, &new] {
            both.push((client, within(client.listen(all())).await.unwrap()));
        }
        mock.register(ToolMock::new("stamp").reply(Reply::text("stamped"))).unwrap();
        for (client, told) in &mut both {
            changed_until(client, told, |tools| tools.last().unwrap() == "mcp__desk__stamp").await;
            assert_eq!(super::call(client, "mcp__desk__stamp").await, "stamped");
        }
        mock.remove("stamp").unwrap();
        for (client, told) in &mut both {
            let gone = |tools: &[String]| !tools.contains(&"mcp__desk__stamp".to_owned());
            changed_until(client, told, gone).await;
        }
    }
}

/// Waits for a list that fits: clients are told of each one.
async fn changed_until(client: &Client, told: &mut Subscription, fits: impl Fn(&[String]) -> bool) {
    loop {
        let frame = told.next(PATIENCE).await.unwrap();
        let tools = names(&list(client, "tools/list", "tools").await, "name");
        if frame.method() == Some(CHANGED) && fits(&tools) {
            return;
        }
    }
}

#[tokio::test]
async fn many_changes_at_once_are_told_once() {
    let (world, mock, servers) = desk(ERAS[0]);
    let house = House::open(&world, &servers).await;
    let client = house.visit(plain(ERAS[0])).await;
    for number in 0..20 {
        let tool = ToolMock::new(format!("stamp{number}")).reply(Reply::text("stamped"));
        mock.register(tool).unwrap();
    }
    within(async {
        let mut told = 0;
        loop {
            told += 1;
            client.notifications().wait_for(CHANGED, told, PATIENCE).await.unwrap();
            let tools = names(&list(&client, "tools/list", "tools").await, "name");
            if tools.contains(&"mcp__desk__stamp19".to_owned()) {
                assert!(told <= 3, "{told} times");
                break;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_server_that_goes_takes_its_lists_along() {
    let (world, _, servers) = desk(ERAS[0]);
    let house = House::open(&world, &servers).await;
    let client = house.visit(plain(ERAS[1])).await;
    let mut told = within(client.listen(all())).await.unwrap();
    within(house.manager.disconnect("desk")).await.unwrap();
    let mut methods = Vec::new();
    for _ in 0..3 {
        methods.push(told.next(PATIENCE).await.unwrap().method().unwrap().to_owned());
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
    assert_eq!(gone.error_message().unwrap(), "there is no tool 'mcp__desk__echo'");
}

#[tokio::test]
async fn other_rules_are_told_as_another_list() {
    let (world, _, servers) = desk(ERAS[0]);
    let house = House::open(&world, &servers).await;
    let client = house.visit(plain(ERAS[1])).await;
    let mut told = within(client.listen(all())).await.unwrap();
    let policy = Policy { user: rules(&[], &[], &["mcp__desk__echo"]), ..Policy::default() };
    house.registry.set_permissions(Permissions::new(&policy, &servers).0);
    changed_until(&client, &mut told, |tools| tools == ["mcp__desk__echo"]).await;
}
