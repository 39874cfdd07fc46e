//! Test cases: directives, repeated turns and finished cases.

use tokio::task::JoinSet;

use super::agent::{ask, body, send, send_user_message, start};

#[tokio::test]
async fn each_case_has_its_turns_and_others_get_the_default() {
    let llm = start(
        "openai: [{text: one}, {text: two}]\ncases: {a: [{text: \"first of ${case}\"}], b.c-1: []}",
    )
    .await;
    for (text, expected) in [
        ("hi", "one"),
        ("do [test_case_id=a] it", "first of a"),
        ("[test_case_id=other]", "one"),
        ("hi", "two"),
        ("[test_case_id=other]", "two"),
    ] {
        assert_eq!(send_user_message(&llm, text).await.text(), expected, "{text}");
    }
    for (text, reported) in [
        ("hi", "turn 3 was requested, but the script has only 2"),
        ("[test_case_id=a]", "case 'a': turn 2 was requested, but the script has only 1"),
        ("[test_case_id=b.c-1]", "case 'b.c-1': turn 1 was requested, but the script has only 0"),
    ] {
        let reply = send_user_message(&llm, text).await;
        assert_eq!((reply.status, &*reply.error()), (400, reported));
    }
    llm.reset();
    assert_eq!(send_user_message(&llm, "hi").await.text(), "one");
}

#[tokio::test]
async fn reports_an_unknown_case_with_the_known_ones() {
    let llm = start("anthropic: []\ncases: {weather: [{text: x}], news: [{text: y}]}").await;
    let reported = send_user_message(&llm, "[test_case_id=wether]").await.error();
    assert_eq!(reported, "case 'wether' has no turns; did you mean 'weather'?");
    let reported = send_user_message(&llm, "[test_case_id=zzz]").await.error();
    assert_eq!(reported, "case 'zzz' has no turns; cases: news, weather");
    let reported = send_user_message(&llm, "hi").await.error();
    assert_eq!(
        reported,
        "the user message has no [test_case_id=…], and the script has turns only for cases"
    );
}

#[tokio::test]
async fn uses_the_last_case_id_of_the_user() {
    let llm = start("openai: []\ncases: {a: [{text: of a}], b: [{text: of b}]}").await;
    let mut asked = body(&llm, "[test_case_id=a]");
    let messages = asked["messages"].as_array_mut().unwrap();
    messages.push(serde_json::json!({"role": "assistant", "content": "[test_case_id=a]"}));
    messages.push(serde_json::json!({"role": "user", "content": "[test_case_id=b]"}));
    messages.push(serde_json::json!({"role": "user", "content": "go on"}));
    assert_eq!(ask(&llm, &asked).await.text(), "of b");
}

#[tokio::test]
async fn repeats_turns_as_scripted() {
    let llm = start("openai: [{text: a, repeat: 2}, {text: b}, {text: c, repeat: always}]").await;
    let mut texts = String::new();
    for _ in 0..6 {
        texts += &send_user_message(&llm, "hi").await.text();
    }
    assert_eq!(texts, "aabccc");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_conversations_never_mix() {
    let llm = start(
        "openai: [{text: \"1 ${case}\", delay: 5ms}, {text: \"2 ${case}\"}, {text: \"3 ${case}\"}]",
    )
    .await;
    let mut talking = JoinSet::new();
    for case in 0..50 {
        let text = format!("[test_case_id=c{case}]");
        let turns = [(); 3].map(|()| super::agent::request(&llm, &body(&llm, &text)));
        talking.spawn(async move {
            let mut texts = Vec::new();
            for turn in turns {
                texts.push(send(turn).await.text());
            }
            assert_eq!(texts, ["1", "2", "3"].map(|turn| format!("{turn} c{case}")));
        });
    }
    while let Some(done) = talking.join_next().await {
        done.unwrap();
    }
    assert_eq!((llm.total(), llm.mismatches()), (150, vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_of_a_case_get_one_turn_each() {
    let llm = start("openai: [{text: a, delay: 20ms}, {text: b, delay: 20ms}]").await;
    let asked = || send(super::agent::request(&llm, &body(&llm, "[test_case_id=x]")));
    let (one, two) = tokio::join!(asked(), asked());
    let mut texts = [one.text(), two.text()];
    texts.sort();
    assert_eq!(texts, ["a", "b"]);
    let turns: Vec<_> = llm.requests().iter().map(|it| it.turn()).collect();
    assert_eq!(turns, [Some(1), Some(2)]);
}
