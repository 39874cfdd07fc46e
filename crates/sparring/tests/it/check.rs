//! Checks servers in this process and over HTTP.

use sparring::check::Status;
use sparring::server::{Context, HandlerResult};
use sparring::types::{CallToolResult, ServerCapabilities};
use sparring::{Handler, HttpTarget, Json, MockServer, Reason, Revision, Server};

/// A handler whose list of tools breaks the schema of tools.
#[derive(Clone)]
struct Nameless;

impl Handler for Nameless {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(serde_json::json!({"tools": [{"inputSchema": {"type": "object"}}]}).into())
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, _: &Context) -> HandlerResult {
        Ok(CallToolResult::text("hello").into())
    }
}

fn mock() -> MockServer {
    let tool = "tools: [{name: greet, description: Greets., text: hello}]";
    MockServer::from_yaml(tool, ".").unwrap()
}

#[tokio::test]
async fn a_correct_server_is_clean_however_it_is_given() {
    sparring::check(mock()).only("wire/").strict().await.unwrap().assert_clean();
    sparring::check(mock).only("wire/").strict().await.unwrap().assert_clean();
    let mock = mock();
    let (_serving, urls) = mock.listen_locally().await.unwrap();
    let verdicts = sparring::check(HttpTarget::new(urls.mcp)).only("wire/").strict().await.unwrap();
    verdicts.assert_clean();
    assert!(verdicts.iter().any(|verdict| verdict.status() == Status::Passed));
}

#[tokio::test]
async fn an_sdk_service_is_checked() {
    #[derive(Clone)]
    struct Silent;
    impl rmcp::ServerHandler for Silent {}
    let verdicts = sparring::check(|| Silent).only("wire/not-json").await.unwrap();
    verdicts.assert_clean();
}

#[tokio::test]
async fn the_assertion_shows_the_broken_rule_with_its_frames_and_the_change() {
    let check = |revision| sparring::check(Nameless).only("schema/").revisions([revision]);
    let verdicts = check(Revision::V2025_11_25).await.unwrap();
    let problems = verdicts.problems();
    assert_eq!(problems[0].status, Status::Failed, "{problems:#?}");
    let shown = std::panic::catch_unwind(|| verdicts.assert_clean()).unwrap_err();
    let shown = shown.downcast_ref::<String>().unwrap();
    assert!(shown.starts_with("the server broke "), "{shown}");
    assert!(shown.contains(problems[0].rule.id()), "{shown}");
    assert!(shown.contains("\n    <- {"), "{shown}");
    assert!(shown.contains("\n  change: "), "{shown}");
    let server = sparring::check(Server::new(Nameless)).only("schema/").await.unwrap();
    assert!(!server.problems().is_empty());
}

#[tokio::test]
async fn an_unknown_rule_is_an_error() {
    let error = sparring::check(mock()).only("wire/nope").await.unwrap_err();
    assert!(matches!(error.reason(), Reason::NotChecked(_)), "{error}");
    assert!(error.to_string().contains("unknown rule `wire/nope`"), "{error}");
}
