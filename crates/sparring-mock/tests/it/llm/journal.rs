//! The journal of an endpoint, without keys.

use serde_json::{Value, json};

use super::agent::{body, request, send, send_user_message, start};

#[tokio::test]
async fn records_requests_in_shared_and_original_form() {
    let llm = start("anthropic: [{text: one}]").await;
    send_user_message(&llm, "hi [test_case_id=a]").await;
    send_user_message(&llm, "more").await;
    send_user_message(&llm, "again [test_case_id=a]").await;
    let requests = llm.requests();
    let of = |at: usize| (requests[at].case(), requests[at].turn(), requests[at].status());
    assert_eq!((of(0), of(1)), ((Some("a"), Some(1), 200), (None, Some(1), 200)));
    assert_eq!(of(2), (Some("a"), None, 400));
    assert!(requests[2].mismatch().unwrap().message.contains("turn 2 was requested"));
    let value = requests[0].to_json();
    assert_eq!(value["user"], "hi [test_case_id=a]");
    assert_eq!((&value["case"], &value["turn"]), (&json!("a"), &json!(1)));
    assert_eq!(value["body"]["max_tokens"], 100);
    assert_eq!(value["path"], "/v1/messages");
    let answered: Value = serde_json::from_str(&requests[0].to_line()).unwrap();
    assert_eq!(answered["answer"], json!({"text": "one"}));
    assert_eq!(requests[0].answer().unwrap().text.as_deref(), Some("one"));
    let line: Value = serde_json::from_str(&requests[2].to_line()).unwrap();
    assert_eq!((&line["status"], &line["case"]), (&json!(400), &json!("a")));
    assert_eq!(line["miss"]["rule"], "llm/unexpected-turn");
}

#[tokio::test]
async fn does_not_record_api_keys() {
    let llm = start("openai: [{expect: {headers: {x-api-key: sk-1}}, text: hi}]").await;
    let (sender, lines) = std::sync::mpsc::channel();
    llm.on_request(move |request| sender.send(request.to_line()).unwrap());
    let mut asked = request(&llm, &body(&llm, "hi"));
    for name in ["authorization", "x-api-key", "api-key", "cookie"] {
        asked = asked.header(name, "sk-1");
    }
    assert_eq!(send(asked).await.status, 200, "what is expected of a key is looked at");
    let all = format!("{:?} {} {:?}", llm.requests(), lines.recv().unwrap(), llm);
    assert!(!all.contains("sk-1"), "{all}");
    assert!(all.contains("(hidden)"), "{all}");
}
