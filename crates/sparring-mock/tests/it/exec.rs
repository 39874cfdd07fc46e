//! Replies with the output of programs, and their failures.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use sparring_mock::{MockServer, Reply, Settings, ToolMock};
use sparring_peer::Client;
use sparring_transport::http::HttpTransport;
use sparring_wire::Revision;

use crate::fixture::{call, call_text, connect, listen, over_http, result, within};

/// A mock in its own folder, with a program.
struct ExecMock {
    folder: tempfile::TempDir,
    mock: MockServer,
}

impl ExecMock {
    fn new(program: &str, script: &str) -> ExecMock {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it.sh");
        fs::write(&path, format!("#!/bin/sh\n{program}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let mock = load(folder.path(), script, true).unwrap();
        ExecMock { folder, mock }
    }

    async fn client(&self) -> Client {
        connect(&self.mock, Revision::LATEST).await
    }

    /// Waits for a process id that the program writes to a file.
    async fn wait_for_pid(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        let written = async {
            loop {
                match fs::read_to_string(&path) {
                    Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                    _ => tokio::task::yield_now().await,
                }
            }
        };
        within(written).await
    }
}

fn load(folder: &Path, script: &str, allow_exec: bool) -> Result<MockServer, String> {
    let path = folder.join("it.mock.yaml");
    fs::write(&path, script).unwrap();
    let settings = Settings { allow_exec, ..Settings::default() };
    MockServer::from_file(&path, &settings).map_err(|error| error.to_string())
}

/// Waits until a process has exited or is a zombie.
async fn wait_for_exit(id: &str) {
    let stat = format!("/proc/{id}/stat");
    let wait_for_exit = async {
        while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            tokio::task::yield_now().await;
        }
    };
    within(wait_for_exit).await;
}

#[tokio::test]
async fn passes_the_request_to_a_program_and_answers_with_its_output() {
    let script = "tools: [{name: t, exec: {command: cat, as: structured}}]";
    let exec = ExecMock::new("", script);
    let serving = listen(&exec.mock).await;
    let mut clients = Vec::new();
    for revision in Revision::ALL {
        clients.push((connect(&exec.mock, revision).await, revision));
    }
    for (revision, transport) in [
        (Revision::V2024_11_05, HttpTransport::Sse),
        (Revision::LATEST_LEGACY, HttpTransport::Streamable),
        (Revision::LATEST, HttpTransport::Streamable),
    ] {
        clients.push((over_http(&exec.mock, &serving, revision, transport).await, revision));
    }
    for (number, (client, revision)) in clients.iter().enumerate() {
        let response = call(client, "t", json!({"city": "Zürich\n"})).await;
        let given: Value = response.to::<Value>().unwrap()["structuredContent"].clone();
        assert_eq!(given["arguments"], json!({"city": "Zürich\n"}), "{revision}");
        assert_eq!((&given["name"], &given["method"]), (&json!("t"), &json!("tools/call")));
        assert_eq!(given["revision"], revision.name());
        assert_eq!(given["call"], number + 1);
        assert!(given["client"]["name"].is_string(), "{given}");
        assert!(client.transcript().violations().is_empty());
    }
}

#[tokio::test]
async fn output_is_text_structured_content_or_the_complete_result() {
    let script = "
vars: {word: \"two words\"}
tools:
  - {name: text, exec: \"./it.sh '${vars.word}' ${args.x} \\\"$HOME;ls\\\"\"}
  - {name: list, exec: {command: sh, args: [-c, \"echo $A$1; echo\", sh, \"${args.x}\"], env: {A: \"<${args.x}>\"}}}
  - {name: structured, exec: {command: echo, args: ['{\"a\": 1}'], as: structured}}
  - {name: result, exec: {command: echo, args: ['{\"content\": [], \"isError\": true, \"x\": 1}'], as: result}}
  - {name: here, exec: {command: sh, args: [-c, \"ls it.sh\"]}}
";
    let exec = ExecMock::new("for a; do echo \"[$a]\"; done", script);
    let client = exec.client().await;
    let args = json!({"x": "`id` $(id) 'q'"});
    let text = call_text(&client, "text", args.clone()).await;
    assert_eq!(text, "[two words]\n[`id` $(id) 'q']\n[$HOME;ls]", "no shell comes between");
    assert_eq!(call_text(&client, "list", json!({"x": "1 2"})).await, "<1 2>1 2\n");
    assert_eq!(call_text(&client, "here", json!({})).await, "it.sh");
    let structured = result(&client, "structured", json!({})).await;
    let text = json!([{"type": "text", "text": "{\"a\": 1}"}]);
    assert_eq!(structured, json!({"content": text, "structuredContent": {"a": 1}}));
    let whole = result(&client, "result", json!({})).await;
    assert_eq!(whole, json!({"content": [], "isError": true, "x": 1}));
}

/// Returns the message of a failed program.
async fn failure(program: &str, exec: &str) -> (String, Value) {
    let exec = ExecMock::new(program, &format!("tools: [{{name: t, exec: {exec}}}]"));
    let client = exec.client().await;
    let result = result(&client, "t", json!({})).await;
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (text, result["structuredContent"].clone())
}

#[tokio::test]
async fn a_failed_program_gives_an_error_result() {
    let (text, structured) = failure("echo half; echo oh no >&2; exit 3", "./it.sh").await;
    assert_eq!(text, "./it.sh: exited with status 3\noh no");
    let expected =
        json!({"error": "exited with status 3", "command": "./it.sh", "stderr": "oh no"});
    assert_eq!(structured, expected);
    let (text, _) = failure("kill -9 $$", "./it.sh").await;
    assert_eq!(text, "./it.sh: was killed by SIGKILL");
    let (text, _) = failure("", "no-such-program-anywhere").await;
    assert!(text.contains("command not found: no-such-program-anywhere"), "{text}");
    let (text, _) = failure("", "./it.mock.yaml").await;
    assert!(text.contains("not executable"), "{text}");
    let (text, _) = failure("printf '\\377'", "./it.sh").await;
    assert_eq!(text, "./it.sh: the output is not UTF-8");
    let (text, _) = failure("echo no", "{command: ./it.sh, as: structured}").await;
    assert!(text.starts_with("./it.sh: the output is not JSON: "), "{text}");
    let (text, _) = failure("echo '[1]'", "{command: ./it.sh, as: result}").await;
    assert_eq!(text, "./it.sh: the output is not a result: it is not an object");
    let (text, _) = failure("yes", "./it.sh").await;
    assert_eq!(text, "./it.sh: it wrote more than 8388608 bytes");
    let (text, structured) =
        failure("echo wait >&2; sleep 300", "{command: ./it.sh, timeout: 200ms}").await;
    assert_eq!(text, "./it.sh: it did not exit within 200ms\nwait");
    assert_eq!(structured["stderr"], "wait");
}

#[tokio::test]
async fn answers_although_a_program_floods_stderr_or_does_not_read_stdin() {
    let script = "tools: [{name: t, exec: ./it.sh}]";
    let exec = ExecMock::new("exec <&-; yes error | head -c 3000000 >&2; echo done", script);
    let client = exec.client().await;
    let long = "x".repeat(1_000_000);
    assert_eq!(call_text(&client, "t", json!({"long": long})).await, "done");
}

#[tokio::test]
async fn kills_all_processes_of_a_program_with_its_request() {
    // This program leaves child processes in its group, which hold its stdout.
    let program =
        "sleep 300 & echo $! > child; echo $$ > self; [ -e hang ] && sleep 300; echo done";
    let script =
        "tools: [{name: t, exec: ./it.sh}, {name: late, exec: {command: ./it.sh, timeout: 300ms}}]";
    let exec = ExecMock::new(program, script);
    let client = exec.client().await;
    assert_eq!(call_text(&client, "t", json!({})).await, "done");
    wait_for_exit(&exec.wait_for_pid("child").await).await;

    let forget = || {
        for name in ["child", "self"] {
            fs::remove_file(exec.folder.path().join(name)).unwrap();
        }
    };
    forget();
    fs::write(exec.folder.path().join("hang"), "").unwrap();
    assert!(call_text(&client, "late", json!({})).await.contains("it did not exit within 300ms"));
    wait_for_exit(&exec.wait_for_pid("child").await).await;
    wait_for_exit(&exec.wait_for_pid("self").await).await;

    // By cancellation, and by dropping the mock.
    forget();
    let cancelled = client.call_tool("t", json!({})).start();
    let (child, own) = (exec.wait_for_pid("child").await, exec.wait_for_pid("self").await);
    drop(cancelled);
    wait_for_exit(&child).await;
    wait_for_exit(&own).await;
    forget();
    let _running = client.call_tool("t", json!({})).start();
    let (child, own) = (exec.wait_for_pid("child").await, exec.wait_for_pid("self").await);
    let ExecMock { folder, mock } = exec;
    drop(mock);
    wait_for_exit(&child).await;
    wait_for_exit(&own).await;
    drop(folder);
}

#[tokio::test]
async fn limits_concurrent_programs_and_keeps_their_answers_apart() {
    let script = "tools: [{name: t, exec: \"echo ${args.n}\"}]";
    let exec = ExecMock::new("", script);
    let client = exec.client().await;
    let calls = (0..200).map(|n| {
        let client = client.clone();
        async move { (n, call_text(&client, "t", json!({"n": n})).await) }
    });
    for (n, text) in within(futures_util::future::join_all(calls)).await {
        assert_eq!(text, n.to_string());
    }
}

#[tokio::test]
async fn runs_programs_only_if_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let script = "tools:\n  - {name: t, exec: echo}\n";
    let reported = load(folder.path(), script, false).unwrap_err();
    assert!(reported.contains("error: the script may not run programs"), "{reported}");
    assert!(reported.contains("it.mock.yaml:2:21\n"), "{reported}");
    assert!(reported.contains("--allow-exec"), "{reported}");

    let exec = || Reply::default().with("exec", "echo hi");
    let refused = MockServer::builder().tool(ToolMock::new("t").reply(exec())).build();
    assert!(refused.is_err());
    let mock = MockServer::builder().tool(ToolMock::new("a").reply(Reply::text("x"))).build();
    assert!(mock.unwrap().register(ToolMock::new("t").reply(exec())).is_err());
    let mock = MockServer::builder().allow_exec().tool(ToolMock::new("t").reply(exec()));
    let mock = mock.build().unwrap();
    mock.register(ToolMock::new("u").reply(exec())).unwrap();
    let client = connect(&mock, Revision::LATEST).await;
    assert_eq!(call_text(&client, "t", json!({})).await, "hi");
    assert_eq!(call_text(&client, "u", json!({})).await, "hi");

    // Clients of the mock must not run programs.
    let serving = listen(&mock).await;
    let address = serving.address().unwrap();
    let web = reqwest::Client::new();
    for (path, body) in [
        ("tools", json!({"name": "t", "exec": "echo"})),
        ("enqueue", json!({"tool": "t", "reply": {"exec": "echo"}})),
    ] {
        let url = format!("http://{address}/_spar/{path}");
        let answer = web.post(url).body(body.to_string()).send().await.unwrap();
        assert_eq!(answer.status(), 400);
        let reported = answer.text().await.unwrap();
        assert!(
            reported.contains("only a script can run programs, not a change over HTTP"),
            "{reported}"
        );
    }
    within(serving.stop(Duration::ZERO)).await;
}

#[test]
fn reports_problems_of_a_program_with_their_position() {
    let folder = tempfile::tempdir().unwrap();
    for (exec, expected) in [
        ("\"a 'b\"", "unclosed quote in the command"),
        ("\"\"", "the command is empty"),
        ("{args: [a]}", "missing key `command` in a program"),
        ("{command: a, as: json}", ":1:42\n"),
        ("{command: a, arg: [b]}", "unknown key `arg`"),
        ("\"a ${arg.b}\"", "unknown name `arg`"),
        ("a, text: b", "`exec` is the complete answer"),
    ] {
        let reported = load(folder.path(), &format!("tools: [{{name: t, exec: {exec}}}]"), true);
        let reported = reported.unwrap_err();
        assert!(reported.contains(expected), "{exec}: {reported}");
    }
}
