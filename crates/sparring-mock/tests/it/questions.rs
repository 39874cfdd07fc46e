//! Questions to the client: by requests in one era, by results in the other.

use std::future::IntoFuture;

use serde_json::{Value, json};
use sparring_peer::client::ServerRequest;
use sparring_peer::{Client, Protocol};
use sparring_wire::{Revision, Side};

use crate::fixture::{call, call_text, connect, everywhere, mock, within};

const SCRIPT: &str = "
tools:
  - name: greet
    ask: {who: {elicitation: {message: \"name, ${args.title:-please}?\", requested_schema: {type: object, properties: {name: {type: string}}}}}}
    text: \"hello ${answers.who.content.name:-nobody}\"
  - name: rounds
    ask:
      - {who: {elicitation: {message: name?, requested_schema: {type: object, properties: {name: {type: string}}}}}}
      - say: {sampling: {messages: [{role: user, content: {type: text, text: \"about ${answers.who.content.name:-nobody}\"}}], max_tokens: 9}}
        where: {roots: {}}
    text: \"${answers.say.content.text:-nothing} in ${answers.where.roots[0].uri:-nowhere}\"
  - {name: needs, requires: [sampling, roots], text: fine}
  - name: once
    replies:
      - {times: 1, ask: {a: {roots: {}}}, text: \"first, call ${call}\"}
      - {text: \"second, call ${call}\"}
prompts:
  - {name: ask, ask: {who: {elicitation: {message: name?, requested_schema: {type: object, properties: {}}}}}, text: \"for ${answers.who.content.name:-nobody}\"}
resources:
  - {uri: \"a://b\", ask: {all: {roots: {}}}, text: \"${answers.all.roots[0].uri:-none}\"}
";

#[tokio::test]
async fn asks_questions_as_each_era_requires() {
    everywhere(SCRIPT, async |client, revision| {
        let can =
            revision.is_modern() || revision.request(Side::Server, "elicitation/create").is_some();
        let name = if can { "Ada" } else { "nobody" };
        assert_eq!(
            call_text(client, "greet", json!({})).await,
            format!("hello {name}"),
            "{revision}"
        );
        let rounds = call_text(client, "rounds", json!({})).await;
        assert_eq!(rounds, "forty-two in file:///here", "{revision}");
        assert_eq!(call_text(client, "once", json!({})).await, "first, call 1", "{revision}");
        assert_eq!(call_text(client, "once", json!({})).await, "second, call 2", "{revision}");
        let prompt = client.get_prompt("ask", json!({})).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some(&*format!("for {name}")));
        let read = client.read_resource("a://b").await.unwrap();
        assert_eq!(read.contents[0].text.as_deref(), Some("file:///here"));
    })
    .await;
}

#[tokio::test]
async fn does_not_ask_clients_that_cannot_answer() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let mock = mock(SCRIPT);
        let builder = Client::builder().revision(revision).roots(["file:///r"]);
        let client = within(builder.connect(mock.connect())).await.unwrap();
        assert_eq!(call_text(&client, "greet", json!({})).await, "hello nobody");
        assert_eq!(call_text(&client, "rounds", json!({})).await, "nothing in file:///r");
        let refused = call(&client, "needs", json!({})).await.error().unwrap();
        assert!(refused.message.contains("sampling"), "{refused}");
        let code = if revision.is_modern() { -32021 } else { -32600 };
        assert_eq!(refused.code, code);
        assert_eq!(client.transcript().violations(), []);
    }
    let mock = mock(SCRIPT);
    let client = connect(&mock, Revision::LATEST).await;
    assert_eq!(call_text(&client, "needs", json!({})).await, "fine");
}

#[tokio::test]
async fn a_client_that_refuses_to_answer_makes_the_tool_fail() {
    let mock = mock(SCRIPT);
    let builder = Client::builder().revision(Revision::LATEST_LEGACY);
    let builder = builder.answer(ServerRequest::Elicitation, |_| async {
        Err(sparring_wire::ErrorObject::new(-1, "not today"))
    });
    let client = within(builder.connect(mock.connect())).await.unwrap();
    let response = call(&client, "greet", json!({})).await;
    assert!(response.is_error());
    assert!(response.content().contains("elicitation/create was not answered"), "{response:?}");
    assert!(response.content().contains("not today"), "{response:?}");
}

/// A raw connection on which `requestState` can be changed.
struct ByHand(Client);

impl ByHand {
    async fn new(mock: &sparring_mock::MockServer) -> Self {
        let builder = Client::builder().protocol(Protocol::Raw);
        ByHand(within(builder.connect(mock.connect())).await.unwrap())
    }

    async fn send(&self, id: u32, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "sampling": {}, "roots": {}},
        });
        let frame = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let response = within(self.0.request_bytes(frame.to_string()).into_future()).await.unwrap();
        serde_json::from_slice(response.raw().bytes()).unwrap()
    }
}

fn accepted() -> Value {
    json!({"action": "accept", "content": {"name": "Ada"}})
}

#[tokio::test]
async fn a_request_state_cannot_be_forged_replayed_or_used_elsewhere() {
    let mock = mock(SCRIPT);
    let hand = ByHand::new(&mock).await;
    let first = hand.send(1, json!({"name": "greet", "arguments": {}})).await;
    assert_eq!(first["result"]["resultType"], "input_required");
    assert_eq!(first["result"]["inputRequests"]["who"]["params"]["message"], "name, please?");
    let state = first["result"]["requestState"].as_str().unwrap().to_owned();
    let retry = |tool: &str, arguments: Value, state: &str| {
        json!({"name": tool, "arguments": arguments, "requestState": state,
               "inputResponses": {"who": accepted()}})
    };
    let code = |answer: &Value| answer["error"]["code"].as_i64();
    let forged = hand.send(2, retry("greet", json!({}), &format!("{state}x"))).await;
    assert_eq!(code(&forged), Some(-32602));
    let good = hand.send(3, retry("greet", json!({}), &state)).await;
    assert_eq!(good["result"]["content"][0]["text"], "hello Ada");
    let replayed = hand.send(4, retry("greet", json!({}), &state)).await;
    assert_eq!(code(&replayed), Some(-32602));
    for (id, tool, arguments) in [(6, "rounds", json!({})), (8, "greet", json!({"title": "Dr"}))] {
        let fresh = hand.send(id, json!({"name": "greet", "arguments": {}})).await;
        let state = fresh["result"]["requestState"].as_str().unwrap().to_owned();
        let elsewhere = hand.send(id + 1, retry(tool, arguments, &state)).await;
        assert_eq!(code(&elsewhere), Some(-32602), "{tool}");
    }
}

#[tokio::test]
async fn asks_again_for_missing_and_invalid_answers() {
    let mock = mock(SCRIPT);
    let hand = ByHand::new(&mock).await;
    for (id, responses) in [
        (1, json!({"other": accepted()})),
        (2, json!({"who": 12345})),
        (3, json!({"who": {"action": "perhaps"}})),
    ] {
        let answer = hand
            .send(id, json!({"name": "greet", "arguments": {}, "inputResponses": responses}))
            .await;
        assert_eq!(answer["result"]["resultType"], "input_required", "{responses}");
    }
    let wrong = json!({"name": "greet", "arguments": {}, "inputResponses": null});
    assert_eq!(hand.send(4, wrong).await["error"]["code"], -32602);
    // A later round cannot be answered before it is asked.
    let eager = json!({"name": "rounds", "arguments": {}, "inputResponses": {
        "who": accepted(), "where": {"roots": [{"uri": "file:///x"}]},
        "say": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "early"}},
    }});
    let asked = hand.send(5, eager).await;
    let requests = asked["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["say", "where"]);
    assert_eq!(requests["say"]["params"]["messages"][0]["content"]["text"], "about Ada");
    assert_eq!(requests["say"]["params"]["maxTokens"], 9);
}
