//! Whose turn it is: cases by directives, repeated turns, and what is over.

use tokio::task::JoinSet;

use super::agent::{ask, body, say, send, start};

#[tokio::test]
async fn each_case_has_its_turns_and_who_has_no_own_gets_the_others() {
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
        assert_eq!(say(&llm, text).await.said(), expected, "{text}");
    }
    for (text, told) in [
        ("hi", "turn 3 was asked for, and there are only 2"),
        ("[test_case_id=a]", "case 'a': turn 2 was asked for, and there are only 1"),
        ("[test_case_id=b.c-1]", "case 'b.c-1': turn 1 was asked for, and there are only 0"),
    ] {
        let reply = say(&llm, text).await;
        assert_eq!((reply.status, &*reply.error()), (500, told));
    }
    llm.reset();
    assert_eq!(say(&llm, "hi").await.said(), "one");
}

#[tokio::test]
async fn a_case_without_turns_is_told_with_those_that_have_some() {
    let llm = start("anthropic: []\ncases: {weather: [{text: x}], news: [{text: y}]}").await;
    let told = say(&llm, "[test_case_id=wether]").await.error();
    assert_eq!(told, "case 'wether' has no turns; did you mean 'weather'?");
    let told = say(&llm, "[test_case_id=zzz]").await.error();
    assert_eq!(told, "case 'zzz' has no turns; there are news, weather");
    let told = say(&llm, "hi").await.error();
    assert_eq!(told, "the user says no [test_case_id=…], and only cases have turns");
}

#[tokio::test]
async fn the_case_is_what_the_user_named_last() {
    let llm = start("openai: []\ncases: {a: [{text: of a}], b: [{text: of b}]}").await;
    let mut asked = body(&llm, "[test_case_id=a]");
    let messages = asked["messages"].as_array_mut().unwrap();
    messages.push(serde_json::json!({"role": "assistant", "content": "[test_case_id=a]"}));
    messages.push(serde_json::json!({"role": "user", "content": "[test_case_id=b]"}));
    messages.push(serde_json::json!({"role": "user", "content": "go on"}));
    assert_eq!(ask(&llm, &asked).await.said(), "of b");
}

#[tokio::test]
async fn turns_are_repeated_so_often_or_for_ever() {
    let llm = start("openai: [{text: a, repeat: 2}, {text: b}, {text: c, repeat: always}]").await;
    let mut said = String::new();
    for _ in 0..6 {
        said += &say(&llm, "hi").await.said();
    }
    assert_eq!(said, "aabccc");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_conversations_at_once_never_mix() {
    let llm = start(
        "openai: [{text: \"1 ${case}\", delay: 5ms}, {text: \"2 ${case}\"}, {text: \"3 ${case}\"}]",
    )
    .await;
    let mut talking = JoinSet::new();
    for case in 0..50 {
        let text = format!("[test_case_id=c{case}]");
        let turns = [(); 3].map(|()| super::agent::request(&llm, &body(&llm, &text)));
        talking.spawn(async move {
            let mut said = Vec::new();
            for turn in turns {
                said.push(send(turn).await.said());
            }
            assert_eq!(said, ["1", "2", "3"].map(|turn| format!("{turn} c{case}")));
        });
    }
    while let Some(done) = talking.join_next().await {
        done.unwrap();
    }
    assert_eq!((llm.total(), llm.misses()), (150, vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_requests_at_once_in_one_case_get_a_turn_each() {
    let llm = start("openai: [{text: a, delay: 20ms}, {text: b, delay: 20ms}]").await;
    let asked = || send(super::agent::request(&llm, &body(&llm, "[test_case_id=x]")));
    let (one, two) = tokio::join!(asked(), asked());
    let mut said = [one.said(), two.said()];
    said.sort();
    assert_eq!(said, ["a", "b"]);
    let turns: Vec<_> = llm.requests().iter().map(|it| it.turn()).collect();
    assert_eq!(turns, [Some(1), Some(2)]);
}
