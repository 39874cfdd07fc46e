//! Requests beside the conversation: turns outside the order, models, tokens, embeddings.

use serde_json::json;

use super::agent::{ask, body, request, send, send_user_message, start, with};

#[tokio::test]
async fn a_turn_with_when_answers_outside_the_order() {
    let script = "openai: [{text: one}, {when: {user: {contains: title}}, text: a title, repeat: 2}, \
                  {text: two}]";
    let llm = start(script).await;
    let mut texts = Vec::new();
    for user in ["title?", "hi", "title?", "title?"] {
        texts.push(send_user_message(&llm, user).await.text());
    }
    assert_eq!(texts, ["a title", "one", "a title", "two"]);
    llm.verify();
    assert_eq!(llm.requests()[0].turn(), Some(2));
}

#[tokio::test]
async fn reports_turns_that_were_not_requested() {
    let script = "openai: [{text: one}, {text: two, repeat: 2}, {text: three}, \
                  {when: {user: title}, text: x, optional: true}]\ncases: {other: [{text: x}]}";
    let llm = start(script).await;
    assert!(llm.unused_turns(false).is_empty());
    assert_eq!(llm.unused_turns(true).len(), 3);
    send_user_message(&llm, "hi").await;
    send_user_message(&llm, "hi").await;
    let unused: Vec<String> = llm.unused_turns(false).into_iter().map(|it| it.message).collect();
    assert_eq!(unused, ["turn 2 was requested 1 of 2 times", "turn 3 was never requested"]);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| llm.verify()));
    assert!(panic.is_err(), "verify fails while turns are missing");
}

#[tokio::test]
async fn answers_models_tokens_embeddings_and_health() {
    let llm = start("turns: [{text: x}]\nmodels: [m]").await;
    let client = reqwest::Client::new();
    let get = async |path: &str| send(client.get(format!("{}{path}", llm.url()))).await;
    assert_eq!(get("/health").await.json(), json!({"status": "ok"}));
    assert_eq!(get("/v1/models/m").await.json()["id"], "m");
    assert_eq!(get("/v1/models/other").await.status, 404);
    assert_eq!(get("/v1beta/models").await.json()["models"][0]["name"], "models/m");
    let post = async |path: &str, body: serde_json::Value| {
        let request = client.post(format!("{}{path}", llm.url())).body(body.to_string());
        send(request.header("anthropic-version", "2023-06-01")).await
    };
    let counted = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let counted = post("/v1/messages/count_tokens", counted).await.json();
    assert!(counted["input_tokens"].as_u64().unwrap() > 5, "{counted}");
    let inputs = json!({"model": "m", "input": ["a", "a", "b"], "dimensions": 4});
    let data = post("/v1/embeddings", inputs).await.json()["data"].clone();
    assert_eq!(data[0]["embedding"].as_array().unwrap().len(), 4);
    assert_eq!(data[0]["embedding"], data[1]["embedding"]);
    assert_ne!(data[0]["embedding"], data[2]["embedding"]);
    assert!(llm.unused_turns(false).is_empty(), "none of these takes a turn");
}

#[tokio::test]
async fn reads_compressed_bodies() {
    use std::io::Write as _;
    let llm = start("openai: [{expect: {user: hi}, text: a, repeat: 2}]").await;
    let text = body(&llm, "hi").to_string();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    deflate.write_all(text.as_bytes()).unwrap();
    let deflate = deflate.finish().unwrap();
    let ask = async |encoding: &str, body: Vec<u8>| {
        let url = format!("{}/chat/completions", llm.url());
        let request = reqwest::Client::new().post(url).header("content-encoding", encoding);
        send(request.body(body)).await
    };
    assert_eq!(ask("gzip", gzip.clone()).await.text(), "a");
    assert_eq!(ask("deflate", deflate).await.text(), "a");
    assert_eq!(ask("gzip", text.into_bytes()).await.status, 400);
    assert_eq!(ask("gzip", gzip[..gzip.len() / 2].to_vec()).await.status, 400);
    assert_eq!(ask("br", gzip).await.status, 415);
    // A small body may become a large one.
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    bomb.write_all(&vec![b' '; 33 * 1024 * 1024]).unwrap();
    assert_eq!(ask("gzip", bomb.finish().unwrap()).await.status, 413);
    assert_eq!(llm.requests()[0].to_json()["user"], "hi");
}

#[tokio::test]
async fn sends_as_many_choices_as_requested() {
    let llm = start("openai: [{text: a, repeat: 2}]").await;
    let two = with(body(&llm, "hi"), json!({"n": 2}));
    let choices = ask(&llm, &two).await.json()["choices"].clone();
    assert_eq!((&choices[0]["index"], &choices[1]["index"]), (&json!(0), &json!(1)));
    assert_eq!(choices[1]["message"]["content"], "a");
    let streamed = ask(&llm, &with(two, json!({"stream": true}))).await.text;
    assert!(streamed.contains("\"index\":1"), "{streamed}");
}

#[tokio::test]
async fn a_misfit_is_final_if_no_request_fits_soon() {
    let llm = start("openai: [{expect: {user: hello}, text: x}]").await;
    send_user_message(&llm, "hi").await;
    llm.stuck(std::time::Duration::from_millis(10)).await;
    send_user_message(&llm, "hello").await;
    let stuck = llm.stuck(std::time::Duration::from_millis(10));
    let waited = tokio::time::timeout(std::time::Duration::from_millis(50), stuck).await;
    assert!(waited.is_err(), "a request that fits ends it");
    let other = send(request(&llm, &json!({}))).await;
    assert_eq!(other.status, 400);
}
