//! Replies that programs give: what they are given, what they say, and all that
//! can go wrong with them.

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

use crate::fixture::{call, connect, listen, over_http, result, said, within};

/// A mock in a folder of its own, with a program in it.
struct Place {
    folder: tempfile::TempDir,
    mock: MockServer,
}

impl Place {
    fn with(program: &str, script: &str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it.sh");
        fs::write(&path, format!("#!/bin/sh\n{program}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let mock = load(folder.path(), script, true).unwrap();
        Place { folder, mock }
    }

    async fn client(&self) -> Client {
        connect(&self.mock, Revision::LATEST).await
    }

    /// The id of a process that the program tells of, once it does.
    async fn told(&self, name: &str) -> String {
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

/// Waits until a process is gone, or only waits to be buried.
async fn gone(id: &str) {
    let stat = format!("/proc/{id}/stat");
    let gone = async {
        while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            tokio::task::yield_now().await;
        }
    };
    within(gone).await;
}

#[tokio::test]
async fn a_program_is_given_the_request_and_its_output_is_the_answer() {
    let script = "tools: [{name: t, exec: {command: cat, as: structured}}]";
    let place = Place::with("", script);
    let serving = listen(&place.mock).await;
    let mut clients = Vec::new();
    for revision in Revision::ALL {
        clients.push((connect(&place.mock, revision).await, revision));
    }
    for (revision, transport) in [
        (Revision::V2024_11_05, HttpTransport::Sse),
        (Revision::LATEST_LEGACY, HttpTransport::Streamable),
        (Revision::LATEST, HttpTransport::Streamable),
    ] {
        clients.push((over_http(&place.mock, &serving, revision, transport).await, revision));
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
async fn output_is_a_text_or_structured_or_the_whole_result() {
    let script = "
vars: {word: \"two words\"}
tools:
  - {name: text, exec: \"./it.sh '${vars.word}' ${args.x} \\\"$HOME;ls\\\"\"}
  - {name: list, exec: {command: sh, args: [-c, \"echo $A$1; echo\", sh, \"${args.x}\"], env: {A: \"<${args.x}>\"}}}
  - {name: structured, exec: {command: echo, args: ['{\"a\": 1}'], as: structured}}
  - {name: result, exec: {command: echo, args: ['{\"content\": [], \"isError\": true, \"x\": 1}'], as: result}}
  - {name: here, exec: {command: sh, args: [-c, \"ls it.sh\"]}}
";
    let place = Place::with("for a; do echo \"[$a]\"; done", script);
    let client = place.client().await;
    let args = json!({"x": "`id` $(id) 'q'"});
    let text = said(&client, "text", args.clone()).await;
    assert_eq!(text, "[two words]\n[`id` $(id) 'q']\n[$HOME;ls]", "no shell comes between");
    assert_eq!(said(&client, "list", json!({"x": "1 2"})).await, "<1 2>1 2\n");
    assert_eq!(said(&client, "here", json!({})).await, "it.sh");
    let structured = result(&client, "structured", json!({})).await;
    let text = json!([{"type": "text", "text": "{\"a\": 1}"}]);
    assert_eq!(structured, json!({"content": text, "structuredContent": {"a": 1}}));
    let whole = result(&client, "result", json!({})).await;
    assert_eq!(whole, json!({"content": [], "isError": true, "x": 1}));
}

/// What is told of a program that fails.
async fn failure(program: &str, exec: &str) -> (String, Value) {
    let place = Place::with(program, &format!("tools: [{{name: t, exec: {exec}}}]"));
    let client = place.client().await;
    let result = result(&client, "t", json!({})).await;
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (text, result["structuredContent"].clone())
}

#[tokio::test]
async fn whatever_goes_wrong_is_a_result_that_says_so() {
    let (text, structured) = failure("echo half; echo oh no >&2; exit 3", "./it.sh").await;
    assert_eq!(text, "./it.sh: it exited with status 3\noh no");
    let expected =
        json!({"error": "it exited with status 3", "command": "./it.sh", "stderr": "oh no"});
    assert_eq!(structured, expected);
    let (text, _) = failure("kill -9 $$", "./it.sh").await;
    assert_eq!(text, "./it.sh: it was killed by SIGKILL");
    let (text, _) = failure("", "no-such-program-anywhere").await;
    assert!(text.contains("command not found: no-such-program-anywhere"), "{text}");
    let (text, _) = failure("", "./it.mock.yaml").await;
    assert!(text.contains("not executable"), "{text}");
    let (text, _) = failure("printf '\\377'", "./it.sh").await;
    assert_eq!(text, "./it.sh: its output is no UTF-8");
    let (text, _) = failure("echo no", "{command: ./it.sh, as: structured}").await;
    assert!(text.starts_with("./it.sh: its output is no JSON: "), "{text}");
    let (text, _) = failure("echo '[1]'", "{command: ./it.sh, as: result}").await;
    assert_eq!(text, "./it.sh: its output is no result: it is not an object");
    let (text, _) = failure("yes", "./it.sh").await;
    assert_eq!(text, "./it.sh: it wrote more than 8388608 bytes");
    let (text, structured) =
        failure("echo wait >&2; sleep 300", "{command: ./it.sh, timeout: 200ms}").await;
    assert_eq!(text, "./it.sh: it did not end within 200ms\nwait");
    assert_eq!(structured["stderr"], "wait");
}

#[tokio::test]
async fn a_program_that_floods_its_stderr_or_does_not_read_is_heard() {
    let script = "tools: [{name: t, exec: ./it.sh}]";
    let place = Place::with("exec <&-; yes error | head -c 3000000 >&2; echo done", script);
    let client = place.client().await;
    let long = "x".repeat(1_000_000);
    assert_eq!(said(&client, "t", json!({"long": long})).await, "done");
}

#[tokio::test]
async fn nothing_of_a_program_outlives_its_request() {
    // One that left others behind, in its group and with its stdout.
    let program =
        "sleep 300 & echo $! > child; echo $$ > self; [ -e hang ] && sleep 300; echo done";
    let script =
        "tools: [{name: t, exec: ./it.sh}, {name: late, exec: {command: ./it.sh, timeout: 300ms}}]";
    let place = Place::with(program, script);
    let client = place.client().await;
    assert_eq!(said(&client, "t", json!({})).await, "done");
    gone(&place.told("child").await).await;

    let forget = || {
        for name in ["child", "self"] {
            fs::remove_file(place.folder.path().join(name)).unwrap();
        }
    };
    forget();
    fs::write(place.folder.path().join("hang"), "").unwrap();
    assert!(said(&client, "late", json!({})).await.contains("it did not end within 300ms"));
    gone(&place.told("child").await).await;
    gone(&place.told("self").await).await;

    // Cancelled, and with the mock.
    forget();
    let cancelled = client.call_tool("t", json!({})).start();
    let (child, own) = (place.told("child").await, place.told("self").await);
    drop(cancelled);
    gone(&child).await;
    gone(&own).await;
    forget();
    let _running = client.call_tool("t", json!({})).start();
    let (child, own) = (place.told("child").await, place.told("self").await);
    let Place { folder, mock } = place;
    drop(mock);
    gone(&child).await;
    gone(&own).await;
    drop(folder);
}

#[tokio::test]
async fn many_programs_at_once_take_turns_and_nothing_is_mixed() {
    let script = "tools: [{name: t, exec: \"echo ${args.n}\"}]";
    let place = Place::with("", script);
    let client = place.client().await;
    let calls = (0..200).map(|n| {
        let client = client.clone();
        async move { (n, said(&client, "t", json!({"n": n})).await) }
    });
    for (n, said) in within(futures_util::future::join_all(calls)).await {
        assert_eq!(said, n.to_string());
    }
}

#[tokio::test]
async fn no_program_is_run_unless_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let script = "tools:\n  - {name: t, exec: echo}\n";
    let told = load(folder.path(), script, false).unwrap_err();
    assert!(told.contains("error: no program is run unless that is allowed"), "{told}");
    assert!(told.contains("it.mock.yaml:2:21\n"), "{told}");
    assert!(told.contains("--allow-exec"), "{told}");

    let exec = || Reply::default().with("exec", "echo hi");
    let refused = MockServer::builder().tool(ToolMock::new("t").reply(exec())).build();
    assert!(refused.is_err());
    let mock = MockServer::builder().tool(ToolMock::new("a").reply(Reply::text("x"))).build();
    assert!(mock.unwrap().register(ToolMock::new("t").reply(exec())).is_err());
    let mock = MockServer::builder().allow_exec().tool(ToolMock::new("t").reply(exec()));
    let mock = mock.build().unwrap();
    mock.register(ToolMock::new("u").reply(exec())).unwrap();
    let client = connect(&mock, Revision::LATEST).await;
    assert_eq!(said(&client, "t", json!({})).await, "hi");
    assert_eq!(said(&client, "u", json!({})).await, "hi");

    // Whoever can reach the mock is not to run programs by it.
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
        let told = answer.text().await.unwrap();
        assert!(told.contains("only a script can name programs to run"), "{told}");
    }
    within(serving.stop(Duration::ZERO)).await;
}

#[test]
fn what_is_wrong_with_a_program_is_told_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    for (exec, expected) in [
        ("\"a 'b\"", "a quote in this command has no end"),
        ("\"\"", "there is no command here"),
        ("{args: [a]}", "`command` is missing in a program"),
        ("{command: a, as: json}", ":1:42\n"),
        ("{command: a, arg: [b]}", "unknown key `arg`"),
        ("\"a ${arg.b}\"", "there is no `arg`"),
        ("a, text: b", "`exec` is the whole answer"),
    ] {
        let told = load(folder.path(), &format!("tools: [{{name: t, exec: {exec}}}]"), true);
        let told = told.unwrap_err();
        assert!(told.contains(expected), "{exec}: {told}");
    }
}
