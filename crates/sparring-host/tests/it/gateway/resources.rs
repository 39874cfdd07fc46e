//! Resources: the server of a URI, equal URIs, and updates.

use serde_json::json;
use sparring_peer::client::Error;

use super::{
    DESK_SCRIPT, ERAS, GatewayFixture, list, names, plain, put_script, server_in_revision,
};
use crate::manager::fixture::{TEST_TIMEOUT, TestConnector, within};

const SHELF_SCRIPT: &str = r#"
resources:
  - {uri: "desk://note", name: other note, text: dust the books}
  - {uri: "shelf://book", name: book, text: Moby}
templates: [{uri_template: "shelf://{row}/{place}", name: row, text: a book}]
"#;

#[tokio::test]
async fn a_uri_is_unchanged_unless_two_servers_have_it() {
    let connector = TestConnector::default();
    put_script(&connector, "desk", DESK_SCRIPT);
    put_script(&connector, "The_Shelf", SHELF_SCRIPT);
    let servers = [server_in_revision("desk", ERAS[0]), server_in_revision("The_Shelf", ERAS[1])];
    let fixture = GatewayFixture::open(&connector, &servers).await;
    for era in ERAS {
        let client = fixture.connect(plain(era)).await;
        let uris = names(&list(&client, "resources/list", "resources").await, "uri");
        let [theirs, book, note] = &uris[..] else { panic!("{uris:?}") };
        assert!(theirs.starts_with("mcp+the-shelf-"), "{theirs}");
        assert!(theirs.ends_with("+desk://note"), "{theirs}");
        assert_eq!([&**book, &**note], ["shelf://book", "mcp+desk+desk://note"]);
        for (uri, text) in [(note, "water the plants"), (theirs, "dust the books"), (book, "Moby")]
        {
            let read = within(client.read_resource(uri)).await.unwrap();
            assert_eq!(read.contents[0].text.as_deref(), Some(text));
            assert_eq!(read.contents[0].uri, *uri, "it is called as it was asked for");
        }
        let refused = within(client.read_resource("desk://note")).await.unwrap_err();
        let message = refused.to_string();
        assert!(message.contains("is ambiguous; use "), "{message}");
        assert!(message.contains("'mcp+desk+desk://note'"), "{message}");
    }
}

#[tokio::test]
async fn an_unlisted_uri_goes_to_the_server_with_a_matching_template() {
    let connector = TestConnector::default();
    let desk = put_script(&connector, "desk", DESK_SCRIPT);
    put_script(&connector, "shelf", SHELF_SCRIPT);
    let servers = [server_in_revision("desk", ERAS[0]), server_in_revision("shelf", ERAS[1])];
    let fixture = GatewayFixture::open(&connector, &servers).await;
    let client = fixture.connect(plain(ERAS[1])).await;
    let templates = list(&client, "resources/templates/list", "resourceTemplates").await;
    let templates = names(&templates, "uriTemplate");
    assert_eq!(templates, ["desk://drawer/{number}", "shelf://{row}/{place}"]);
    let read = within(client.read_resource("shelf://2/7")).await.unwrap();
    assert_eq!(read.contents[0].text.as_deref(), Some("a book"));
    let before = desk.total();
    let refused = within(client.read_resource("attic://box")).await.unwrap_err();
    let Error::ErrorResponse { error, .. } = refused else { panic!("{refused}") };
    assert_eq!(error.message, "no resource 'attic://box'");
    assert_eq!(error.code, ERAS[1].resource_not_found_code());
    assert_eq!(desk.total(), before, "no request was sent");
}

#[tokio::test]
async fn resource_updates_go_to_subscribers() {
    for (outer, inner) in ERAS.into_iter().flat_map(|outer| ERAS.map(|inner| (outer, inner))) {
        let connector = TestConnector::default();
        let mock = put_script(&connector, "desk", DESK_SCRIPT);
        let fixture = GatewayFixture::open(&connector, &[server_in_revision("desk", inner)]).await;
        let watched = fixture.server.subscribed_resources();
        let client = fixture.connect(plain(outer)).await;
        let mut subscription = within(client.subscribe("desk://note")).await.unwrap();
        // The server gets the subscription a little later.
        let message = async {
            loop {
                mock.notify(
                    "notifications/resources/updated",
                    Some(json!({"uri": "desk://note"}).into()),
                );
                tokio::task::yield_now().await;
            }
        };
        let frame = tokio::select! {
            frame = subscription.next(TEST_TIMEOUT) => frame.unwrap(),
            () = message => unreachable!("it goes on"),
        };
        let uri = frame.params().and_then(|it| it.get("uri")).and_then(|it| it.as_str());
        assert_eq!(uri.as_deref(), Some("desk://note"), "{outer} to {inner}");
        assert_eq!(watched.borrow().len(), 1);
        drop(subscription);
        super::until(|| watched.borrow().is_empty()).await;
    }
}
