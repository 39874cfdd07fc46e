//! The timeout of a builder, and its effect on calls.

use std::time::Duration;

use serde_json::json;
use sparring::{ChildTarget, Client, MockServer, Reason, client};

const SCRIPT: &str = "
tools:
  - {name: silent, fault: {silent: true}}
  - {name: slow, delay: 5s, text: late}
  - {name: greet, text: hello}
";

/// Answers the handshake and no other request.
const SERVER: &str = r#"read hello
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}'
while read line; do :; done
"#;

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_builder_ends_a_call() {
    let mock = MockServer::from_yaml(SCRIPT, ".").unwrap();
    let builder = Client::builder().timeout(Duration::from_secs(2));
    let client = builder.in_memory(&mock).await.unwrap();
    for tool in ["silent", "slow"] {
        let began = tokio::time::Instant::now();
        let error = client.call_tool(tool, json!({})).await.unwrap_err();
        assert_eq!(began.elapsed().as_secs(), 2, "{tool}");
        assert!(matches!(error.reason(), Reason::Client(client::Error::Timeout { .. })), "{error}");
        let message = error.to_string();
        assert!(message.starts_with("no answer to tools/call within 2s\n"), "{message}");
    }
    client.call_tool("greet", json!({})).await.unwrap().assert_text("hello");
    // A longer one suffices, and a call can have its own.
    let patient =
        Client::builder().timeout(Duration::from_secs(20)).in_memory(&mock).await.unwrap();
    patient.call_tool("slow", json!({})).await.unwrap().assert_text("late");
    let slow = client.call_tool("slow", json!({})).timeout(Duration::from_secs(20));
    slow.await.unwrap().assert_text("late");
}

#[tokio::test]
async fn the_timeout_of_a_builder_ends_a_call_of_a_command() {
    let server = ChildTarget::new("sh").args(["-c", SERVER]);
    let builder = Client::builder().revision(sparring::Revision::V2025_11_25);
    let client = builder.timeout(Duration::from_millis(500)).connect(server).await.unwrap();
    let error = client.call_tool("greet", json!({})).await.unwrap_err().to_string();
    assert!(error.starts_with("no answer to tools/call within 500ms\n"), "{error}");
}
