//! Snapshots: their text, their parts, and checks of the order.

use std::time::Duration;

use serde_json::json;
use sparring::link::LineLinkOptions;
use sparring::{Client, Content, Frame, LineLink, MockServer, Snapshot, Step};

use crate::failure::{client, client_with, failure_here};

const TIMEOUT: Duration = Duration::from_secs(20);

const SCRIPT: &str = r#"
server: {name: copier, version: 1.0.0}
tools:
  - name: copy
    during:
      - {progress: {progress: 1, total: 2, message: reading}}
      - {progress: {progress: 2, total: 2, message: writing}}
    text: done
  - name: back
    during: [{progress: 2}, {progress: 1}]
    text: done
  - {name: wait, delay: 60s, text: done}
  - {name: stubborn, delay: 500ms, text: done, fault: {late: true}}
  - {name: where, ask: {it: {roots: {}}}, text: here}
"#;

async fn call_copy(client: &Client) -> sparring::Response {
    client.call_tool("copy", json!({})).on_progress(|_| ()).await.unwrap()
}

#[tokio::test]
async fn the_text_has_a_line_for_each_message_of_both_sides() {
    let client = client(SCRIPT).await;
    call_copy(&client).await.assert_success();
    client.request("no/such", None).await.unwrap().assert_error_code(-32601);
    let messages = client.snapshot().without_lifecycle();
    assert_eq!(
        messages.to_string(),
        "→ tools/call #2 {\"name\":\"copy\",\"arguments\":{},\"_meta\":{\"progressToken\":2}}\n\
         ← notifications/progress {\"progress\":1.0,\"total\":2.0,\"message\":\"reading\",\"progressToken\":2}\n\
         ← notifications/progress {\"progress\":2.0,\"total\":2.0,\"message\":\"writing\",\"progressToken\":2}\n\
         ← answer to tools/call #2 {\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}\n\
         → no/such #3\n\
         ← error of no/such #3 {\"code\":-32601,\"message\":\"method not found: no/such\"}\n"
    );
}

#[tokio::test]
async fn the_text_is_the_same_in_every_run_and_omits_client_metadata() {
    let mut texts = Vec::new();
    for _ in 0..2 {
        let mock = MockServer::from_yaml(SCRIPT, ".").unwrap();
        let client = Client::in_memory(mock).await.unwrap();
        call_copy(&client).await.assert_success();
        texts.push(client.snapshot().to_string());
    }
    assert_eq!(texts[0], texts[1]);
    assert!(!texts[0].contains("clientInfo"), "{}", texts[0]);
}

#[tokio::test]
async fn parts_are_chosen_by_side_kind_and_method() {
    let client = client_with(Client::builder().roots(["file:///home"]), SCRIPT).await;
    client.call_tool("where", json!({})).await.unwrap().assert_text("here");
    let labels = |snapshot: Snapshot| -> Vec<String> {
        snapshot.iter().map(|message| message.label()).collect()
    };
    let all = client.snapshot();
    assert_eq!(labels(all.requests()), ["→ initialize", "→ tools/call", "← roots/list"],);
    assert_eq!(labels(all.method("roots/list")), ["← roots/list", "→ answer to roots/list"]);
    assert_eq!(
        labels(all.received().responses()),
        ["← answer to initialize", "← answer to tools/call"]
    );
    assert_eq!(labels(all.notifications()), ["→ notifications/initialized"]);
    all.sent().assert_count(4).assert_order([Step::client_response("roots/list")]);
    assert_eq!(all[0].frame.method(), Some("initialize"));
}

#[tokio::test]
async fn an_order_may_have_other_messages_in_between() {
    let client = client(SCRIPT).await;
    call_copy(&client).await.assert_success();
    let messages = client.snapshot();
    messages.assert_order([
        Step::sent("initialize"),
        Step::received("notifications/progress").with(json!({"progress": 2, "message": "writing"})),
        Step::response("tools/call"),
    ]);
    let steps = || {
        [
            Step::sent("tools/call"),
            Step::response("tools/call"),
            Step::received("notifications/progress"),
        ]
    };
    assert_eq!(
        failure_here(|| messages.without_lifecycle().assert_order(steps()).len()),
        "← notifications/progress was found, but not after ← answer to tools/call\nexpected:\n  \
         ✓ → tools/call\n  ✓ ← answer to tools/call\n  ✗ ← notifications/progress\nmessages:\n  \
         → tools/call\n  ← notifications/progress\n  ← notifications/progress\n  \
         ← answer to tools/call"
    );
    assert_eq!(
        failure_here(|| messages.method("ping").assert_order([Step::error("ping")]).len()),
        "← error of ping was not found\nexpected:\n  ✗ ← error of ping\nmessages: none"
    );
    assert!(
        failure_here(|| messages.assert_order([]))
            .starts_with("`assert_order` needs at least one step")
    );
}

