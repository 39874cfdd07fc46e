//! Every end of a child or of our process leaves no process behind.

use std::time::{Duration, Instant};

use sparring_peer::{Cause, Client, Link, Outgoing};
use sparring_transport::{ChildLink, ChildTarget, Job, Stderr};
use sparring_wire::Revision;
use tokio::io::AsyncReadExt as _;

use crate::script::{
    HANDSHAKE, READ_UNTIL_END, call, connect, is_alive, shell, wait_until_ended, within,
};

#[tokio::test]
async fn a_child_gets_its_arguments_folder_and_environment() {
    let folder = tempfile::tempdir().unwrap();
    let mut target =
        ChildTarget::new("sh").args(["-c", "echo \"$0 $SPAR_TEST\" >&2; pwd >&2; exit 1", "word"]);
    target.cwd = Some(folder.path().to_owned());
    target.env.insert("SPAR_TEST".to_owned(), "value".to_owned());
    let link = ChildLink::spawn(&target).unwrap();
    let stderr = link.stderr();
    let connecting = Client::builder().revision(Revision::V2025_11_25).connect(link);
    within(connecting).await.unwrap_err();
    let pwd = folder.path().canonicalize().unwrap();
    assert_eq!(stderr.text(), format!("word value\n{}\n", pwd.display()));
}

#[tokio::test]
async fn a_child_that_inherits_by_name_gets_nothing_else_of_ours() {
    let mut target = ChildTarget::new("sh").args(["-c", "env | grep -v ^PWD= | sort >&2; exit 1"]);
    target.inherit = Some(vec!["PATH".to_owned(), "NOBODY_HAS_THIS".to_owned()]);
    target.env.insert("SPAR_TEST".to_owned(), "value".to_owned());
    let link = ChildLink::spawn(&target).unwrap();
    let stderr = link.stderr();
    let connecting = Client::builder().revision(Revision::V2025_11_25).connect(link);
    within(connecting).await.unwrap_err();
    let names: Vec<String> = stderr
        .text()
        .lines()
        .filter_map(|line| line.split('=').next().map(str::to_owned))
        .collect();
    let ours = ["PATH", "SPAR_TEST"];
    // By this variable its processes are found.
    let mark = "SPARRING_CHILD";
    let of_the_shell = ["OLDPWD", "SHLVL", "_"];
    assert!(ours.iter().all(|name| names.iter().any(|it| it == name)), "{names:?}");
    let is_known =
        |name: &String| ours.contains(&&**name) || of_the_shell.contains(&&**name) || name == mark;
    assert!(names.iter().all(is_known), "{names:?}");
}

#[tokio::test]
async fn calls_the_handler_with_stderr_as_it_arrives() {
    let link = ChildLink::spawn(&shell("read go; echo one >&2; read go")).unwrap();
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    link.stderr().on_output(move |bytes| drop(sender.send(bytes.to_vec())));
    let connecting = tokio::spawn(Client::builder().revision(Revision::V2025_11_25).connect(link));
    assert_eq!(within(receiver.recv()).await.unwrap(), b"one\n");
    connecting.abort();
}

#[tokio::test]
async fn a_slow_stderr_writer_slows_the_child_down() {
    let link = ChildLink::spawn(&shell("head -c 1000000 /dev/zero >&2; read go")).unwrap();
    let stderr = link.stderr();
    let (to, mut from) = tokio::io::duplex(4096);
    stderr.forward_to(to);
    let mut taken = 0;
    while taken < 1_000_000 {
        let mut some = [0; 4096];
        taken += within(from.read(&mut some)).await.unwrap() as u64;
        assert!(
            stderr.total_bytes() <= taken + 32 * 1024,
            "{} read, {taken} taken",
            stderr.total_bytes()
        );
    }
    drop(link);
    assert_eq!(within(from.read(&mut [0; 1])).await.unwrap(), 0, "the end is passed on too");
}

#[tokio::test]
async fn a_child_that_exits_at_the_end_of_its_input_ends_at_once() {
    let (client, _, id) = connect(&format!("{HANDSHAKE}{READ_UNTIL_END}exit 0")).await;
    let client = client.unwrap();
    let began = Instant::now();
    within(client.close()).await;
    assert!(began.elapsed() < Duration::from_millis(900), "took {:?}", began.elapsed());
    assert!(!is_alive(id));
}

#[tokio::test]
async fn everything_that_a_child_sends_until_it_is_gone_is_recorded() {
    let answer = r#"echo '{"jsonrpc":"2.0","id":2,"result":{"content":[]}}'"#;
    for later in [format!("{answer}\nexit 0"), format!("{READ_UNTIL_END}{answer}\nexit 0")] {
        let (called, client) = call(&format!("{answer}\n{later}")).await;
        called.unwrap();
        within(client.close()).await;
        let violations = client.transcript().violations();
        let rules: Vec<_> = violations.iter().map(|it| it.rule.id()).collect();
        assert_eq!(rules.len(), 1, "{later}: {violations:?}");
    }
}

