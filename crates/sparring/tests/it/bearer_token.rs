//! Bearer tokens of a client over HTTP.

use serde_json::json;
use sparring::{Client, HttpTarget, MockServer};

const SCRIPT: &str = "
auth: {bearer: hush}
tools: [{name: greet, input: {name: string}, text: \"hello ${args.name}\"}]
";

#[tokio::test]
async fn a_server_that_requires_a_bearer_token_accepts_it() {
    let mock = MockServer::from_yaml(SCRIPT, ".").unwrap();
    let (_serving, urls) = mock.listen_locally().await.unwrap();

    let refused = Client::connect(HttpTarget::new(&urls.mcp)).await.unwrap_err().to_string();
    assert!(refused.contains("credentials required"), "{refused}");
    let wrong = Client::connect(HttpTarget::new(&urls.mcp).bearer("tush")).await.unwrap_err();
    assert!(!wrong.to_string().contains("tush"), "{wrong}");

    let client = Client::connect(HttpTarget::new(&urls.mcp).bearer("hush")).await.unwrap();
    client.call_tool("greet", json!({"name": "Ada"})).await.unwrap().assert_text("hello Ada");
    mock.expect_called("greet").with(json!({"name": "Ada"})).times(1).verify();
}
