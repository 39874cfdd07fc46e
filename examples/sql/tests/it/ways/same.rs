//! One test for all four ways: the same requests get the same answers.

use serde_json::{Value, json};

use super::{WAYS, Way};

/// Sends the same requests in one way, and returns the answers.
async fn conversation(way: &mut Way) -> Vec<Value> {
    let mut answers = Vec::new();
    let listed = way.ask("tools/list", json!({})).await;
    let names: Vec<_> = listed["tools"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["query", "describe", "list_tables", "database_info", "execute"]);
    answers.push(listed);

    let created =
        way.call("execute", json!({"sql": "create table notes (id integer, text)"})).await;
    assert_eq!(created["structuredContent"]["statement"], "create");
    let sql = "insert into notes values (?, ?)";
    let inserted = way.call("execute", json!({"sql": sql, "params": [7, "hello"]})).await;
    assert_eq!(inserted["structuredContent"]["rows_affected"], 1);
    let found = way.call("query", json!({"sql": "select * from notes"})).await;
    assert_eq!(found["structuredContent"]["rows"], json!([[7, "hello"]]));
    answers.extend([created, inserted, found]);

    for tool in ["list_tables", "database_info"] {
        answers.push(way.call(tool, json!({})).await);
    }
    answers.push(way.call("describe", json!({"table": "orders"})).await);
    answers.push(way.ask("resources/list", json!({})).await);
    answers.push(way.ask("resources/read", json!({"uri": "sql://tables/notes"})).await);

    let refused = way.call("query", json!({"sql": "drop table notes"})).await;
    assert_eq!(refused["isError"], true);
    let unknown = way.ask("tools/nonesuch", json!({})).await;
    assert_eq!(unknown["code"], -32601);
    let unnamed = way.call("nonesuch", json!({})).await;
    assert_eq!(unnamed["code"], -32602);
    let missing = way.ask("resources/read", json!({"uri": "sql://tables/nope"})).await;
    assert_eq!(missing["code"], -32002);
    answers.extend([refused, unknown, unnamed, missing]);
    answers
}

#[tokio::test]
async fn all_four_ways_get_the_same_answers_from_the_server() {
    let mut first: Option<Vec<Value>> = None;
    for name in WAYS {
        let mut way = Way::open(name).await;
        let answers = conversation(&mut way).await;
        match &first {
            None => first = Some(answers),
            Some(first) => assert_eq!(&answers, first, "{name}"),
        }
        if let Way::Pipe(client, _) | Way::Process(client) = &way {
            assert_eq!(client.transcript().violations(), [], "{name}");
        }
    }
}

#[tokio::test]
async fn without_a_message_the_memory_transport_processes_none() {
    let Way::Memory(transport, mut session) = Way::open("memory transport").await else {
        unreachable!("that way has a memory transport");
    };
    transport.clear();
    let moment = std::time::Duration::from_millis(1);
    assert_eq!(session.process_one_message(moment).await, Ok(false));
    assert_eq!(transport.all_sent(), []);
}
