//! The answers of each tool about the shop.

use serde_json::{Value, json};

use crate::fixture::{client, execute, query, rows, settings, structured_result, tool_error};

#[tokio::test]
async fn query_returns_the_rows_of_tables_views_and_pragmas() {
    let client = client(&settings()).await;
    let totals = rows(&client, "select * from totals order by cents desc").await;
    assert_eq!(totals, json!([["Grace", 1, 9900], ["Ada", 2, 1550], ["Edsger", 0, 0]]));
    assert_eq!(rows(&client, "values (1), (2)").await, json!([[1], [2]]));
    let sql = "with a as (select 1 as x) select x from a union select 2 order by 1 desc";
    assert_eq!(rows(&client, sql).await, json!([[2], [1]]));
    let indexes = rows(&client, "pragma index_list(orders)").await;
    assert_eq!(indexes[0][1], "orders_by_customer");
    let plan = rows(&client, "explain query plan select * from orders where customer = 1").await;
    assert!(plan[0][3].as_str().unwrap().contains("orders_by_customer"), "{plan}");
}

#[tokio::test]
async fn query_reports_the_place_of_a_syntax_error() {
    let client = client(&settings()).await;
    for (sql, expected) in [
        ("selec 1", "SQLite: near \"selec\": syntax error (at byte 0)"),
        ("select nam from customers", "SQLite: no such column: nam (at byte 7)"),
        ("select 1 from nowhere", "SQLite: no such table: nowhere (at byte 14)"),
        ("select abs('a', 1)", "SQLite: wrong number of arguments to function abs() (at byte 7)"),
    ] {
        let error = tool_error(&query(&client, sql).await);
        let expected = expected.split(" (at").next().unwrap();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[tokio::test]
async fn execute_reports_its_changes() {
    let client = client(&settings()).await;
    let changes = async |sql: &str| {
        let result = structured_result(&execute(&client, sql).await);
        let of = |name: &str| result[name].clone();
        (of("statement"), of("rows_affected"), of("last_insert_rowid"), of("rows"))
    };
    let none = || json!([]);
    let insert = "insert into orders (customer, cents) values (3, 1), (3, 2)";
    assert_eq!(changes(insert).await, (json!("insert"), json!(2), json!(5), none()));
    let update = "update orders set cents = cents + 1 where customer = 3 returning id, cents";
    let changed = json!([[4, 2], [5, 3]]);
    assert_eq!(changes(update).await, (json!("update"), json!(2), json!(null), changed));
    let unmatched = "update orders set cents = 0 where customer = 99";
    assert_eq!(changes(unmatched).await, (json!("update"), json!(0), json!(null), none()));
    // The database also deletes the customer's orders, and does not count them.
    let delete = "delete from customers where id = 3";
    assert_eq!(changes(delete).await, (json!("delete"), json!(1), json!(null), none()));
    assert_eq!(rows(&client, "select count(*) from orders").await, json!([[3]]));
    let large = "insert into customers (id, name) values (9223372036854775806, 'last')";
    let rowid = json!({"integer": "9223372036854775806"});
    assert_eq!(changes(large).await, (json!("insert"), json!(1), rowid, none()));
    for sql in [
        "create table notes (id integer primary key, text)",
        "alter table notes add column author",
        "create trigger audit after insert on notes begin update notes set author = 'x'; end",
        "create virtual table found using fts5(text)",
        "analyze",
        "drop table notes",
    ] {
        let (kind, rows_affected, ..) = changes(sql).await;
        let first = sql.split(' ').next().unwrap();
        assert_eq!((kind, rows_affected), (json!(first), json!(0)), "{sql}");
    }
}

#[tokio::test]
async fn reports_a_broken_constraint_and_changes_nothing() {
    let client = client(&settings()).await;
    for (sql, expected) in [
        ("insert into orders (customer, cents) values (1, 5), (1, -5)", "CHECK constraint failed"),
        ("insert into orders (customer, cents) values (99, 5)", "FOREIGN KEY constraint failed"),
        ("update customers set email = 'ada@example.com'", "UNIQUE constraint failed"),
        ("insert into customers (name) values (null)", "NOT NULL constraint failed"),
    ] {
        let error = tool_error(&execute(&client, sql).await);
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(rows(&client, "select count(*) from orders").await, json!([[3]]));
}

#[tokio::test]
async fn describe_returns_columns_indexes_and_foreign_keys() {
    let client = client(&settings()).await;
    let call = client.call_tool("describe", json!({"table": "ORDERS"}));
    let found = structured_result(&call.await.unwrap());
    assert_eq!((&found["name"], &found["type"]), (&json!("orders"), &json!("table")));
    let columns = found["columns"].as_array().unwrap();
    let names: Vec<_> = columns.iter().map(|column| &column["name"]).collect();
    assert_eq!(names, ["id", "customer", "placed", "cents", "euros"]);
    assert_eq!(columns[0]["primary_key"], true);
    let placed = json!({"name": "placed", "type": "TEXT", "nullable": false,
                        "default": "CURRENT_DATE", "primary_key": false, "generated": false});
    assert_eq!(columns[2], placed);
    assert_eq!(columns[4]["generated"], true);
    let index = json!({"name": "orders_by_customer", "unique": false, "partial": false,
                       "columns": ["customer", "placed"]});
    assert_eq!(found["indexes"], json!([index]));
    let key = json!({"columns": ["customer"], "table": "customers", "to": ["id"],
                     "on_update": "NO ACTION", "on_delete": "CASCADE"});
    assert_eq!(found["foreign_keys"], json!([key]));
    assert!(found["sql"].as_str().unwrap().starts_with("CREATE TABLE orders"));
    let view = client.call_tool("describe", json!({"table": "totals"})).await.unwrap();
    assert_eq!(structured_result(&view)["type"], "view");
}

#[tokio::test]
async fn describe_lists_the_tables_if_the_name_is_unknown() {
    let client = client(&settings()).await;
    for table in ["nope", "sqlite_master", "", "orders; drop table orders"] {
        let call = client.call_tool("describe", json!({"table": table}));
        let error = tool_error(&call.await.unwrap());
        let existing = "existing: customers, orders, totals";
        assert_eq!(error, format!("unknown table or view `{table}`; {existing}"));
    }
}

#[tokio::test]
async fn list_tables_returns_tables_and_views_with_their_resources() {
    let client = client(&settings()).await;
    structured_result(&execute(&client, "create table \"Größe in cm\" (a)").await);
    let found = structured_result(&client.call_tool("list_tables", json!({})).await.unwrap());
    let table = |name: &str, kind: &str, columns: u32, uri: &str| json!({"name": name, "type": kind, "columns": columns, "uri": uri});
    let expected = json!({"tables": [
        table("Größe in cm", "table", 1, "sql://tables/Gr%C3%B6%C3%9Fe%20in%20cm"),
        table("customers", "table", 4, "sql://tables/customers"),
        table("orders", "table", 5, "sql://tables/orders"),
        table("totals", "view", 3, "sql://tables/totals"),
    ]});
    assert_eq!(found, expected);
}

#[tokio::test]
async fn database_info_returns_the_database_its_rules_and_its_limits() {
    let client = client(&settings()).await;
    let mut found = structured_result(&client.call_tool("database_info", json!({})).await.unwrap());
    let version = found["engine_version"].take();
    assert!(version.as_str().unwrap().starts_with("3."), "{version}");
    assert!(found["size_bytes"].take().as_u64().unwrap() > 4096);
    let statements = "select explain pragma insert update delete create alter drop analyze";
    let expected = json!({
        "database": ":memory:", "engine": "SQLite", "engine_version": null, "encoding": "UTF-8",
        "size_bytes": null, "tables": 2, "views": 1, "read_only": false,
        "statements": statements.split(' ').collect::<Vec<_>>(),
        "max_rows": 1000, "timeout_ms": 10000,
    });
    assert_eq!(found, expected);
}

#[tokio::test]
async fn many_calls_at_once_are_all_answered() {
    let client = client(&settings()).await;
    structured_result(&execute(&client, "create table counted (n)").await);
    let calls: Vec<_> = (0..200)
        .map(|n| {
            let call = json!({"sql": "insert into counted values (?)", "params": [n]});
            client.call_tool("execute", call).start()
        })
        .collect();
    for call in calls {
        structured_result(&call.await.unwrap());
    }
    let sum: Value = rows(&client, "select count(*), sum(n) from counted").await;
    assert_eq!(sum, json!([[200, 19900]]));
}
