//! Values in results and parameters.

use serde_json::json;

use crate::fixture::{client, execute, query, rows, settings, structured_result, tool_error};

#[tokio::test]
async fn results_keep_values_of_every_kind() {
    let client = client(&settings()).await;
    let sql = "select null, 1, -2.5, 'naïve', x'00ff', 9007199254740991, 9007199254740992, \
               -9223372036854775808, 1e999, cast(x'61ff' as text), ''";
    let expected = json!([[
        null, 1, -2.5, "naïve", {"blob": "AP8="}, 9_007_199_254_740_991_i64,
        {"integer": "9007199254740992"}, {"integer": "-9223372036854775808"},
        {"real": "Infinity"}, {"blob": "Yf8="}, ""
    ]]);
    assert_eq!(rows(&client, sql).await, expected);
}

#[tokio::test]
async fn results_keep_columns_with_the_same_name_and_their_types() {
    let client = client(&settings()).await;
    let sql = "select c.id, o.id, c.id + o.id as id from customers c join orders o \
               on o.customer = c.id where o.id = 3";
    let found = structured_result(&query(&client, sql).await);
    let column = |of: Option<&str>| json!({"name": "id", "type": of});
    let columns = json!([column(Some("INTEGER")), column(Some("INTEGER")), column(None)]);
    assert_eq!(found["columns"], columns);
    assert_eq!(found["rows"], json!([[2, 3, 5]]));
}

#[tokio::test]
async fn an_empty_result_has_its_columns_and_no_rows() {
    let client = client(&settings()).await;
    let found =
        structured_result(&query(&client, "select name from customers where id = 99").await);
    let expected = json!({
        "columns": [{"name": "name", "type": "TEXT"}], "rows": [], "row_count": 0,
        "truncated": false,
    });
    assert_eq!(found, expected);
}

#[tokio::test]
async fn accepts_params_by_position_and_by_name() {
    let client = client(&settings()).await;
    structured_result(&execute(&client, "create table kept (value)").await);
    let values = json!([
        null, 3, 2.5, "it's; drop table kept", {"blob": "AP8="},
        {"integer": "9223372036854775807"}
    ]);
    for value in values.as_array().unwrap() {
        let insert = json!({"sql": "insert into kept values (?)", "params": [value]});
        structured_result(&client.call_tool("execute", insert).await.unwrap());
        let last = rows(&client, "select value from kept order by rowid desc limit 1").await;
        assert_eq!(last, json!([[value]]));
    }
    let named = json!({"sql": "select :a, $b, @a, :a", "params": {"a": true, "b": "x"}});
    let found = structured_result(&client.call_tool("query", named).await.unwrap());
    assert_eq!(found["rows"], json!([[1, "x", 1, 1]]));
}

#[tokio::test]
async fn reports_params_that_do_not_match() {
    let client = client(&settings()).await;
    for (sql, params, expected) in [
        ("select ?, ?", json!([1]), "the statement has 2 parameters, and params has 1"),
        ("select 1", json!([1]), "the statement has 0 parameters, and params has 1"),
        ("select :a", json!({"b": 1}), "params has no value for :a"),
        ("select :a", json!({"a": 1, "b": 1}), "the statement has no parameter for `b` of params"),
        ("select ?", json!([[1]]), "params: [1] is not a value"),
        ("select ?", json!([{"blob": "?"}]), "params: {\"blob\":\"?\"} is neither a blob"),
        ("select ?", json!("x"), "`params` must be a list or an object, and is \"x\""),
    ] {
        let call = client.call_tool("query", json!({"sql": sql, "params": params}));
        let error = tool_error(&call.await.unwrap());
        assert!(error.starts_with(expected), "{error}");
    }
}