#[tokio::test]
async fn the_end_of_a_child_that_fails_is_the_reason_of_the_end() {
    let answer = r#"echo '{"jsonrpc":"2.0","id":2,"result":{"content":[]}}'"#;
    for (after, expected) in [
        ("exit 3", Some("exited with status 3")),
        ("while read line; do :; done; exit 4", Some("exited with status 4")),
        ("kill -SEGV $$", Some("was killed by SIGSEGV")),
        ("while read line; do :; done; exit 0", None),
        // It ends only when it is terminated.
        ("trap 'exit 5' TERM; while read line; do :; done; while :; do sleep 0.1; done", None),
    ] {
        let (called, client) = call(&format!("{answer}\n{after}")).await;
        called.unwrap();
        let cause = within(client.close()).await;
        match (cause, expected) {
            (Cause::ProcessEnded { reason, .. }, Some(expected)) => assert_eq!(reason, expected),
            (Cause::ClosedLocally, None) => {}
            (cause, _) => panic!("{after}: {cause}"),
        }
    }
}

#[tokio::test]
async fn terminates_a_child_that_ignores_the_end_of_its_input() {
    let (client, stderr, id) = connect(&format!(
        "trap 'echo asked >&2; exit 0' TERM\n{HANDSHAKE}{READ_UNTIL_END}while :; do sleep 0.1; done"
    ))
    .await;
    let client = client.unwrap();
    let began = Instant::now();
    within(client.close()).await;
    assert!(began.elapsed() >= Duration::from_secs(1) && began.elapsed() < Duration::from_secs(4));
    assert!(stderr.text().contains("asked\n"), "{}", stderr.text());
    assert!(!is_alive(id));
}

#[tokio::test]
async fn kills_a_child_that_ignores_sigterm() {
    let (client, _, id) =
        connect(&format!("trap '' TERM\n{HANDSHAKE}{READ_UNTIL_END}while :; do sleep 0.1; done"))
            .await;
    let client = client.unwrap();
    let began = Instant::now();
    within(client.close()).await;
    assert!(began.elapsed() >= Duration::from_secs(6), "{:?}", began.elapsed());
    wait_until_ended(id).await;
}

#[tokio::test]
async fn grandchildren_end_with_the_child() {
    let (client, stderr, id) =
        connect(&format!("sleep 300 & echo $! >&2\n{HANDSHAKE}{READ_UNTIL_END}exit 0")).await;
    let client = client.unwrap();
    within(client.close()).await;
    wait_until_ended(id).await;
    assert!(!stderr.text().is_empty());
}

/// Starts a process in a session of its own, prints its id, and waits for its end.
#[cfg(target_os = "linux")]
const DAEMON: &str = "setsid sh -c 'echo $$ >&2; exec sleep 300' &\nwait $!\n";

/// Starts a process in a session of its own, whose parent ends, and prints its id.
#[cfg(target_os = "linux")]
const LEFT_DAEMON: &str =
    "id=$(setsid sh -c 'echo $$; exec sleep 300 >/dev/null' &)\necho $id >&2\n";

