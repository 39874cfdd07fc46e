//! The registry in sync with a manager: in memory, over HTTP and over stdio.

use std::net::SocketAddr;

use serde_json::json;
use sparring_host::config::ServerConfig;
use sparring_host::manager::Manager;
use sparring_host::permissions::{PermissionGate, PermissionGateOptions, Permissions, Policy};
use sparring_host::registry::{Event, Registry};
use sparring_mock::{Reply, ToolMock};
use sparring_transport::Target;
use sparring_transport::http::HttpTarget;
use sparring_wire::RawJson;

use super::names;
use crate::manager::children::example_server;
use crate::manager::fixture::{TestConnector, entry, server_config, tools, within};
use crate::permissions::rules;

/// A registry with all tools of these servers allowed.
fn registry(servers: &[ServerConfig]) -> Registry {
    Registry::new(PermissionGate::new(
        permissions_for_all(servers),
        PermissionGateOptions::default(),
    ))
}

fn permissions_for_all(servers: &[ServerConfig]) -> Permissions {
    let all: Vec<String> = servers.iter().map(|it| format!("mcp__{}", it.name)).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let policy = Policy { user: rules(&[], &[], &all), ..Policy::default() };
    Permissions::new(&policy, servers).0
}

async fn call(registry: &Registry, manager: &Manager, name: &str) -> Result<String, String> {
    let arguments = RawJson::from(json!({"message": "hi"}));
    let called = within(registry.execute(manager, name, arguments)).await;
    called.map(|answer| answer.content()).map_err(|error| error.to_string())
}

#[tokio::test]
async fn tools_over_memory_http_and_stdio_are_registered_together() {
    let over_http = tools(&["fetch"]).build().unwrap();
    let serving = over_http.listen(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let url = over_http.urls(serving.address().unwrap()).mcp;
    let servers = [
        server_config("child", example_server("child")),
        server_config("web", Target::Http(HttpTarget::new(url))),
    ];
    let manager = Manager::new(servers.clone());
    for (name, outcome) in within(manager.connect_all()).await {
        outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let registry = registry(&servers);
    registry.sync(&manager);
    let names = names(&registry);
    assert_eq!(names.last().map(String::as_str), Some("mcp__web__fetch"));
    assert!(names.contains(&"mcp__child__echo".to_owned()), "{names:?}");
    assert_eq!(call(&registry, &manager, "mcp__web__fetch").await.as_deref(), Ok("fetch"));
    let echoed = call(&registry, &manager, "mcp__child__echo").await;
    assert_eq!(echoed.as_deref(), Ok(r#"{"message":"hi"}"#));
    assert_eq!(over_http.received_for("fetch").len(), 1);
    let message = call(&registry, &manager, "mcp__child__crash").await.unwrap_err();
    assert!(message.starts_with("server `child`: ") && message.contains("last words"), "{message}");
    assert!(within(manager.shut_down(std::time::Duration::from_secs(20))).await);
}

#[tokio::test]
async fn the_registry_follows_the_tools_of_servers() {
    let connector = TestConnector::default();
    let mock = connector.mock("fs", tools(&["read"]));
    connector.mock("web", tools(&["fetch"]));
    let servers = [entry("fs"), entry("web")];
    let manager = connector.manager(servers.clone());
    let registry = registry(&servers);
    let mut events = registry.subscribe();
    let followed = registry.follow_manager(&manager);
    let driven = async {
        let mut shown = async |expected: &[&str]| {
            while names(&registry) != expected {
                let event = within(events.next()).await;
                assert!(matches!(event, Some(Event::Tools { .. })), "{event:?}");
            }
        };
        within(manager.connect_all()).await;
        shown(&["mcp__fs__read", "mcp__web__fetch"]).await;
        mock.register(ToolMock::new("write").reply(Reply::text("written"))).unwrap();
        shown(&["mcp__fs__read", "mcp__fs__write", "mcp__web__fetch"]).await;
        assert_eq!(call(&registry, &manager, "mcp__fs__write").await.as_deref(), Ok("written"));
        manager.disconnect("web").await.unwrap();
        shown(&["mcp__fs__read", "mcp__fs__write"]).await;
        mock.remove("read").unwrap();
        shown(&["mcp__fs__write"]).await;
        manager.reload([]).await.unwrap();
        shown(&[]).await;
    };
    tokio::select! {
        () = driven => {}
        () = followed => panic!("the manager is there"),
    }
}

#[tokio::test]
async fn a_server_that_is_not_connected_is_not_called() {
    let connector = TestConnector::default();
    connector.mock("fs", tools(&["read"]));
    let manager = connector.manager([entry("fs")]);
    let registry = registry(&[entry("fs")]);
    registry.register("fs", super::tools(&["read"]));
    assert_eq!(
        call(&registry, &manager, "mcp__fs__read").await,
        Err("server `fs` is not connected: it is idle".to_owned())
    );
    registry.register("gone", super::tools(&["read"]));
    registry.set_permissions(permissions_for_all(&[entry("fs"), entry("gone")]));
    assert_eq!(
        call(&registry, &manager, "mcp__gone__read").await,
        Err("server `gone` is not connected: it is not configured".to_owned())
    );
}

/// A permission for one program does not apply to another with its name.
#[tokio::test]
async fn a_server_that_was_replaced_is_not_called_by_the_old_rules() {
    let connector = TestConnector::default();
    let [old, new] = ["old", "new"].map(|program| connector.mock(program, tools(&["rm"])));
    let at = |program: &str| ServerConfig { name: "fs".to_owned(), ..entry(program) };
    let manager = connector.manager([at("old")]);
    within(manager.connect_all()).await;
    let registry = registry(&[at("old")]);
    registry.sync(&manager);
    assert_eq!(call(&registry, &manager, "mcp__fs__rm").await.as_deref(), Ok("rm"));
    within(manager.reload([at("new")])).await.unwrap();
    registry.sync(&manager);
    assert_eq!(
        call(&registry, &manager, "mcp__fs__rm").await,
        Err("server `fs` was replaced after the call was permitted".to_owned())
    );
    registry.set_permissions(permissions_for_all(&[at("new")]));
    assert_eq!(call(&registry, &manager, "mcp__fs__rm").await.as_deref(), Ok("rm"));
    for mock in [old, new] {
        assert_eq!(mock.received_for("rm").len(), 1);
    }
}
