//! Every failure of a child is reported at once and names the problem.

use std::time::{Duration, Instant};

use sparring_peer::client::Error;
use sparring_transport::{ChildError, ChildLink, ChildTarget};

use crate::script::{HANDSHAKE, READ_REQUEST, READ_UNTIL_END, call, connect, shell, within};

/// Checks that a call which is answered in this way fails with all of these words, long before
/// its timeout.
async fn call_fails(after: &str, words: &[&str]) -> Error {
    let began = Instant::now();
    let (outcome, client) = call(after).await;
    let error = outcome.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(4), "took {:?}", began.elapsed());
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
    within(client.close()).await;
    error
}

#[test]
fn names_a_missing_command() {
    let error = try_start(&ChildTarget::new("no-such-server")).unwrap_err();
    assert_eq!(error.to_string(), "command not found: no-such-server");
}

#[test]
fn reports_a_file_that_is_not_executable() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server");
    std::fs::write(&file, "text").unwrap();
    let error = try_start(&ChildTarget::new(file.to_string_lossy())).unwrap_err();
    assert!(matches!(error, ChildError::NotExecutable { .. }), "{error}");
}

#[test]
fn distinguishes_a_missing_folder_from_a_missing_command() {
    let mut target = shell("true");
    target.cwd = Some("/no/such/folder".into());
    let error = try_start(&target).unwrap_err();
    assert!(matches!(error, ChildError::NoDirectory { .. }), "{error}");
}

fn try_start(target: &ChildTarget) -> Result<(), ChildError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _guard = runtime.enter();
    ChildLink::spawn(target).map(drop)
}

#[tokio::test]
async fn reports_an_exit_at_the_start_with_status_and_stderr() {
    let (client, _, _) = connect("echo 'cannot open config' >&2; exit 3").await;
    let message = client.unwrap_err().to_string();
    assert!(message.contains("exited with status 3 before it answered initialize"), "{message}");
    assert!(message.ends_with("its stderr ends with:\ncannot open config"), "{message}");
}

#[tokio::test]
async fn reports_the_signal_that_killed_a_child() {
    let (client, _, _) = connect("kill -SEGV $$").await;
    let message = client.unwrap_err().to_string();
    assert!(message.contains("killed by SIGSEGV"), "{message}");
}

#[tokio::test]
async fn a_banner_before_the_first_frame_does_no_harm() {
    let (client, _, _) =
        connect(&format!("echo 'Welcome!'\necho\n{HANDSHAKE}{READ_UNTIL_END}")).await;
    let client = client.unwrap();
    assert_eq!(client.unclaimed().count("noise"), 1);
    within(client.close()).await;
}

#[tokio::test]
async fn reports_wrong_answers_at_once() {
    for (answer, words) in [
        (r#"{"jsonrpc":"1.0","id":2,"result":{}}"#, ["\"1.0\"", "tools/call"]),
        (
            r#"{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":"m"}}"#,
            ["wire/result-and-error", "tools/call"],
        ),
        (r#"{"jsonrpc":"2.0","id":2}"#, ["wire/empty-message", "tools/call"]),
        (r#"{"jsonrpc":"2.0","id":"2","result":{}}"#, ["id \"2\"", "id 2"]),
        (r#"{"jsonrpc":"2.0","id":2,"result":{"content":["#, ["wire/not-json", "tools/call"]),
        ("oops, a traceback", ["wire/not-json", "oops, a traceback"]),
        (r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, ["id 99", "id 2"]),
    ] {
        call_fails(&format!("echo '{answer}'\n{READ_UNTIL_END}"), &words).await;
    }
}

#[tokio::test]
async fn reports_an_exit_during_a_call_at_once_with_the_end_of_stderr() {
    let error =
        call_fails("echo half way >&2; kill -KILL $$", &["SIGKILL", "half way", "tools/call"])
            .await;
    assert!(matches!(error, Error::Closed { .. }), "{error}");
}

#[tokio::test]
async fn reports_an_exit_while_other_processes_keep_stdout_open() {
    call_fails("sleep 30 & exit 5", &["exited with status 5", "tools/call"]).await;
}

#[tokio::test]
async fn reports_the_closed_stdout_of_a_running_child() {
    call_fails(
        &format!("exec >&-\n{READ_UNTIL_END}"),
        &["closed its stdout without exiting", "tools/call"],
    )
    .await;
}

#[tokio::test]
async fn reports_the_closed_stdin_of_a_running_child_to_unsent_requests() {
    let script = format!(
        "{HANDSHAKE}exec <&-\necho '{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}}'\nsleep 30"
    );
    let (client, _, _) = connect(&script).await;
    let client = client.unwrap();
    client.notifications().wait_for("notifications/x", 1, Duration::from_secs(10)).await.unwrap();
    let error = within(client.request("tools/call", None).into_future()).await.unwrap_err();
    assert!(error.to_string().contains("stopped reading"), "{error}");
    within(client.close()).await;
}

#[tokio::test]
async fn reports_a_missing_answer_with_method_and_time() {
    let (client, _, _) = connect(&format!("{HANDSHAKE}{READ_UNTIL_END}")).await;
    let client = client.unwrap();
    let call = client.request("tools/call", None).timeout(Duration::from_millis(100));
    assert_eq!(
        within(call.into_future()).await.unwrap_err().to_string(),
        "no answer to tools/call within 100ms"
    );
    within(client.close()).await;
}

#[tokio::test]
async fn ten_megabytes_of_stderr_block_nothing_and_only_the_end_is_kept() {
    let flood = "head -c 10000000 /dev/zero | tr '\\0' 'x' >&2\necho 'the end' >&2\n";
    let (client, stderr, _) = connect(&format!("{flood}{HANDSHAKE}{READ_UNTIL_END}")).await;
    let client = client.unwrap();
    within(client.close()).await;
    assert_eq!(stderr.total_bytes(), 10_000_008);
    assert!(stderr.text().len() <= 64 * 1024 && stderr.text().ends_with("the end\n"));
}

#[tokio::test]
async fn a_line_that_is_too_long_names_the_limit_and_the_next_is_read() {
    let mut target = shell(&format!(
        "{HANDSHAKE}{READ_REQUEST}printf '{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"x\":\"'\nhead -c 100000000 /dev/zero | tr '\\0' 'x'\necho '\"}}}}'\n{READ_REQUEST}echo '{{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{{}}}}'\n{READ_UNTIL_END}"
    ));
    target.max_line = 1_000_000;
    let link = ChildLink::spawn(&target).unwrap();
    let builder = sparring_peer::Client::builder().revision(sparring_wire::Revision::V2025_11_25);
    let client = within(builder.connect(link)).await.unwrap();
    let error = within(client.request("tools/call", None).into_future()).await.unwrap_err();
    assert!(error.to_string().contains("longer than the limit of 1000000 bytes"), "{error}");
    let next = within(client.request("tools/call", None).into_future()).await.unwrap();
    assert!(next.success());
    within(client.close()).await;
}

#[tokio::test]
async fn an_answer_arrives_after_fifty_notifications_and_a_foreign_reply() {
    let notifications = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}'
echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":2}}'
done\n";
    let rest = format!(
        "{notifications}echo '{{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{{}}}}'\necho '{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"content\":[]}}}}'\n{READ_UNTIL_END}"
    );
    let (outcome, client) = call(&rest).await;
    assert!(outcome.unwrap().success());
    assert_eq!(client.notifications().count("notifications/message"), 50);
    within(client.close()).await;
}
