//! The rules for statements: the lists, read-only, and statements that hide their kind.

use sparring::Client;
use sql::statements::{Kind, Rules};
use sql::{Location, OpenError, Settings, serve};

use crate::fixture::{
    client, client_with_rules, execute, kinds, query, rows, settings, structured_result, tool_error,
};

/// Runs each statement with both tools, and compares the refusals, except those about
/// the wrong tool.
async fn refused(client: &Client, statements: &[(&str, &str)]) {
    for (sql, expected) in statements {
        for response in [query(client, sql).await, execute(client, sql).await] {
            let error = tool_error(&response);
            assert!(error.starts_with(expected), "{sql}: {error}");
        }
    }
}

#[tokio::test]
async fn refuses_denied_statements_in_every_spelling() {
    let client =
        client_with_rules(Rules { deny: kinds(&[Kind::Drop, Kind::Delete]), ..Rules::default() })
            .await;
    let drop = "DROP is refused: the deny list has drop";
    let delete = "DELETE is refused: the deny list has delete";
    refused(
        &client,
        &[
            ("drop table orders", drop),
            ("DrOp/**/TABLE orders", drop),
            ("-- harmless\n  drop view totals", drop),
            ("/* select */ drop table if exists orders;", drop),
            ("delete from orders", delete),
            ("with x as (select 1) delete from orders", delete),
            (
                "replace into customers values (1, '', '', '')",
                "DELETE in INSERT is refused: the deny list has delete",
            ),
            (
                "insert or replace into customers values (1, '', '', '')",
                "DELETE in INSERT is refused: the deny list has delete",
            ),
            (
                "explain delete from orders",
                "DELETE in EXPLAIN is refused: the deny list has delete",
            ),
        ],
    )
    .await;
    // These statements only look like denied ones.
    for sql in [
        "select 'drop table orders'",
        "select 1 as \"delete\" -- drop table orders",
        "select /* delete from orders */ 1",
    ] {
        structured_result(&query(&client, sql).await);
    }
    structured_result(
        &execute(&client, "update customers set name = 'drop; delete from orders'").await,
    );
    assert_eq!(rows(&client, "select count(*) from orders").await, serde_json::json!([[3]]));
}

#[tokio::test]
async fn with_an_allow_list_only_its_kinds_run() {
    let client = client_with_rules(Rules {
        allow: Some(kinds(&[Kind::Insert, Kind::Pragma])),
        ..Rules::default()
    })
    .await;
    let only = "is refused: the allow list has only pragma, insert";
    refused(
        &client,
        &[
            ("select 1", &format!("SELECT {only}")),
            ("update orders set cents = 0", &format!("UPDATE {only}")),
            (
                "insert into orders (customer, cents) select 1, 1",
                &format!("SELECT in INSERT {only}"),
            ),
            (
                "insert into orders (customer, cents) values (1, 1) returning *",
                &format!("SELECT in INSERT {only}"),
            ),
            (
                "insert into customers (id, name) values (1, 'x') on conflict (id) do update set \
              name = 'x'",
                &format!("UPDATE in INSERT {only}"),
            ),
            ("create table x (a)", &format!("CREATE {only}")),
        ],
    )
    .await;
    // Only SQLite detects the nested query.
    let hidden = "insert into orders (customer, cents) values (1, (select cents from totals))";
    let error = tool_error(&execute(&client, hidden).await);
    assert_eq!(error, format!("SELECT on totals {only}"));
    structured_result(
        &execute(&client, "insert into orders (customer, cents) values (1, 1), (2, 2)").await,
    );
    structured_result(&query(&client, "pragma table_info(orders)").await);
}

#[tokio::test]
async fn the_rules_apply_to_triggers() {
    let init = tempfile::NamedTempFile::new().unwrap();
    let script = "create table a (x); create table b (x); create trigger t after insert on a \
                  begin delete from b; end;";
    std::fs::write(init.path(), script).unwrap();
    let rules = Rules { deny: kinds(&[Kind::Delete]), ..Rules::default() };
    let init = Some(init.path().to_owned());
    let client = client(&Settings { init, rules, ..Settings::default() }).await;
    let error = tool_error(&execute(&client, "insert into a values (1)").await);
    assert_eq!(error, "DELETE on b is refused: the deny list has delete");
    structured_result(&execute(&client, "insert into b values (1)").await);
}

#[tokio::test]
async fn no_rule_allows_attach_vacuum_or_transactions() {
    let client = client(&settings()).await;
    let files = "is refused: other database files are never opened or closed";
    let calls = "TRANSACTION is refused: each call is a transaction of its own";
    let setting = "is refused: only pragmas that read the schema are allowed";
    refused(
        &client,
        &[
            ("attach database 'other.db' as other", &format!("ATTACH {files}")),
            ("detach other", &format!("DETACH {files}")),
            ("begin", calls),
            ("commit", calls),
            ("savepoint a", calls),
            ("vacuum", "VACUUM is refused: it writes a whole database"),
            (
                "vacuum into 'copy.db'",
                "the rules cannot be applied to a statement that cannot be parsed",
            ),
            ("reindex", "the rules cannot be applied to a statement that cannot be parsed"),
        ],
    )
    .await;
    for (sql, expected) in [
        ("pragma writable_schema = on", format!("PRAGMA writable_schema {setting}")),
        ("pragma user_version = 7", format!("PRAGMA user_version {setting}")),
        ("pragma journal_mode(wal)", format!("PRAGMA journal_mode {setting}")),
        ("select * from pragma_database_list", format!("PRAGMA database_list {setting}")),
        (
            "select load_extension('evil')",
            "the function load_extension is refused: it reaches outside".to_owned(),
        ),
        (
            "select fts3_tokenizer('simple')",
            "the function fts3_tokenizer is refused: it reaches outside".to_owned(),
        ),
    ] {
        let error = tool_error(&query(&client, sql).await);
        assert!(error.starts_with(&expected), "{sql}: {error}");
    }
    let error =
        tool_error(&execute(&client, "insert into sqlite_master values (1, 2, 3, 4, 5)").await);
    assert_eq!(error, "SQLite: table sqlite_master may not be modified");
    assert!(!std::path::Path::new("other.db").exists());
}

