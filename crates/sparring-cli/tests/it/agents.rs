//! Tests agents under test: one that uses the official Python SDK, which is skipped with
//! a message if the SDK is not installed, and one that is interrupted.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::other_clients::installed;
use crate::process::{Running, SPAR, output, wait_until_gone};

#[test]
fn a_python_sdk_agent_gets_its_responses_turn_by_turn_over_every_transport() {
    let Some(python) = installed("python/bin/python") else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/agent.py");
    let suite = format!(
        r#"
agent: {{command: {python}, args: [{}, "${{mocks.data.config}}"]}}
mocks: {{data: {{mcp_interactions: [], transport: [stdio, http, sse]}}}}
tests:
  - name: two turns
    input: draw it
    mcp_interactions:
      - content: [{{type: text, text: one}}]
      - content: [{{type: image, data: iVBORw0KGgo=, mime_type: image/png}}]
    expect:
      stdout: "text one \nimage  image/png\n"
      called: {{data: {{count: 3, tool: get_data, args: {{task_description: "${{input}}"}}}}}}
  - name: another case
    input: draw it
    mcp_interactions: [{{content: [{{type: text, text: other}}]}}]
    expect: {{stdout: "text other \n", called: {{data: {{count: 2}}}}}}
"#,
        script.display()
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.spar.yaml"), suite).unwrap();
    let output = output(Command::new(SPAR).arg("test").current_dir(folder.path()));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("\n6 passed, 0 failed, 0 skipped in "), "{printed}");
}

/// A script that starts two processes in sessions of their own, one of them with an empty
/// environment, and writes their ids into the file `$IDS`.
const DAEMONS: &str = "for clear in '' 'env -i'; do (setsid $clear sh -c 'echo $$ >> $0; exec sleep 300' $IDS.new &); done\n\
     while [ $(wc -l < $IDS.new) -lt 2 ]; do :; done\nmv $IDS.new $IDS\n";

/// Writes a suite whose agent starts daemons and then runs `rest`.
fn suite_with_daemons(folder: &Path, rest: &str) -> std::path::PathBuf {
    let ids = folder.join("ids");
    fs::write(folder.join("ids.new"), "").unwrap();
    let script = format!("{DAEMONS}{rest}");
    let suite = format!(
        "agent: {{command: sh, args: [-c, {script:?}], env: {{IDS: {:?}}}}}\n\
         tests: [{{name: a, input: x}}]\n",
        ids.display().to_string()
    );
    fs::write(folder.join("a.spar.yaml"), suite).unwrap();
    ids
}

#[cfg(target_os = "linux")]
#[test]
fn daemons_of_an_agent_end_with_its_test() {
    for (rest, status) in [("exit 0", Some(0)), ("exit 3", Some(1))] {
        let folder = tempfile::tempdir().unwrap();
        let ids = suite_with_daemons(folder.path(), rest);
        let output = output(Command::new(SPAR).arg("test").current_dir(folder.path()));
        assert_eq!(output.status.code(), status, "{}", String::from_utf8_lossy(&output.stdout));
        let ids = fs::read_to_string(&ids).unwrap();
        assert_eq!(ids.split_whitespace().count(), 2);
        for id in ids.split_whitespace() {
            assert!(!crate::process::is_running(id), "{id} still runs");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_the_daemons_of_an_agent() {
    let folder = tempfile::tempdir().unwrap();
    let ids = suite_with_daemons(folder.path(), "sleep 300");
    let mut command = Command::new(SPAR);
    command.arg("test").current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let running = Running::of(command.spawn().unwrap());
    let known = loop {
        if let Ok(known) = fs::read_to_string(&ids) {
            break known;
        }
        std::thread::yield_now();
    };
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
    known.split_whitespace().for_each(wait_until_gone);
}

#[test]
fn ctrl_c_ends_an_agent_with_its_processes_and_the_mocks() {
    let folder = tempfile::tempdir().unwrap();
    let ids = folder.path().join("ids");
    let script = "trap '' INT TERM; sleep 300 & echo $$ $! > $IDS.new; mv $IDS.new $IDS; wait";
    let suite = format!(
        "agent: {{command: sh, args: [-c, {script:?}], env: {{IDS: {:?}}}}}\n\
         mocks: {{api: {{http: []}}}}\ntests: [{{name: a, input: x}}]\n",
        ids.display().to_string()
    );
    fs::write(folder.path().join("a.spar.yaml"), suite).unwrap();
    let mut command = Command::new(SPAR);
    command.arg("test").current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let running = Running::of(command.spawn().unwrap());
    let known = loop {
        if let Ok(known) = fs::read_to_string(&ids) {
            break known;
        }
        std::thread::yield_now();
    };
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
    known.split_whitespace().for_each(wait_until_gone);
}
