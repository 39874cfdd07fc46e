//! Misbehaving children: odd output, processes that they leave behind, and pipes that they
//! hold open.

use std::time::Duration;

use sparring_peer::client::Protocol;
use sparring_peer::{Cause, Client, Link, Outgoing};
use sparring_transport::{ChildError, ChildLink, ChildTarget};
use sparring_wire::Revision;

use crate::script::{
    HANDSHAKE, READ_UNTIL_END, call, connect, is_alive, shell, wait_until_ended, within,
};

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#;

/// Checks that a call succeeds whose answer this command prints.
async fn call_works(script: &str) -> Client {
    let (outcome, client) = call(script).await;
    assert!(outcome.unwrap().success(), "{script}");
    client
}

#[tokio::test]
async fn an_answer_without_an_end_of_line_counts_when_the_child_exits() {
    call_works(&format!("printf '%s' '{ANSWER}'; exit 0")).await;
}

#[tokio::test]
async fn such_an_answer_counts_while_another_process_holds_stdout_open() {
    call_works(&format!("sleep 300 & printf '%s' '{ANSWER}'; exit 0")).await;
}

#[tokio::test]
async fn reports_an_incomplete_answer_at_the_exit() {
    for others in ["", "sleep 300 & "] {
        let half = r#"{"jsonrpc":"2.0","id":2,"result":{"con"#;
        let (outcome, client) = call(&format!("{others}printf '%s' '{half}'; exit 0")).await;
        let message = outcome.unwrap_err().to_string();
        assert!(message.contains("wire/not-json"), "{message}");
        assert!(matches!(within(client.closed()).await, Cause::ProcessEnded { .. }));
    }
}

#[tokio::test]
async fn output_of_other_processes_does_not_hide_an_exit() {
    let (outcome, client) = call("yes noise & exit 4").await;
    outcome.unwrap_err();
    let cause = within(client.closed()).await;
    assert!(cause.to_string().contains("exited with status 4"), "{cause}");
}

#[tokio::test]
async fn an_answer_of_a_grandchild_counts() {
    call_works(&format!("{{ echo '{ANSWER}'; }} & {READ_UNTIL_END}")).await;
}

#[tokio::test]
async fn reports_an_exit_long_after_stdin_was_closed() {
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    let script = format!(
        "trap 'echo done >&2; kill -KILL $$' USR1\n{HANDSHAKE}exec <&-\necho '{notification}'\nwhile :; do sleep 0.01; done"
    );
    let (client, _, id) = connect(&script).await;
    let client = client.unwrap();
    client.notifications().wait_for("notifications/x", 1, Duration::from_secs(10)).await.unwrap();
    let error = within(client.request("tools/call", None).into_future()).await.unwrap_err();
    assert!(error.to_string().contains("stopped reading"), "{error}");
    let id = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::USR1).unwrap();
    let cause = within(client.closed()).await;
    assert!(cause.to_string().contains("killed by SIGKILL"), "{cause}");
}

#[tokio::test]
async fn odd_bytes_around_an_answer_do_no_harm() {
    for script in [
        // Windows line ends, white space, a byte order mark.
        format!("printf '%s\\r\\n' '{ANSWER}'\n{READ_UNTIL_END}"),
        format!("printf '\\r\\n \\t \\n\\n  %s  \\n' '{ANSWER}'\n{READ_UNTIL_END}"),
        format!("printf '\\357\\273\\277%s\\n' '{ANSWER}'\n{READ_UNTIL_END}"),
        // Lines of NUL bytes, and lines that are not text.
        format!(
            "printf '\\000\\000\\n\\377\\376\\n\\000%s\\n%s\\n' '{ANSWER}' '{ANSWER}'\n{READ_UNTIL_END}"
        ),
    ] {
        let client = call_works(&script).await;
        within(client.close()).await;
    }
}

#[tokio::test]
async fn an_answer_that_is_not_utf_8_does_not_block_the_client() {
    let script = format!(
        "printf '{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"content\":[],\"x\":\"\\377\"}}}}\\n'\n{READ_UNTIL_END}"
    );
    let (_, client) = call(&script).await;
    assert!(!client.transcript().violations().is_empty());
    within(client.close()).await;
}

#[tokio::test]
async fn very_many_lines_of_noise_before_the_first_frame_do_no_harm() {
    let (client, _, _) =
        connect(&format!("yes | head -n 300000\n{HANDSHAKE}{READ_UNTIL_END}")).await;
    let client = client.unwrap();
    assert_eq!(client.unclaimed().count("noise"), 300_000);
    within(client.close()).await;
}

