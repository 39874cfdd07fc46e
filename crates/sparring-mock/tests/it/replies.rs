//! Choice of replies, and errors if none matches.

use serde_json::json;
use sparring_wire::Revision;

use crate::fixture::{call, call_text, connect, everywhere, mock};

#[tokio::test]
async fn gives_the_first_matching_reply_until_its_times_are_used_up() {
    let script = "
tools:
  - name: weather
    input: {city: string}
    replies:
      - when: {args: {city: London}}
        text: cloudy
      - text: first answer
        times: 1
      - text: second and third
        times: 2
      - text: all others
";
    everywhere(script, async |client, _| {
        let city = |city: &str| json!({"city": city});
        for expected in ["first answer", "second and third", "second and third", "all others"] {
            assert_eq!(call_text(client, "weather", city("London")).await, "cloudy");
            assert_eq!(call_text(client, "weather", city("Oslo")).await, expected);
        }
    })
    .await;
}

#[tokio::test]
async fn a_condition_looks_at_calls_and_revisions() {
    let script = "
tools:
  - name: a
    replies:
      - when: {calls: {gt: 2}}
        text: enough
      - when: {revision: {starts_with: \"2026\"}}
        text: modern
      - text: \"legacy, ${revision}\"
";
    everywhere(script, async |client, revision| {
        let first = match revision.is_modern() {
            true => "modern".to_owned(),
            false => format!("legacy, {revision}"),
        };
        for expected in [&*first, &first, "enough", "enough"] {
            assert_eq!(call_text(client, "a", json!({})).await, expected);
        }
    })
    .await;
}

#[tokio::test]
async fn names_the_nearest_reply_if_none_matches() {
    let script = "
tools:
  - name: a
    replies:
      - when: {args: {city: London, days: 3}}
        text: x
      - when: {args: {city: {starts_with: P}}}
        text: y
  - {name: once, replies: [{text: x, times: 1}]}
";
    everywhere(script, async |client, _| {
        let response = call(client, "a", json!({"city": "Oslo"})).await;
        assert!(response.is_error());
        assert_eq!(
            response.content(),
            "no reply of 'a' matches; the nearest is number 2: at args.city: expected a string that \
             starts with \"P\", found \"Oslo\""
        );
        assert!(call(client, "once", json!({})).await.success());
        let used_up = call_text(client, "once", json!({})).await;
        assert!(
            used_up.ends_with("the nearest is number 1: its `times` (1) are used up"),
            "{used_up}"
        );
    })
    .await;
}

#[tokio::test]
async fn error_is_a_json_rpc_error_and_is_error_a_result() {
    let script = "
tools:
  - {name: broken, error: {code: 50, message: \"no ${args.x}\", data: {why: [1]}}}
  - {name: vague, error: {message: no}}
  - {name: failed, text: sorry, is_error: true}
";
    everywhere(script, async |client, _| {
        let broken = call(client, "broken", json!({"x": "luck"})).await.error().unwrap();
        assert_eq!((broken.code, &*broken.message), (50, "no luck"));
        assert_eq!(broken.data, Some(json!({"why": [1]})));
        assert_eq!(call(client, "vague", json!({})).await.error_code(), Some(-32603));
        let failed = call(client, "failed", json!({})).await;
        assert!(failed.is_error() && failed.error().is_none() && failed.content() == "sorry");
    })
    .await;
}

#[tokio::test]
async fn rejects_invalid_arguments_as_the_revision_requires() {
    let script = "
tools:
  - {name: strict, input: {n: integer}, text: ok}
  - {name: lax, input: {n: integer}, validate: false, text: ok}
";
    everywhere(script, async |client, revision| {
        let response = call(client, "strict", json!({"n": "one"})).await;
        if revision >= Revision::V2025_11_25 {
            assert!(response.is_error() && response.error().is_none(), "{revision}");
            assert!(response.content().contains("\"one\" is not of type \"integer\""));
        } else {
            assert_eq!(response.error_code(), Some(-32602), "{revision}");
        }
        assert_eq!(call_text(client, "strict", json!({"n": 1})).await, "ok");
        assert_eq!(call_text(client, "lax", json!({"n": "one"})).await, "ok");
    })
    .await;
}

#[tokio::test]
async fn errors_do_not_repeat_long_names() {
    let script = "
tools: [{name: get_weather, text: x}]
templates: [{uri_template: \"a://{x}\", text: x}]
prompts: [{name: greet, text: x}]
";
    everywhere(script, async |client, _| {
        let long = format!("a://{}", "b".repeat(100_000));
        let error = call(client, &long, json!({})).await.error().unwrap();
        assert_eq!(error.message, "Tool not found: its name has 100004 bytes");
        let reported = client.get_prompt(&long, json!({})).await.unwrap_err().to_string();
        assert!(reported.contains("Prompt not found: its name has 100004 bytes"), "{reported}");
        let reported = client.read_resource(&long).await.unwrap_err().to_string();
        assert!(reported.contains("the URI has more than 65536 bytes"), "{reported}");
        assert!(reported.len() < 1_000, "{reported}");
    })
    .await;
}

#[tokio::test]
async fn suggests_the_nearest_name_for_unknown_entries() {
    let script = "
tools: [{name: get_weather, text: x}]
resources: [{uri: \"a://one\", text: x}]
prompts: [{name: greet, arguments: [{name: who, required: true}], text: x}]
";
    everywhere(script, async |client, revision| {
        let error = call(client, "get_wether", json!({})).await.error().unwrap();
        assert_eq!(error.code, -32602);
        assert_eq!(error.message, "Tool 'get_wether' not found; did you mean 'get_weather'?");
        let reported = client.read_resource("a://two").await.unwrap_err().to_string();
        let code = revision.resource_not_found_code().to_string();
        assert!(
            reported.contains("Resource 'a://two' not found") && reported.contains(&code),
            "{reported}"
        );
        let reported = client.get_prompt("gret", json!({})).await.unwrap_err().to_string();
        assert!(reported.contains("did you mean 'greet'?"), "{reported}");
        let reported = client.get_prompt("greet", json!({})).await.unwrap_err().to_string();
        assert!(reported.contains("missing argument 'who'"), "{reported}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn delays_an_answer_as_scripted() {
    let mock = mock(
        "seed: 1\ntools: [{name: a, delay: 200ms, text: x}, {name: b, delay: [1s, 2s], text: x}]",
    );
    let client = connect(&mock, Revision::LATEST).await;
    let took = async |tool: &str| {
        let began = tokio::time::Instant::now();
        call_text(&client, tool, json!({})).await;
        began.elapsed().as_millis()
    };
    assert!((200..=210).contains(&took("a").await));
    let between = took("b").await;
    assert!((1_000..=2_010).contains(&between), "{between}");
}
