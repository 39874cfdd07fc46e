//! Reloading a script while clients are connected.

use std::future::IntoFuture as _;
use std::time::Duration;

use serde_json::json;
use sparring_mock::{MockServer, Reply, Settings, ToolMock};
use sparring_peer::client::SubscriptionFilter;
use sparring_transport::http::HttpTransport;
use sparring_wire::Revision;

use crate::fixture::{TIMEOUT, call, call_text, connect, listen, mock, over_http, within};

const FIRST: &str = "
vars: {who: first}
tools:
  - {name: who, text: \"${vars.who} ${call} ${counter.a}\"}
  - {name: slow, delay: 1h, text: \"${vars.who}\"}
  - {name: gone, text: x}
prompts: [{name: p, text: x}]
";

const SECOND: &str = "
vars: {who: second}
tools:
  - {name: who, text: \"${vars.who} ${call} ${counter.a}\"}
  - {name: slow, text: \"${vars.who}\"}
prompts: [{name: p, text: other}]
resources: [{uri: \"a://b\", text: x}]
";

fn script(text: &str) -> MockServer {
    mock(text)
}

#[tokio::test]
async fn a_reload_changes_answers_and_keeps_the_journal() {
    for revision in Revision::ALL {
        let mock = mock(FIRST);
        let client = connect(&mock, revision).await;
        assert_eq!(call_text(&client, "who", json!({})).await, "first 1 1");
        assert_eq!(call_text(&client, "who", json!({})).await, "first 2 2");
        assert!(mock.reload(script(SECOND)).is_empty());
        assert_eq!(call_text(&client, "who", json!({})).await, "second 1 1", "{revision}");
        assert_eq!(mock.received_for("who").len(), 3);
        let gone = call(&client, "gone", json!({})).await.error().unwrap().message;
        assert!(gone.contains("Tool 'gone' not found"), "{gone}");
        let wrong = client.transcript().violations();
        assert!(wrong.is_empty(), "{revision}: {wrong:?}");
        // A handshake stays valid until the next.
        let agreed = within(client.request("resources/list", None).into_future()).await;
        assert_eq!(agreed.unwrap().error().is_none(), revision.is_modern(), "{revision}");
        let newer = connect(&mock, revision).await;
        newer.read_resource("a://b").await.unwrap();
    }
}

#[tokio::test]
async fn a_reload_notifies_of_changed_lists() {
    for revision in Revision::ALL {
        let mock = mock(FIRST);
        let client = connect(&mock, revision).await;
        let all = SubscriptionFilter {
            tools_list_changed: true,
            prompts_list_changed: true,
            resources_list_changed: true,
            ..SubscriptionFilter::default()
        };
        let listening = match revision.is_modern() {
            true => Some(within(client.listen(all)).await.unwrap()),
            false => None,
        };
        let changed = |list: &str| format!("notifications/{list}/list_changed");
        mock.reload(script(&FIRST.replace("text: x", "text: y")));
        mock.reload(script(&FIRST.replace("name: gone", "name: other")));
        client.notifications().wait_for(&changed("tools"), 1, TIMEOUT).await.unwrap();
        mock.reload(script(SECOND));
        client.notifications().wait_for(&changed("tools"), 2, TIMEOUT).await.unwrap();
        within(client.list_tools()).await.unwrap();
        assert_eq!(client.notifications().count(&changed("tools")), 2, "{revision}");
        assert_eq!(client.notifications().count(&changed("prompts")), 0, "{revision}");
        drop(listening);
    }
}

#[tokio::test(start_paused = true)]
async fn requests_in_flight_finish_with_the_old_script() {
    let mock = mock(FIRST);
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        mock.reload(script(FIRST));
        // The paused clock must not advance other timers.
        let client = sparring_peer::Client::builder()
            .revision(revision)
            .timeout(Duration::from_secs(7200))
            .connect(mock.connect())
            .await
            .unwrap();
        let slow = client.call_tool("slow", json!({})).start();
        client.ping().await.unwrap();
        client.list_tools().await.unwrap();
        mock.reload(script(SECOND));
        assert_eq!(call_text(&client, "slow", json!({})).await, "second");
        assert_eq!(slow.await.unwrap().content(), "first", "{revision}");
    }
}

#[tokio::test]
async fn a_paused_request_continues_with_the_old_script() {
    let asking = |name: &str, who: &str| {
        let ask = "ask: {q: {elicitation: {message: m, requested_schema: {type: object}}}}";
        script(&format!(
            "vars: {{who: {who}}}\ntools: [{{name: {name}, {ask}, text: \"${{vars.who}} ${{answers.q.action}}\"}}]"
        ))
    };
    let mock = std::sync::Arc::new(asking("ask", "first"));
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        mock.reload(asking("ask", "first"));
        let changing = std::sync::Arc::clone(&mock);
        let client = sparring_peer::Client::builder()
            .answer(sparring_peer::client::ServerRequest::Elicitation, move |_| {
                changing.reload(asking("other", "second"));
                async { Ok(json!({"action": "accept", "content": {}})) }
            })
            .revision(revision)
            .connect(mock.connect());
        let client = within(client).await.unwrap();
        assert_eq!(call_text(&client, "ask", json!({})).await, "first accept", "{revision}");
    }
}

#[tokio::test]
async fn a_reload_keeps_changes_made_at_run_time() {
    let mock = mock(FIRST);
    let client = connect(&mock, Revision::LATEST).await;
    mock.register(ToolMock::new("new").reply(Reply::text("n${call}"))).unwrap();
    mock.register(ToolMock::new("slow").reply(Reply::text("quick"))).unwrap();
    mock.remove("gone").unwrap();
    mock.enqueue("who", Reply::text("next")).unwrap();
    assert_eq!(call_text(&client, "new", json!({})).await, "n1");
    mock.reload(script(SECOND));
    assert_eq!(call_text(&client, "new", json!({})).await, "n2");
    assert_eq!(call_text(&client, "slow", json!({})).await, "quick");
    assert_eq!(call_text(&client, "who", json!({})).await, "next");
    assert_eq!(call_text(&client, "who", json!({})).await, "second 2 1");
    mock.reload(script(FIRST));
    assert_eq!(
        call_text(&client, "gone", json!({})).await,
        "x",
        "what the script has is there again"
    );
    mock.reset();
    assert!(
        call(&client, "new", json!({})).await.error().is_some(),
        "a reset leaves the script alone"
    );
}

#[tokio::test]
async fn a_reload_replaces_the_timers() {
    let timer = |name: &str| format!("tools: []\ntimers: [{{every: 1ms, notify: acme/{name}}}]");
    let mock = mock(&timer("a"));
    let client = connect(&mock, Revision::LATEST_LEGACY).await;
    let method = |name: &str| format!("notifications/acme/{name}");
    client.notifications().wait_for(&method("a"), 2, TIMEOUT).await.unwrap();
    mock.reload(script(&timer("b")));
    client.notifications().wait_for(&method("b"), 2, TIMEOUT).await.unwrap();
    let before = client.notifications().count(&method("a"));
    client.notifications().wait_for(&method("b"), 20, TIMEOUT).await.unwrap();
    assert_eq!(client.notifications().count(&method("a")), before);
}

#[tokio::test]
async fn a_reload_returns_keys_that_need_a_restart() {
    let mock = mock("tools: []");
    let fixed = |text: &str| mock.reload(script(text));
    assert_eq!(fixed("tools: []\nprotocol: 2025-11-25"), ["protocol"]);
    assert_eq!(fixed("auth: {bearer: [x]}\npaths: {mcp: /a}"), ["paths", "auth"]);
    assert_eq!(fixed("tools: []"), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_never_mixes_two_scripts() {
    let numbered = |n: usize| {
        script(&format!(
            "vars: {{n: {n}}}\ntools: [{{name: n, description: d{n}, during: [{{delay: 1ms}}], text: \"{n} ${{vars.n}} ${{call}}\"}}]"
        ))
    };
    let mock = numbered(0);
    let serving = listen(&mock).await;
    let mut calls = tokio::task::JoinSet::new();
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = over_http(&mock, &serving, revision, HttpTransport::Streamable).await;
        calls.spawn(async move {
            let mut seen = std::collections::HashSet::new();
            loop {
                let text = call_text(&client, "n", json!({})).await;
                let words: Vec<&str> = text.split(' ').collect();
                assert_eq!(words[0], words[1], "{text}");
                seen.insert(words[0].to_owned());
                if words[0] == "1000" {
                    return seen.len();
                }
            }
        });
    }
    for n in 1..=1000 {
        assert!(mock.reload(numbered(n)).is_empty());
        tokio::task::yield_now().await;
    }
    while let Some(seen) = within(calls.join_next()).await {
        assert!(seen.unwrap() >= 1);
    }
    assert!(mock.received().len() >= 2);
}

#[test]
fn returns_the_files_of_a_script_even_if_it_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.yaml");
    let text =
        "tools: [{name: a, image: {file: a.png}}]\nresources: [{uri: \"a://b\", file: b.txt}]";
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("b.txt"), "b").unwrap();
    let reading = MockServer::read(&path, &Settings::default());
    assert!(reading.mock.unwrap_err().to_string().contains("cannot read"));
    let expected = [path, folder.path().join("a.png"), folder.path().join("b.txt")];
    assert_eq!(reading.files, expected);
    let none = MockServer::read(folder.path().join("none.yaml"), &Settings::default());
    assert!(none.mock.is_err() && none.files == [folder.path().join("none.yaml")]);
}