#[tokio::test]
async fn a_call_runs_one_statement() {
    let client = client(&settings()).await;
    refused(
        &client,
        &[
            ("select 1; drop table orders", "the text has 2 statements; a call runs one"),
            ("update orders set cents = 0; select 1; select 2", "the text has 3 statements"),
            ("pragma table_info(orders); drop table orders", "the text has 2 statements"),
            ("", "the text has no statement"),
            (" ; -- nothing", "the text has no statement"),
        ],
    )
    .await;
    structured_result(&query(&client, "select ';' ; -- and no more").await);
}

#[tokio::test]
async fn each_tool_names_the_other_for_its_statements() {
    let client = client(&settings()).await;
    for sql in ["delete from orders", "with a as (select 1) insert into orders (cents) select 1"] {
        let error = tool_error(&query(&client, sql).await);
        assert!(
            error.ends_with("is refused: the tool `query` only reads; use `execute`"),
            "{error}"
        );
    }
    for sql in ["select 1", "explain delete from orders", "pragma table_info(orders)"] {
        let error = tool_error(&execute(&client, sql).await);
        let expected = "is refused: the tool `execute` changes something; use `query`";
        assert!(error.ends_with(expected), "{error}");
    }
    structured_result(&query(&client, "explain delete from orders").await);
    assert_eq!(rows(&client, "select count(*) from orders").await, serde_json::json!([[3]]));
}

#[tokio::test]
async fn a_file_that_is_served_read_only_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let database = Location::File(path.clone());
    drop(client(&Settings { database: database.clone(), ..settings() }).await);
    let before = std::fs::read(&path).unwrap();
    assert!(before.starts_with(b"SQLite format 3"));

    let rules = Rules { read_only: true, ..Rules::default() };
    let settings = Settings { database, rules, ..Settings::default() };
    let client = client(&settings).await;
    let tools = client.list_tools().await.unwrap();
    assert!(tools.iter().all(|tool| tool.name != "execute"), "{tools:?}");
    let error = client.call_tool("execute", serde_json::json!({"sql": "select 1"})).await.unwrap();
    let expected = "no tool `execute`: the database is served read-only";
    assert_eq!(
        (error.error_code(), error.error_message().as_deref()),
        (Some(-32602), Some(expected))
    );
    let read_only = "is refused: the database is served read-only";
    for (sql, what) in [
        ("delete from orders", "DELETE"),
        ("create temp table x (a)", "CREATE"),
        ("explain drop table orders", "DROP in EXPLAIN"),
    ] {
        assert_eq!(tool_error(&query(&client, sql).await), format!("{what} {read_only}"));
    }
    let error = tool_error(&query(&client, "pragma query_only = off").await);
    assert!(error.starts_with("PRAGMA query_only is refused"), "{error}");
    assert_eq!(rows(&client, "select count(*) from orders").await, serde_json::json!([[3]]));
    drop(client);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing lies beside it");
}

#[tokio::test]
async fn reports_a_database_that_cannot_be_served_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("no.db"), "this is no database, but a text of some length").unwrap();
    std::fs::write(path("wrong.sql"), "create table a (x); creat table b (x);").unwrap();
    let error_of = |settings: &Settings| serve(settings).unwrap_err().to_string();
    let file = |name: &str| Location::File(path(name));
    let read_only = || Rules { read_only: true, ..Rules::default() };

    let error = error_of(&Settings { database: file("no.db"), ..Settings::default() });
    assert!(error.ends_with("no.db cannot be opened: file is not a database"), "{error}");
    let missing = Settings { database: file("nope.db"), rules: read_only(), ..Settings::default() };
    assert!(error_of(&missing).contains("unable to open database file"), "{}", error_of(&missing));
    let error = error_of(&Settings { init: Some(path("wrong.sql")), ..Settings::default() });
    assert!(error.contains("wrong.sql: SQLite: near \"creat\": syntax error"), "{error}");
    let error = error_of(&Settings { init: Some(path("nope.sql")), ..Settings::default() });
    assert!(error.contains("nope.sql: No such file"), "{error}");
    let both = Settings { database: file("a.db"), rules: read_only(), ..settings() };
    assert!(error_of(&both).starts_with("--init writes, and "), "{}", error_of(&both));
    assert!(!path("a.db").exists() && !path("nope.db").exists());
}

#[test]
fn refuses_to_serve_if_serving_is_disabled() {
    let settings = Settings { disable_serving: true, ..settings() };
    assert!(matches!(serve(&settings), Err(OpenError::ServingDisabled)));
}
