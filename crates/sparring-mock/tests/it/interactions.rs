//! `get_data`: a queue of responses for each test case.

use std::future::IntoFuture;

use serde_json::{Value, json};
use sparring_mock::{MockServer, Settings, directives};
use sparring_wire::Revision;

use crate::fixture::{call, connect, everywhere, listen, mock, over_http, result, within};

fn task(text: &str) -> Value {
    json!({"task_description": text})
}

/// Responses with content of every kind, in snake_case.
fn kinds() -> Value {
    json!([
        {"content": [{"type": "text", "text": "one"}]},
        {"content": [{"type": "image", "data": "AAEC", "mime_type": "image/png"}]},
        {"content": [{"type": "audio", "data": "AAEC", "mime_type": "audio/wav"}]},
        {"content": [{"type": "resource", "resource": {"uri": "a://b", "mime_type": "text/csv", "text": "a,b"}}]},
        {"content": [{"type": "resource_link", "uri": "a://b", "name": "b", "mime_type": "text/plain"}]},
        {"content": [{"type": "text", "text": "{}"}], "structured_content": {"snake_case": 1}, "is_error": true,
         "_meta": {"a_b": 1}},
    ])
}

#[tokio::test]
async fn arguments_in_a_response_pass_through_unchanged() {
    let mock = MockServer::for_interactions(&Settings::default()).unwrap();
    let client = connect(&mock, Revision::LATEST_LEGACY).await;
    let arguments = json!({"user_name": {"first_name": "Ada"}, "mime_type": "x"});
    let responses = json!([
        {"content": [], "next_call": {"tool_name": "greet", "arguments": arguments}},
    ]);
    let answer = result(&client, "get_data", task(&directives("case", &responses))).await;
    assert_eq!(answer["nextCall"], json!({"toolName": "greet", "arguments": arguments}));
}

#[tokio::test]
async fn fills_a_queue_once_and_serves_it_in_order_without_a_script() {
    let mock = MockServer::for_interactions(&Settings::default()).unwrap();
    let serving = listen(&mock).await;
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let transport = sparring_transport::http::HttpTransport::Streamable;
        let client = over_http(&mock, &serving, revision, transport).await;
        let case = format!("case-{revision}");
        let text = format!("do it {} now", directives(&case, &kinds()));
        let expected = [
            json!({"content": [{"type": "text", "text": "one"}]}),
            json!({"content": [{"type": "image", "data": "AAEC", "mimeType": "image/png"}]}),
            json!({"content": [{"type": "audio", "data": "AAEC", "mimeType": "audio/wav"}]}),
            json!({"content": [{"type": "resource", "resource":
                {"uri": "a://b", "mimeType": "text/csv", "text": "a,b"}}]}),
            json!({"content": [{"type": "resource_link", "uri": "a://b", "name": "b", "mimeType": "text/plain"}]}),
            json!({"content": [{"type": "text", "text": "{}"}], "structuredContent": {"snake_case": 1},
                "isError": true, "_meta": {"a_b": 1}}),
        ];
        for (turn, expected) in expected.into_iter().enumerate() {
            // Agents repeat their input: responses for a case that has started are ignored, and
            // may be missing.
            let text = match turn {
                0 => text.clone(),
                1 => format!("[test_case_id={case}] go on"),
                _ => directives(&case, &json!([{"content": []}])),
            };
            assert_eq!(
                result(&client, "get_data", task(&text)).await,
                expected,
                "{revision} {turn}"
            );
        }
        let empty = call(&client, "get_data", task(&text)).await;
        assert!(empty.is_error());
        let reported = empty.content();
        assert!(
            reported.contains(&case) && reported.contains("[mcp_responses_json=…] had 6"),
            "{reported}"
        );
    }
}

#[tokio::test]
async fn reports_misuse_with_the_case_and_the_directive() {
    let mock = MockServer::for_interactions(&Settings::default()).unwrap();
    let client = connect(&mock, Revision::LATEST).await;
    for (text, parts) in [
        ("nothing", vec!["[test_case_id=…]"]),
        ("[test_case_id=a b]", vec!["[test_case_id=…]"]),
        ("[test_case_id=a1]", vec!["a1", "[mcp_responses_json=…]"]),
        (
            "[test_case_id=a2] [mcp_responses_json=%%]",
            vec!["a2", "[mcp_responses_json=…] is not Base64"],
        ),
        ("[test_case_id=a3] [mcp_responses_json=]", vec!["a3", "not JSON"]),
        (
            "[test_case_id=a4] [mcp_responses_json=WzE=]",
            vec!["a4", "[mcp_responses_json=…] is not JSON"],
        ),
        ("[test_case_id=a5] [mcp_responses_json=e30=]", vec!["a5", "not a list"]),
    ] {
        let response = call(&client, "get_data", task(text)).await;
        assert!(response.is_error(), "{text}");
        let reported = response.content();
        assert!(parts.iter().all(|part| reported.contains(part)), "{text}: {reported}");
    }
    // A case that failed to load has not started.
    let good = directives("a2", &json!([{"content": [{"type": "text", "text": "now"}]}]));
    assert_eq!(call(&client, "get_data", task(&good)).await.content(), "now");
    let failing = directives("a6", &json!([{"error": {"code": 5, "message": "no"}}]));
    assert_eq!(call(&client, "get_data", task(&failing)).await.error_code(), Some(5));
    assert!(call(&client, "get_data", json!({})).await.is_error());
}

#[tokio::test]
async fn a_script_has_responses_for_every_case() {
    let script = "
mcp_interactions:
  - content: [{type: text, text: first}]
  - content: [{type: image, data: AAEC, mime_type: image/png}]
";
    everywhere(script, async |client, _| {
        for text in ["[test_case_id=a]", "[test_case_id=b]", "no directive at all"] {
            assert_eq!(call(client, "get_data", task(text)).await.content(), "first", "{text}");
        }
        let second = result(client, "get_data", task("[test_case_id=a]")).await;
        assert_eq!(second["content"][0]["mimeType"], "image/png");
    })
    .await;
    let reported =
        MockServer::from_yaml("mcp_interactions: []\ntools: [{name: get_data, text: x}]", ".");
    assert!(reported.unwrap_err().to_string().contains("the tool `get_data` already exists"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_concurrent_cases_never_mix() {
    let mock = mock("mcp_interactions: []");
    let clients =
        [connect(&mock, Revision::LATEST).await, connect(&mock, Revision::LATEST_LEGACY).await];
    let one = |number: usize| {
        let client = clients[number % 2].clone();
        async move {
            let turn = |turn: usize| json!({"content": [{"type": "text", "text": format!("{number}/{turn}")}]});
            let text = directives(&format!("case-{number}"), &json!([turn(0), turn(1), turn(2)]));
            for expected in 0..3 {
                let call = client.call_tool("get_data", task(&text)).into_future();
                assert_eq!(within(call).await.unwrap().content(), format!("{number}/{expected}"));
            }
        }
    };
    futures_util::future::join_all((0..5_000).map(one)).await;
}