#[tokio::test]
async fn an_exact_check_shows_the_difference_of_messages() {
    let client = client(SCRIPT).await;
    call_copy(&client).await.assert_success();
    let messages = client.snapshot().without_lifecycle();
    let progress = || Step::received("notifications/progress");
    let whole = [Step::sent("tools/call"), progress(), progress(), Step::response("tools/call")];
    messages.assert_exactly(whole);
    let less = [Step::sent("tools/call"), progress(), Step::error("tools/call")];
    assert_eq!(
        failure_here(|| messages.assert_exactly(less)),
        "the messages differ\nexpected (-) and found (+):\n    → tools/call\n    \
         ← notifications/progress\n  - ← error of tools/call\n  + ← notifications/progress\n  \
         + ← answer to tools/call"
    );
}

#[tokio::test]
async fn progress_is_checked_in_order() {
    let client = client(SCRIPT).await;
    let progress = call_copy(&client).await.progress();
    progress.assert_count(2).assert_in_order().assert_total(2.0);
    progress.assert_messages(["reading", "writing"]);
    assert_eq!(progress[0].message.as_deref(), Some("reading"));
    let reports = "progress:\n  1 of 2 \"reading\"\n  2 of 2 \"writing\"";
    assert_eq!(
        failure_here(|| progress.assert_count(3)),
        format!("tools/call copy: expected 3 progress reports, found 2\n{reports}")
    );
    assert_eq!(
        failure_here(|| progress.assert_messages(["reading", "checking"])),
        format!(
            "tools/call copy: message of progress report 2 differs\nexpected \"checking\"\n\
             found: \"writing\"\n{reports}"
        )
    );
    let back = client.call_tool("back", json!({})).on_progress(|_| ()).await.unwrap();
    assert_eq!(
        failure_here(|| back.progress().assert_in_order().len()),
        "tools/call back: progress went from 2 to 1\nprogress:\n  2\n  1"
    );
    let silent = client.call_tool("copy", json!({})).await.unwrap();
    assert_eq!(
        failure_here(|| silent.progress().assert_in_order().len()),
        "tools/call copy: expected progress, found none\nprogress: none"
    );
}

#[tokio::test]
async fn a_cancellation_has_its_reason_and_no_response_follows() {
    let client = client(SCRIPT).await;
    let call = client.call_tool("wait", json!({})).start();
    call.cancel(Some("no time"));
    assert!(call.await.is_err());
    client.ping().await.unwrap();
    let messages = client.snapshot();
    messages.assert_cancelled("tools/call", "no time");
    messages.assert_order([
        Step::sent("tools/call"),
        Step::sent("notifications/cancelled").with(json!({"requestId": 2})),
        Step::response("ping"),
    ]);
    let message = failure_here(|| messages.assert_cancelled("tools/call", Content::empty()));
    let expected = "the reason for cancelling tools/call differs\nexpected an empty text\n\
                    found: \"no time\"\n";
    assert!(message.starts_with(expected), "{message}");
    let message = failure_here(|| messages.assert_cancelled("ping", "no time"));
    assert!(message.starts_with("ping was not cancelled\nmessages:\n"), "{message}");
    let message = failure_here(|| messages.assert_cancelled("prompts/get", "no time"));
    assert!(message.starts_with("prompts/get was not requested\nmessages:\n"), "{message}");
}

#[tokio::test]
async fn a_response_after_the_cancellation_fails_the_check() {
    let client = client(SCRIPT).await;
    let call = client.call_tool("stubborn", json!({})).start();
    // The response to the ping shows that the server has received the call.
    client.ping().await.unwrap();
    call.cancel(Some("no time"));
    assert!(call.await.is_err());
    client.unclaimed().wait_for("late", 1, TIMEOUT).await.unwrap();
    let messages = client.snapshot();
    let message = failure_here(|| messages.assert_cancelled("tools/call", "no time"));
    let expected = "tools/call got a response after it was cancelled\n  ← answer to tools/call #2 ";
    assert!(message.starts_with(expected), "{message}");
}

