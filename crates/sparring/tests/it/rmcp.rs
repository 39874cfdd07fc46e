//! Services of the official SDK in memory.

use rmcp::ServiceExt as _;
use serde_json::json;
use sparring::{Client, Protocol, Revision};

use crate::greeter::rmcp_greeter::Greeter;

#[tokio::test]
async fn an_rmcp_service_is_tested_in_memory_in_every_revision() {
    for revision in Revision::ALL {
        let client = Client::builder().revision(revision).in_memory(Greeter).await.unwrap();
        assert_eq!(client.revision(), Some(revision));
        client.list_tools().await.unwrap().find_tool("greet");
        let response = client.call_tool("greet", json!({"name": "Ada"})).await.unwrap();
        assert_eq!(response.content(), "hello Ada");
        let refused = client.call_tool("greet", json!({})).await.unwrap();
        assert_eq!(refused.error_code(), Some(-32602));
        assert_eq!(client.transcript().violations(), []);
    }
}

#[tokio::test]
async fn a_boxed_rmcp_service_is_tested_in_memory() {
    let client = Client::in_memory(Greeter.into_dyn()).await.unwrap();
    assert_eq!(client.target(), "an rmcp service");
    client.list_tools().await.unwrap().find_tool("greet");
}

#[tokio::test]
async fn an_error_has_the_reason_why_an_rmcp_service_ended() {
    let raw = Client::builder().protocol(Protocol::Raw);
    let client = raw.in_memory(Greeter).await.unwrap();
    // The SDK ends a service whose first message is not a request.
    client.send_bytes(*br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let error = client.request("tools/list", None).await.unwrap_err().to_string();
    let why = "the rmcp service ended: expect initialized request";
    assert!(error.contains(why) && error.contains("target: an rmcp service"), "{error}");
}
