//! Resources: whose a URI is, where servers have the same, and what changes.

use serde_json::json;
use sparring_peer::client::Error;

use super::{DESK, ERAS, House, list, names, plain, put, speaking};
use crate::manager::fixture::{PATIENCE, World, within};

const SHELF: &str = r#"
resources:
  - {uri: "desk://note", name: other note, text: dust the books}
  - {uri: "shelf://book", name: book, text: Moby}
templates: [{uri_template: "shelf://{row}/{place}", name: row, text: a book}]
"#;

#[tokio::test]
async fn a_uri_is_its_servers_own_unless_another_has_it_too() {
    let world = World::default();
    put(&world, "desk", DESK);
    put(&world, "The_Shelf", SHELF);
    let servers = [speaking("desk", ERAS[0]), speaking("The_Shelf", ERAS[1])];
    let house = House::open(&world, &servers).await;
    for era in ERAS {
        let client = house.visit(plain(era)).await;
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
        let told = refused.to_string();
        assert!(told.contains("is of more than one server: "), "{told}");
        assert!(told.contains("'mcp+desk+desk://note'"), "{told}");
    }
}

#[tokio::test]
async fn what_nobody_lists_goes_to_whose_template_fits() {
    let world = World::default();
    let desk = put(&world, "desk", DESK);
    put(&world, "shelf", SHELF);
    let servers = [speaking("desk", ERAS[0]), speaking("shelf", ERAS[1])];
    let house = House::open(&world, &servers).await;
    let client = house.visit(plain(ERAS[1])).await;
    let templates = list(&client, "resources/templates/list", "resourceTemplates").await;
    let templates = names(&templates, "uriTemplate");
    assert_eq!(templates, ["desk://drawer/{number}", "shelf://{row}/{place}"]);
    let read = within(client.read_resource("shelf://2/7")).await.unwrap();
    assert_eq!(read.contents[0].text.as_deref(), Some("a book"));
    let before = desk.total();
    let refused = within(client.read_resource("attic://box")).await.unwrap_err();
    let Error::Refused { error, .. } = refused else { panic!("{refused}") };
    assert_eq!(error.message, "there is no resource 'attic://box'");
    assert_eq!(error.code, ERAS[1].resource_not_found_code());
    assert_eq!(desk.total(), before, "nobody was asked");
}

#[tokio::test]
async fn changes_of_resources_are_told_to_who_wants_to_know() {
    for (outer, inner) in ERAS.into_iter().flat_map(|outer| ERAS.map(|inner| (outer, inner))) {
        let world = World::default();
        let mock = put(&world, "desk", DESK);
        let house = House::open(&world, &[speaking("desk", inner)]).await;
        let watched = house.server.watched();
        let client = house.visit(plain(outer)).await;
        let mut subscription = within(client.subscribe("desk://note")).await.unwrap();
        // The server learns of it a little later.
        let told = async {
            loop {
                mock.notify(
                    "notifications/resources/updated",
                    Some(json!({"uri": "desk://note"}).into()),
                );
                tokio::task::yield_now().await;
            }
        };
        let frame = tokio::select! {
            frame = subscription.next(PATIENCE) => frame.unwrap(),
            () = told => unreachable!("it goes on"),
        };
        let uri = frame.params().and_then(|it| it.get("uri")).and_then(|it| it.as_str());
        assert_eq!(uri.as_deref(), Some("desk://note"), "{outer} to {inner}");
        assert_eq!(watched.borrow().len(), 1);
        drop(subscription);
        super::until(|| watched.borrow().is_empty()).await;
    }
}