const TASKS: &str = r#"
tools:
  - name: sort
    result: {task: &task {taskId: t1, status: working, createdAt: "2026-01-01T00:00:00Z", lastUpdatedAt: "2026-01-01T00:00:00Z", ttl: null}}
    after:
      - {notify: {method: tasks/status, params: {taskId: t1, status: working, createdAt: "2026-01-01T00:00:00Z", lastUpdatedAt: "2026-01-01T00:00:00Z", ttl: null}}}
      - {notify: {method: tasks/status, params: {taskId: t2, status: working, createdAt: "2026-01-01T00:00:00Z", lastUpdatedAt: "2026-01-01T00:00:00Z", ttl: null}}}
      - {notify: {method: tasks/status, params: {taskId: t1, status: completed, createdAt: "2026-01-01T00:00:00Z", lastUpdatedAt: "2026-01-01T00:00:00Z", ttl: null}}}
      - {notify: {method: tasks/status, params: {taskId: t2, status: failed, createdAt: "2026-01-01T00:00:00Z", lastUpdatedAt: "2026-01-01T00:00:00Z", ttl: null}}}
      - {notify: {method: tasks/status, params: {taskId: t2, status: working, createdAt: "2026-01-01T00:00:00Z", lastUpdatedAt: "2026-01-01T00:00:00Z", ttl: null}}}
"#;

#[tokio::test]
async fn the_statuses_of_a_task_are_checked_in_order() {
    let client = client(&TASKS.replace("&task ", "")).await;
    client.call_tool("sort", json!({})).await.unwrap().assert_success();
    client.wait_for_notifications(5).method("notifications/tasks/status").await.unwrap();
    let messages = client.snapshot();
    assert_eq!(messages.tasks(), ["t1", "t2"]);
    messages.assert_task("t1", ["working", "completed"]);
    let message =
        failure_here(|| messages.assert_task("t1", ["working", "input_required", "completed"]));
    let expected = "the statuses of task \"t1\" differ\n\
                    expected: working, input_required, completed\n   \
                    found: working, completed\n";
    assert!(message.starts_with(expected), "{message}");
    let message = failure_here(|| messages.assert_task("t2", ["working", "failed"]));
    let expected = "task \"t2\" became working after a final status\n\
                    statuses: working, failed, working\n";
    assert!(message.starts_with(expected), "{message}");
    let message = failure_here(|| messages.assert_task("t3", ["working"]));
    assert!(message.starts_with("no task \"t3\"\ntasks: t1, t2\n"), "{message}");
}

#[tokio::test]
async fn violations_are_reported_with_side_and_message() {
    let client = client(SCRIPT).await;
    call_copy(&client).await.assert_success();
    client.snapshot().assert_no_violations();
    client.call_tool("back", json!({})).on_progress(|_| ()).await.unwrap().assert_success();
    let message = failure_here(|| client.snapshot().assert_no_violations().len());
    assert_eq!(
        message,
        "protocol violations\n  server: ← notifications/progress\n    \
         progress/invalid at $.params.progress: progress must increase; the previous value \
         was 2 (2025-11-25/basic/utilities/progress#progress-flow)"
    );
}

#[tokio::test]
async fn invalid_messages_and_batches_are_labelled() {
    let (ours, theirs) = tokio::io::duplex(4096);
    let (read, write) = tokio::io::split(ours);
    let client = Client::builder()
        .protocol(sparring::Protocol::Raw)
        .connect(LineLink::new(read, write, LineLinkOptions::default()))
        .await
        .unwrap();
    let (mut read, mut write) = tokio::io::split(theirs);
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    client.send_bytes(r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]"#);
    let mut byte = [0];
    read.read_exact(&mut byte).await.unwrap();
    write.write_all(b"hello\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n").await.unwrap();
    client.unclaimed().wait_for("foreign", 1, TIMEOUT).await.unwrap();
    let messages = client.snapshot();
    let labels: Vec<String> = messages.iter().map(|message| message.label()).collect();
    assert_eq!(labels, ["→ a", "→ b", "← invalid message", "← answer to a"]);
    assert!(messages.to_string().contains("← invalid message \"hello\""), "{messages}");
    assert_eq!(messages[2].frame, Frame::parse("hello"));
}
