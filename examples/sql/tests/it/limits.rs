//! The limits of a statement: rows, bytes and time, and the state after it is stopped.

use std::time::Duration;

use serde_json::json;
use sql::{Limits, Settings};

use crate::fixture::{client, execute, query, rows, settings, structured_result, tool_error};

/// Never ends.
const ENDLESS: &str = "with recursive n(i) as (select 1 union all select i + 1 from n) \
                       select count(*) from n";

fn limited(limits: Limits) -> Settings {
    Settings { limits, ..settings() }
}

#[tokio::test]
async fn truncates_rows_beyond_the_limit_and_reports_it() {
    let client = client(&limited(Limits { max_rows: 2, ..Limits::default() })).await;
    let numbers = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n";
    let endless = structured_result(&query(&client, numbers).await);
    assert_eq!((&endless["rows"], &endless["truncated"]), (&json!([[1], [2]]), &json!(true)));
    let exact = structured_result(&query(&client, &format!("{numbers} limit 2")).await);
    assert_eq!((&exact["row_count"], &exact["truncated"]), (&json!(2), &json!(false)));
    // A client may ask for fewer rows than the server's limit, but never gets more.
    for (limit, count) in [(1, 1), (100, 2)] {
        let call = json!({"sql": "select id from customers", "limit": limit});
        let found = structured_result(&client.call_tool("query", call).await.unwrap());
        assert_eq!((&found["row_count"], &found["truncated"]), (&json!(count), &json!(true)));
    }
}

#[tokio::test]
async fn truncates_bytes_beyond_the_limit_and_reports_it() {
    let client = client(&limited(Limits { max_bytes: 2_000, ..Limits::default() })).await;
    let sql = "select zeroblob(600) from customers";
    let found = structured_result(&query(&client, sql).await);
    assert_eq!((&found["row_count"], &found["truncated"]), (&json!(2), &json!(true)));
    let found = structured_result(&query(&client, "select zeroblob(6000)").await);
    assert_eq!((&found["row_count"], &found["truncated"]), (&json!(0), &json!(true)));
}

#[tokio::test]
async fn a_truncated_returning_clause_still_changes_all_rows() {
    let client = client(&limited(Limits { max_rows: 1, ..Limits::default() })).await;
    let changed =
        structured_result(&execute(&client, "update orders set cents = 0 returning id").await);
    assert_eq!(
        (&changed["rows_affected"], &changed["row_count"], &changed["truncated"]),
        (&json!(3), &json!(1), &json!(true))
    );
    assert_eq!(rows(&client, "select sum(cents) from orders").await, json!([[0]]));
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_stopped_and_the_next_one_works() {
    let timeout = Duration::from_millis(50);
    let client = client(&limited(Limits { timeout, ..Limits::default() })).await;
    for _ in 0..2 {
        let error = tool_error(&query(&client, ENDLESS).await);
        assert_eq!(error, "the statement was stopped, because it took longer than 50ms");
        assert_eq!(rows(&client, "select count(*) from orders").await, json!([[3]]));
    }
}

#[tokio::test]
async fn a_stopped_statement_is_rolled_back() {
    let timeout = Duration::from_millis(50);
    let client = client(&limited(Limits { timeout, ..Limits::default() })).await;
    let endless = "insert into orders (customer, cents) with recursive n(i) as \
                   (select 1 union all select i + 1 from n) select 1, i from n";
    let error = tool_error(&execute(&client, endless).await);
    assert!(error.contains("took longer than 50ms"), "{error}");
    assert_eq!(rows(&client, "select count(*) from orders").await, json!([[3]]));
}

#[tokio::test]
async fn a_cancelled_query_is_stopped_and_the_next_one_works() {
    let an_hour = Duration::from_secs(3_600);
    let client = client(&limited(Limits { timeout: an_hour, ..Limits::default() })).await;
    for waits in [false, true] {
        let running = client.call_tool("query", json!({"sql": ENDLESS})).start();
        // One of them waits for the other, and is cancelled before it begins.
        let queued = waits.then(|| client.call_tool("query", json!({"sql": ENDLESS})).start());
        running.cancel(Some("enough"));
        drop(queued);
        assert!(running.await.is_err(), "a cancelled request has no answer");
        // One thread runs all statements, so this one runs only after those have been stopped.
        assert_eq!(rows(&client, "select count(*) from orders").await, json!([[3]]));
    }
}

#[tokio::test]
async fn reports_a_statement_that_is_too_large_and_the_next_one_works() {
    let client = client(&settings()).await;
    for (sql, expected) in [
        (format!("select '{}'", "x".repeat(100_000)), "the statement has 100009 bytes"),
        (format!("select {}1", "1+".repeat(49_000)), "SQLite: Expression tree is too large"),
        (format!("select 1{}", " union select 1".repeat(6_000)), "SQLite: too many terms"),
        (format!("select {}1{}", "(".repeat(5_000), ")".repeat(5_000)), "SQLite: "),
        ("select zeroblob(100000000)".to_owned(), "SQLite: string or blob too big"),
    ] {
        let error = tool_error(&query(&client, &sql).await);
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(rows(&client, "select 1").await, json!([[1]]));
    }
}