/// Returns true if a process runs. A zombie does not.
#[cfg(target_os = "linux")]
fn is_running(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Returns the id that a script printed to its stderr.
#[cfg(target_os = "linux")]
async fn printed_id(stderr: &Stderr) -> u32 {
    within(async {
        loop {
            if let Some(id) = stderr.text().lines().next().and_then(|line| line.parse().ok()) {
                return id;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_ends_with_its_child() {
    for script in
        [DAEMON.to_owned(), format!("{LEFT_DAEMON}{READ_UNTIL_END}"), LEFT_DAEMON.to_owned()]
    {
        let mut link = ChildLink::spawn(&shell(&script)).unwrap();
        let id = printed_id(&link.stderr()).await;
        assert!(is_running(id), "{script}");
        link.send(Outgoing::Close);
        within(std::future::poll_fn(|cx| {
            loop {
                let received = std::task::ready!(link.poll_receive(cx));
                if let sparring_peer::Incoming::Closed(_) = received {
                    return std::task::Poll::Ready(());
                }
            }
        }))
        .await;
        within(async {
            while is_running(id) {
                tokio::task::yield_now().await;
            }
        })
        .await;
        let stderr = link.stderr().text();
        // The shell may report the end of the daemon, which is a job of its own.
        assert!(!stderr.contains("sparring: the process left"), "{script}: {stderr}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_ends_with_its_dropped_link() {
    for script in [format!("{LEFT_DAEMON}{READ_UNTIL_END}"), LEFT_DAEMON.to_owned()] {
        let link = ChildLink::spawn(&shell(&script)).unwrap();
        let id = printed_id(&link.stderr()).await;
        drop(link);
        within(async {
            while is_running(id) {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_ends_with_its_job() {
    let mut job = Job::start(&shell(LEFT_DAEMON), Vec::new(), 1024).unwrap();
    let end = within(job.wait()).await;
    assert_eq!((end.status, end.left), (Some(0), None));
    let id: u32 = job.stderr().text().trim().parse().unwrap();
    assert!(!is_running(id));
    let script = format!("trap '' TERM\n{LEFT_DAEMON}sleep 300");
    let mut job = Job::start(&shell(&script), Vec::new(), 1024).unwrap();
    within(async {
        while job.stderr().text().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let id: u32 = job.stderr().text().trim().parse().unwrap();
    within(job.stop()).await;
    assert!(!is_running(id));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_may_stay_if_its_target_says_so() {
    let mut target = shell(LEFT_DAEMON);
    target.may_leave_processes = true;
    let mut job = Job::start(&target, Vec::new(), 1024).unwrap();
    within(job.wait()).await;
    let id: u32 = job.stderr().text().trim().parse().unwrap();
    assert!(is_running(id));
    let pid = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_dropped_link_kills_the_whole_group() {
    let link = ChildLink::spawn(&shell("sleep 300 & sleep 300")).unwrap();
    let id = link.id();
    assert!(is_alive(id));
    drop(link);
    wait_until_ended(id).await;
}

#[tokio::test]
async fn a_dropped_client_ends_its_child() {
    let (client, _, id) = connect(&format!("{HANDSHAKE}{READ_UNTIL_END}exit 0")).await;
    drop(client.unwrap());
    wait_until_ended(id).await;
}

#[test]
fn a_panic_leaves_no_child() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let panicked = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let link = ChildLink::spawn(&shell("sleep 300 & sleep 300")).unwrap();
            sender.send(link.id()).unwrap();
            panic!("with a child in hand");
        });
    });
    let id = receiver.recv().unwrap();
    assert!(panicked.join().is_err());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(wait_until_ended(id));
}

#[tokio::test]
async fn a_hundred_children_of_every_kind_leave_no_process() {
    let scripts = ["exit 0", "kill -9 $$", "sleep 300", "sleep 300 & exit 0", "cat >/dev/null"];
    let mut ids = Vec::new();
    for round in 0..100 {
        let mut link = ChildLink::spawn(&shell(scripts[round % scripts.len()])).unwrap();
        ids.push(link.id());
        if round % 3 == 0 {
            link.send(Outgoing::Close);
        }
    }
    for id in ids {
        wait_until_ended(id).await;
    }
}

#[tokio::test]
async fn a_child_is_started_and_its_client_connected() {
    let (client, _, id) = connect(&format!("{HANDSHAKE}{READ_UNTIL_END}")).await;
    let client = client.unwrap();
    assert!(is_alive(id) && client.is_connected());
    assert_eq!(client.session().unwrap().server_info.as_ref().unwrap().name, "sh");
    within(client.close()).await;
    assert!(!is_alive(id) && !client.is_connected());
}

#[tokio::test]
async fn what_is_sent_reaches_stdin_and_what_is_written_comes_back() {
    let mut link = ChildLink::spawn(&ChildTarget::new("cat")).unwrap();
    let frame =
        sparring_wire::Frame::parse(r#"{"jsonrpc": "2.0", "method": "x", "params": {"n": 1.50}}"#);
    link.send(frame.clone().into());
    let back = within(std::future::poll_fn(|cx| {
        let _ = link.poll_flush(cx);
        link.poll_receive(cx)
    }));
    let sparring_peer::Incoming::Frame { frame: back, .. } = back.await else { panic!("no frame") };
    assert_eq!(back, frame, "byte for byte");
}

#[tokio::test]
async fn children_side_by_side_do_not_mix() {
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            tokio::spawn(async move {
                let folder = tempfile::tempdir().unwrap();
                let answer = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"content":[{{"type":"text","text":"{number}"}}]}}}}"#);
                let mut target = shell(&format!("{HANDSHAKE}read asked\necho '{answer}'\necho {number} > mine\n{READ_UNTIL_END}"));
                target.cwd = Some(folder.path().to_owned());
                let link = ChildLink::spawn(&target).unwrap();
                let client = Client::builder().revision(Revision::V2025_11_25).connect(link).await.unwrap();
                let response = client.call_tool("x", serde_json::json!({})).await.unwrap();
                assert_eq!(response.content(), number.to_string());
                client.close().await;
                assert_eq!(std::fs::read_to_string(folder.path().join("mine")).unwrap().trim(), number.to_string());
            })
        })
        .collect();
    for task in tasks {
        within(task).await.unwrap();
    }
}
