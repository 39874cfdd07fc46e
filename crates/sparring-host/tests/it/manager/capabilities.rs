//! Lists that a server does not declare are empty and not requested.

use std::sync::Arc;

use sparring_host::manager::{Connection, Manager};
use sparring_mock::{MockBuilder, MockServer, PromptMock, Reply, ResourceMock};

use super::fixture::{TestConnector, entry, tools, within};

/// Connects to a mock, whose journal contains the requests.
async fn connect_mock(mock: MockBuilder) -> (Manager, Connection, Arc<MockServer>) {
    let connector = TestConnector::default();
    let mock = connector.mock("a", mock);
    let manager = connector.manager([entry("a")]);
    let connection = within(manager.connect("a")).await.unwrap();
    (manager, connection, mock)
}

fn list_requests(mock: &MockServer) -> Vec<String> {
    let received = mock.received();
    let lists = received.iter().map(|it| it.method().to_string());
    let mut lists: Vec<_> = lists.filter(|method| method.ends_with("/list")).collect();
    lists.sort();
    lists
}

fn everything_but_tools() -> MockBuilder {
    MockServer::builder()
        .resource(ResourceMock::new("x:1").reply(Reply::text("x")))
        .prompt(PromptMock::new("p").reply(Reply::text("hello")))
}

#[tokio::test]
async fn a_server_without_tools_has_none_and_is_not_asked_for_them() {
    let (manager, connection, mock) = connect_mock(everything_but_tools()).await;
    assert!(connection.tools().items.is_empty() && connection.tools().stale.is_none());
    assert!(manager.tools().is_empty());
    assert_eq!(
        list_requests(&mock),
        ["prompts/list", "resources/list", "resources/templates/list"]
    );
}

#[tokio::test]
async fn a_server_without_resources_has_none_and_is_not_asked_for_them() {
    let prompt = PromptMock::new("p").reply(Reply::text("hello"));
    let (manager, connection, mock) = connect_mock(tools(&["t"]).prompt(prompt)).await;
    assert!(connection.resources().items.is_empty() && connection.resources().stale.is_none());
    assert!(manager.resources().is_empty() && manager.templates().is_empty());
    assert_eq!(list_requests(&mock), ["prompts/list", "tools/list"]);
}

#[tokio::test]
async fn a_server_without_prompts_has_none_and_is_not_asked_for_them() {
    let (manager, connection, mock) = connect_mock(tools(&["t"])).await;
    assert!(connection.prompts().items.is_empty() && connection.prompts().stale.is_none());
    assert!(manager.prompts().is_empty());
    assert_eq!(list_requests(&mock), ["tools/list"]);
}
