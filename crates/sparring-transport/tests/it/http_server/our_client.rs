//! Our HTTP client against our HTTP server, in every revision, with a broken stream.

use std::time::Duration;

use serde_json::json;
use sparring_peer::client::{Error, ServerRequest};
use sparring_peer::{Cause, Client};
use sparring_transport::http::{HttpLink, HttpTarget, HttpTransport};
use sparring_wire::Revision;

use super::fixture::TestServer;
use super::requests::within;

async fn connect(
    test_server: &TestServer,
    revision: Option<Revision>,
    transport: HttpTransport,
) -> Client {
    let path = if transport == HttpTransport::Sse { "/sse" } else { "/mcp" };
    let url = format!("http://{}{path}", test_server.serving.address().unwrap());
    let link = HttpLink::new(&HttpTarget { transport, ..HttpTarget::new(url) }).unwrap();
    let builder = Client::builder().answer(ServerRequest::Elicitation, |_| async {
        Ok(json!({"action": "accept", "content": {"name": "ann"}}))
    });
    let builder = match revision {
        Some(revision) => builder.revision(revision),
        None => builder,
    };
    within(builder.connect(link)).await.unwrap()
}

async fn check_session(test_server: &TestServer, client: Client, revision: Revision) {
    assert_eq!(client.revision(), Some(revision));
    let tools = within(client.list_tools()).await.unwrap();
    assert_eq!(tools.len(), 2, "{revision}");
    let text = async |tool: &str| {
        let call = client.call_tool(tool, json!({"message": "hi"})).into_future();
        within(call).await.unwrap().content()
    };
    assert_eq!(text("echo").await, "hi", "{revision}");
    assert_eq!(text("many").await, "said", "{revision}");
    if revision >= Revision::V2025_06_18 {
        assert_eq!(text("ask").await, "ann", "{revision}");
    }
    // The server breaks the connection if the client can resume. The call completes
    // nevertheless.
    test_server.release_call();
    assert_eq!(text("cut").await, "after", "{revision}");
    within(client.close()).await;
    let wrong = client.transcript().violations();
    assert_eq!(wrong, [], "{revision}");
}

#[tokio::test]
async fn our_client_uses_our_server_in_every_revision() {
    let test_server = TestServer::open().await;
    for revision in Revision::ALL.into_iter().filter(|it| *it > Revision::V2024_11_05) {
        let client = connect(&test_server, Some(revision), HttpTransport::Streamable).await;
        check_session(&test_server, client, revision).await;
        assert_eq!(
            test_server.http.session_count(),
            0,
            "{revision}: the client has ended its session"
        );
    }
    within(test_server.serving.stop(Duration::from_secs(10))).await;
}

#[tokio::test]
async fn our_client_detects_the_newest_revision_and_http_sse() {
    let test_server = TestServer::open().await;
    let client = connect(&test_server, None, HttpTransport::Auto).await;
    check_session(&test_server, client, Revision::LATEST).await;
    let old = Revision::V2024_11_05;
    let client = connect(&test_server, Some(old), HttpTransport::Sse).await;
    check_session(&test_server, client, old).await;
}

#[tokio::test]
async fn our_client_reopens_a_lost_session_on_request() {
    let test_server = TestServer::open().await;
    let client = connect(&test_server, Some(Revision::V2025_11_25), HttpTransport::Auto).await;
    let asks = |client: &Client| client.call_tool("ask", json!({})).start();
    assert_eq!(within(asks(&client)).await.unwrap().content(), "ann");
    let refused = within(client.reopen()).await.unwrap_err().to_string();
    assert_eq!(refused, "cannot reopen the session: it is still open");

    test_server.http.stop_sessions(Duration::from_secs(10)).await;
    let error = within(asks(&client)).await.unwrap_err();
    assert!(matches!(&error, Error::Closed { cause: Cause::SessionLost(_), .. }), "{error}");
    assert_eq!(test_server.http.session_count(), 0, "no new session was requested");

    let again = within(client.reopen()).await.unwrap();
    assert_eq!(test_server.http.session_count(), 1);
    assert_eq!(again.revision(), Some(Revision::V2025_11_25));
    assert_eq!(within(asks(&again)).await.unwrap().content(), "ann", "it answers as before");
    within(asks(&client)).await.expect_err("the old one stays as it is");

    // The client can reopen every lost session, in one transcript.
    test_server.http.stop_sessions(Duration::from_secs(10)).await;
    within(asks(&again)).await.expect_err("lost once more");
    let third = within(again.reopen()).await.unwrap();
    assert_eq!(within(asks(&third)).await.unwrap().content(), "ann");
    within(third.close()).await;
    let refused = within(third.reopen()).await.unwrap_err().to_string();
    assert!(
        refused.ends_with("the server did not end it: this side closed the connection"),
        "{refused}"
    );
    let entries = third.transcript().entries();
    let begun = entries.iter().filter(|it| it.frame.method() == Some("initialize")).count();
    assert_eq!((begun, entries.is_sorted_by_key(|it| it.at)), (3, true));
    assert_eq!(client.transcript().len(), entries.len());
    assert_eq!(third.transcript().violations(), []);
}