#[tokio::test]
async fn a_stopped_child_can_be_asked_to_end() {
    let (client, stderr, id) = connect(&format!(
        "trap 'echo asked >&2; exit 0' TERM\n{HANDSHAKE}kill -STOP $$\n{READ_UNTIL_END}"
    ))
    .await;
    let client = client.unwrap();
    within(client.close()).await;
    assert_eq!(stderr.text(), "asked\n");
    assert!(!is_alive(id));
}

#[tokio::test]
async fn a_stopped_child_is_killed_when_its_link_is_dropped() {
    let link = ChildLink::spawn(&shell("kill -STOP $$")).unwrap();
    let id = link.id();
    drop(link);
    wait_until_ended(id).await;
}

#[tokio::test]
async fn a_handler_of_stderr_that_panics_is_not_called_again_and_nothing_blocks() {
    let flood = "read go; head -c 1000000 /dev/zero | tr '\\0' 'x' >&2\n";
    let link =
        ChildLink::spawn(&shell(&format!("{flood}echo '{ANSWER}'\n{READ_UNTIL_END}"))).unwrap();
    let stderr = link.stderr();
    stderr.on_output(|_| panic!("as a test's assertion may"));
    let builder = Client::builder().protocol(Protocol::Raw);
    let client = within(builder.connect(link)).await.unwrap();
    let asked = client.request_bytes(r#"{"jsonrpc":"2.0","id":2,"method":"x"}"#);
    within(asked.into_future()).await.unwrap();
    within(client.close()).await;
    assert_eq!(stderr.total_bytes(), 1_000_000);
}

#[tokio::test]
async fn a_stderr_handler_may_read_stderr() {
    let link = ChildLink::spawn(&shell("read go; echo one >&2; read go")).unwrap();
    let (stderr, (sender, mut receiver)) = (link.stderr(), tokio::sync::mpsc::unbounded_channel());
    link.stderr().on_output(move |_| drop(sender.send(stderr.text())));
    let _client = Client::builder().revision(Revision::V2025_11_25).start(link);
    assert_eq!(within(receiver.recv()).await.unwrap(), "one\n");
}

#[test]
fn does_not_start_a_child_without_a_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let mut target = ChildTarget::new("touch").args(["started"]);
    target.cwd = Some(folder.path().to_owned());
    let error = ChildLink::spawn(&target).unwrap_err();
    assert!(matches!(error, ChildError::Refused { .. }), "{error}");
    assert!(!folder.path().join("started").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_link_that_is_dropped_outside_of_its_runtime_kills_the_group_at_once() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let link = runtime.block_on(async { ChildLink::spawn(&shell("sleep 300 & sleep 300")) });
    let link = link.unwrap();
    let id = link.id();
    drop(link);
    // The runtime has not run since the drop, and reaps only now.
    let other = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    other.block_on(within(async {
        while !has_only_zombies(id) {
            tokio::task::yield_now().await;
        }
    }));
    drop(runtime);
}

#[test]
fn a_link_that_outlives_its_runtime_leaves_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let link = runtime.block_on(async { ChildLink::spawn(&shell("sleep 300 & sleep 300")) });
    let mut link = link.unwrap();
    let id = link.id();
    drop(runtime);
    link.send(Outgoing::Close);
    drop(link);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(wait_until_ended(id));
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_children_at_once_get_none_of_each_others_pipes() {
    // The file descriptors of a child, from its own view.
    let script =
        "for fd in /proc/self/fd/*; do all=\"$all ${fd##*/}\"; done; echo \"$all.\" >&2; read go";
    let start = || {
        let link = ChildLink::spawn(&shell(script)).unwrap();
        let stderr = link.stderr();
        async move {
            let _client = Client::builder().protocol(Protocol::Raw).start(link);
            within(async {
                while !stderr.text().ends_with(".\n") {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            stderr.text()
        }
    };
    let alone = start().await;
    let links: Vec<_> = (0..100).map(|_| tokio::spawn(async move { start().await })).collect();
    for link in links {
        assert_eq!(within(link).await.unwrap(), alone);
    }
}

/// Returns true if no process of a group runs, reaped or not.
#[cfg(target_os = "linux")]
fn has_only_zombies(group: u32) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = processes.filter_map(|it| std::fs::read_to_string(it.path().join("stat")).ok());
    let mut in_group = stats.filter_map(|stat| {
        let fields: Vec<String> =
            stat.rsplit(')').next()?.split_whitespace().map(str::to_owned).collect();
        (fields.get(2)? == &group.to_string()).then(|| fields[0].clone())
    });
    in_group.all(|state| state == "Z")
}
