//! Tables as resources, and notifications about their changes.

use std::time::Duration;

use serde_json::{Value, json};
use sparring::types::ReadResourceResult;
use sparring::{Client, Revision};
use sql::statements::{Kind, Rules};
use sql::{Settings, serve};

use crate::fixture::{client, client_with_rules, execute, kinds, settings, structured_result};

const TEST_TIMEOUT: Duration = Duration::from_secs(30);
const LIST_CHANGED: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";

async fn read(client: &Client, uri: &str) -> Value {
    let found: ReadResourceResult = client.read_resource(uri).await.unwrap().to().unwrap();
    assert_eq!(found.contents[0].mime_type.as_deref(), Some("application/json"));
    serde_json::from_str(found.contents[0].text.as_deref().unwrap()).unwrap()
}

#[tokio::test]
async fn every_table_and_view_is_a_resource_with_schema_and_first_rows() {
    let client = client(&settings()).await;
    let listed = client.list_resources().await.unwrap();
    let uris: Vec<_> = listed.iter().map(|it| it.uri.as_str()).collect();
    assert_eq!(uris, ["sql://tables/customers", "sql://tables/orders", "sql://tables/totals"]);
    for uri in uris {
        let found = read(&client, uri).await;
        assert_eq!(found["schema"]["name"], uri.rsplit('/').next().unwrap());
        assert_eq!(found["first_rows"]["row_count"], 3, "{uri}");
        assert_eq!(found["first_rows"]["truncated"], false, "{uri}");
    }
    let many = "insert into orders (customer, cents) select 1, o.id from orders o, orders, orders";
    structured_result(&execute(&client, many).await);
    let found = read(&client, "sql://tables/orders").await;
    assert_eq!(
        (&found["first_rows"]["row_count"], &found["first_rows"]["truncated"]),
        (&json!(10), &json!(true))
    );
}

#[tokio::test]
async fn the_template_reaches_tables_of_any_name() {
    let client = client(&settings()).await;
    let name = "a \"b\" / c";
    structured_result(&execute(&client, "create table \"a \"\"b\"\" / c\" (x)").await);
    let templates = client.list_resource_templates().await.unwrap();
    assert_eq!(templates[0].uri_template, "sql://tables/{name}");
    let found = read(&client, "sql://tables/a%20%22b%22%20%2F%20c").await;
    assert_eq!(found["schema"]["name"], name);
    let reference = json!({"type": "ref/resource", "uri": "sql://tables/{name}"});
    let params = json!({"ref": reference, "argument": {"name": "name", "value": "C"}});
    let completed = client.request("completion/complete", Some(params.into())).await.unwrap();
    let completed: Value = completed.result().unwrap().deserialize().unwrap();
    assert_eq!(completed["completion"]["values"], json!(["customers"]));
}

#[tokio::test]
async fn a_missing_resource_has_the_error_code_of_its_revision() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let server = serve(&settings()).unwrap();
        let client = Client::builder().revision(revision).in_memory(server).await.unwrap();
        for uri in ["sql://tables/nope", "sql://other/orders", "file:///etc/passwd"] {
            let params = json!({"uri": uri});
            let answer = client.request("resources/read", Some(params.into())).await.unwrap();
            assert_eq!(answer.error_code(), Some(revision.resource_not_found_code()), "{uri}");
        }
    }
}

#[tokio::test]
async fn a_client_that_may_not_query_still_gets_the_schema() {
    let client =
        client_with_rules(Rules { deny: kinds(&[Kind::Select]), ..Rules::default() }).await;
    let found = read(&client, "sql://tables/orders").await;
    assert_eq!(found["schema"]["name"], "orders");
    let refused = json!({"refused": "SELECT is refused: the deny list has select"});
    assert_eq!(found["first_rows"], refused);
}

#[tokio::test]
async fn notifies_all_clients_when_the_list_of_tables_changes() {
    let server = serve(&settings()).unwrap();
    let one = Client::in_memory(&server).await.unwrap();
    // Since 2026-07-28 a client gets only the notifications that it listens for.
    let other = Client::builder().revision(Revision::V2025_11_25).in_memory(&server);
    let other = other.await.unwrap();
    for sql in ["create index by_name on customers (name)", "alter table orders add column x"] {
        structured_result(&execute(&one, sql).await);
    }
    structured_result(&execute(&one, "create table notes (id)").await);
    let notified = other.notifications().wait_for(LIST_CHANGED, 1, TEST_TIMEOUT).await;
    assert!(notified.is_ok(), "{notified:?}");
    structured_result(&execute(&one, "alter table notes rename to kept").await);
    structured_result(&execute(&one, "drop table kept").await);
    other.notifications().wait_for(LIST_CHANGED, 3, TEST_TIMEOUT).await.unwrap();
    // Three of the five statements changed the list of tables.
    other.ping().await.unwrap();
    assert_eq!(other.notifications().count(LIST_CHANGED), 3);
}

#[tokio::test]
async fn notifies_a_subscriber_only_of_changes_of_its_table() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let server = serve(&Settings { init: None, ..settings() }).unwrap();
        let writer = Client::in_memory(&server).await.unwrap();
        let script = [
            "create table a (x)",
            "create table b (x)",
            "create trigger into_b after \
                       insert on a begin insert into b values (new.x); end",
        ];
        for sql in script {
            structured_result(&execute(&writer, sql).await);
        }
        let reader = Client::builder().revision(revision).in_memory(&server).await.unwrap();
        let mut subscription = reader.subscribe("sql://tables/b").await.unwrap();
        // A trigger writes to the table, then a statement, then a `DELETE` without a condition.
        for sql in ["insert into a values (1)", "update b set x = 2", "delete from b"] {
            structured_result(&execute(&writer, sql).await);
            let notification = subscription.next(TEST_TIMEOUT).await.unwrap();
            assert_eq!(notification.method(), Some(UPDATED));
            let params: Value = notification.params().unwrap().deserialize().unwrap();
            assert_eq!(params["uri"], "sql://tables/b", "{sql}");
        }
    }
}
