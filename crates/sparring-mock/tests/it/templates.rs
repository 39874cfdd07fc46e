//! Values that templates of a reply can use.

use std::future::IntoFuture;

use serde_json::{Value, json};
use sparring_peer::Client;
use sparring_transport::http::{HttpLink, HttpTarget};
use sparring_wire::Revision;

use crate::fixture::{call, call_text, connect, listen, mock, within};

const SCRIPT: &str = "
vars: {host: \"http://h\", deep: {list: [1, 2]}}
seed: 7
tools:
  - {name: args, json: {whole: \"${args}\", one: \"${args.list[1]}\"}}
  - {name: vars, text: \"${vars.host}/${vars.deep.list[1]}\"}
  - {name: count, text: \"${counter.orders} ${counter.orders} ${counter.other} ${call}\"}
  - {name: calls, text: \"${calls.args.count} ${calls.args.last.list:-none} ${calls.calls.count}\"}
  - {name: random, json: [\"${random.int}\", \"${random.float}\", \"${random.hex}\", \"${random.uuid}\"]}
  - {name: clock, json: [\"${clock.iso}\", \"${clock.unix}\", \"${clock.ms}\"]}
  - {name: client, text: \"${client.name} ${client.version} ${revision}\"}
  - {name: headers, text: \"${headers.x-trace:-none}\", input: {}}
";

#[tokio::test]
async fn templates_use_arguments_variables_counters_and_earlier_calls() {
    let mock = mock(SCRIPT);
    let client = connect(&mock, Revision::LATEST).await;
    assert_eq!(call_text(&client, "calls", json!({})).await, "0 none 1");
    let given = json!({"list": ["a", {"b": null}]});
    let expected = json!({"whole": given, "one": {"b": null}}).to_string();
    assert_eq!(call_text(&client, "args", given).await, expected);
    assert_eq!(call_text(&client, "calls", json!({})).await, "1 [\"a\",{\"b\":null}] 2");
    assert_eq!(call_text(&client, "vars", json!({})).await, "http://h/2");
    assert_eq!(call_text(&client, "count", json!({})).await, "1 2 1 1");
    assert_eq!(call_text(&client, "count", json!({})).await, "3 4 2 2");
}

#[tokio::test]
async fn the_same_seed_gives_the_same_random_values() {
    let drawn = async || {
        let mock = mock(SCRIPT);
        let client = connect(&mock, Revision::LATEST).await;
        let text = call_text(&client, "random", json!({})).await;
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let first = drawn().await;
    assert_eq!(first, drawn().await);
    assert!(first[0].is_u64() && first[1].is_f64() && first[3].as_str().unwrap().len() == 36);
}

#[tokio::test]
async fn templates_use_the_system_clock() {
    let mock = mock(SCRIPT);
    let client = connect(&mock, Revision::LATEST).await;
    let now = || std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let before = now();
    let found: Value = serde_json::from_str(&call_text(&client, "clock", json!({})).await).unwrap();
    assert!((before..=now()).contains(&found[1].as_u64().unwrap()), "{found}");
    assert_eq!(found[2].as_u64().unwrap() / 1_000, found[1].as_u64().unwrap());
    assert!(found[0].as_str().is_some_and(|iso| iso.ends_with('Z')), "{found}");
}

#[tokio::test]
async fn templates_use_client_and_revision() {
    let mock = mock(SCRIPT);
    for revision in Revision::ALL {
        let builder = Client::builder().info("ann", "3.1").revision(revision);
        let client = within(builder.connect(mock.connect())).await.unwrap();
        assert_eq!(call_text(&client, "client", json!({})).await, format!("ann 3.1 {revision}"));
        assert_eq!(call_text(&client, "headers", json!({})).await, "none");
    }
    let serving = listen(&mock).await;
    let mut target = HttpTarget::new(mock.urls(serving.address().unwrap()).mcp);
    target.headers.push(("X-Trace".to_owned(), "t1".to_owned()));
    let client = within(Client::connect(HttpLink::new(&target).unwrap())).await.unwrap();
    let call = client.call_tool("headers", json!({})).into_future();
    assert_eq!(within(call).await.unwrap().content(), "t1");
}

#[tokio::test]
async fn an_undefined_name_is_an_error_with_its_position() {
    let mock = mock("tools:\n  - {name: a, text: \"to ${args.ctiy}\"}\n");
    let client = connect(&mock, Revision::LATEST).await;
    let error = call(&client, "a", json!({"city": "Oslo"})).await.error().unwrap();
    assert_eq!(error.code, -32603);
    assert_eq!(
        error.message,
        "mock.yaml:2:21: ${args.ctiy}: args has no key `ctiy`; did you mean 'city'?"
    );
}

#[tokio::test]
async fn conditions_use_headers_and_variables() {
    let script = "
vars: {token: abc}
tools:
  - name: a
    replies:
      - {when: {headers: {X-Token: \"${vars.token}\"}}, text: known}
      - {text: unknown}
";
    let mock = mock(script);
    let client = connect(&mock, Revision::LATEST).await;
    assert_eq!(call_text(&client, "a", json!({})).await, "unknown");
    let serving = listen(&mock).await;
    let mut target = HttpTarget::new(mock.urls(serving.address().unwrap()).mcp);
    target.headers.push(("x-token".to_owned(), "abc".to_owned()));
    let client = within(Client::connect(HttpLink::new(&target).unwrap())).await.unwrap();
    assert_eq!(call_text(&client, "a", json!({})).await, "known");
}
