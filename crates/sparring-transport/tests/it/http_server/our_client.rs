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
    place: &TestServer,
    revision: Option<Revision>,
    transport: HttpTransport,
) -> Client {
    let path = if transport == HttpTransport::Sse { "/sse" } else { "/mcp" };
    let url = format!("http://{}{path}", place.serving.address().unwrap());
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

async fn visit(place: &TestServer, client: Client, revision: Revision) {
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
    place.let_go();
    assert_eq!(text("cut").await, "after", "{revision}");
    within(client.close()).await;
    let wrong = client.transcript().violations();
    assert_eq!(wrong, [], "{revision}");
}

#[tokio::test]
async fn our_client_uses_our_server_in_every_revision() {
    let place = TestServer::open().await;
    for revision in Revision::ALL.into_iter().filter(|it| *it > Revision::V2024_11_05) {
        let client = connect(&place, Some(revision), HttpTransport::Streamable).await;
        visit(&place, client, revision).await;
        assert_eq!(place.http.session_count(), 0, "{revision}: the client has ended its session");
    }
    within(place.serving.stop(Duration::from_secs(10))).await;
}

#[tokio::test]
async fn our_client_detects_the_newest_revision_and_http_sse() {
    let place = TestServer::open().await;
    let client = connect(&place, None, HttpTransport::Auto).await;
    visit(&place, client, Revision::LATEST).await;
    let old = Revision::V2024_11_05;
    let client = connect(&place, Some(old), HttpTransport::Sse).await;
    visit(&place, client, old).await;
}

#[tokio::test]
async fn our_client_reopens_a_lost_session_on_request() {
    let place = TestServer::open().await;
    let client = connect(&place, Some(Revision::V2025_11_25), HttpTransport::Auto).await;
    let asks = |client: &Client| client.call_tool("ask", json!({})).start();
    assert_eq!(within(asks(&client)).await.unwrap().content(), "ann");
    let refused = within(client.reopen()).await.unwrap_err().to_string();
    assert_eq!(refused, "cannot reopen the session: it is still open");

    place.http.stop_sessions(Duration::from_secs(10)).await;
    let error = within(asks(&client)).await.unwrap_err();
    assert!(matches!(&error, Error::Closed { cause: Cause::SessionLost(_), .. }), "{error}");
    assert_eq!(place.http.session_count(), 0, "nobody has asked for another");

    let again = within(client.reopen()).await.unwrap();
    assert_eq!(place.http.session_count(), 1);
    assert_eq!(again.revision(), Some(Revision::V2025_11_25));
    assert_eq!(within(asks(&again)).await.unwrap().content(), "ann", "it answers as before");
    within(asks(&client)).await.expect_err("the old one stays as it is");

    // The client can reopen every lost session, in one transcript.
    place.http.stop_sessions(Duration::from_secs(10)).await;
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
