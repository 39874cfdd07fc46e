//! Servers of a suite: commands, containers, URLs and mocks.

use sparring_mock::MockServer;
use sparring_suite::Outcome;

use crate::fixture::{MOCK, block_on, outcomes};

/// A server whose only tool returns its first argument, `$WHOM` and its working directory.
const SHELL: &str = r#"
while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"server/discover"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}" ;;
    *'"initialize"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}}" ;;
    *'"tools/list"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"me\",\"inputSchema\":{\"type\":\"object\"}}]}}" ;;
    *'"tools/call"'*) echo "called by $WHOM" >&2; echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$1 $WHOM $(basename "$PWD")\"}]}}" ;;
  esac
done
"#;

#[track_caller]
fn all_pass(text: &str) {
    for (name, outcome) in block_on(outcomes(text, false)) {
        assert!(matches!(outcome, Some(Outcome::Passed)), "{name}: {outcome:#?}");
    }
}

#[test]
fn a_command_gets_its_arguments_its_environment_and_the_folder_of_the_suite() {
    let script = serde_json::json!(SHELL);
    let expect = "expect: {text: hi Ada tests, stderr: {contains: called by Ada}}";
    all_pass(&format!(
        "servers: {{it: {{command: sh, args: [-c, {script}, sh, hi], env: {{WHOM: \"${{WHO}}\"}}}}}}\n\
         tests: [{{name: a, call: me, {expect}}}]"
    ));
    all_pass(&format!(
        "servers: {{it: {{command: sh, args: [-c, {script}, sh, \"${{NOBODY:-you}}\"], cwd: it, \
         env: {{WHOM: Bob}}}}}}\n\
         tests: [{{name: a, call: me, expect: {{text: you Bob it}}}}]"
    ));
}

#[test]
fn a_command_can_be_one_string() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a server.sh");
    std::fs::write(&path, SHELL).unwrap();
    let command = serde_json::json!(format!("sh '{}' 'hi there'", path.display()));
    all_pass(&format!(
        "servers: {{it: {{command: {command}, env: {{WHOM: you}}}}}}\n\
         tests: [{{name: a, call: me, expect: {{text: hi there you tests}}}}]"
    ));
}

#[test]
fn a_server_over_http_gets_token_and_headers() {
    let script = MOCK.replace("server: {", "auth: {bearer: [secret]}\nserver: {");
    let work = async {
        let mock = MockServer::from_yaml(&script, ".").unwrap();
        let serving = mock.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let url = mock.urls(serving.address().unwrap()).mcp;
        let text = |beside: &str| {
            format!(
                "servers: {{it: {{url: \"{url}\", timeout: 5s{beside}}}}}\n\
                 tests: [{{name: a, call: two, expect: {{text: {{contains: one}}}}}}]"
            )
        };
        let good = outcomes(&text(", bearer: secret, headers: {X-A: b}"), false).await;
        let bad = outcomes(&text(""), false).await;
        serving.stop(std::time::Duration::ZERO).await;
        (good, bad, mock.received())
    };
    let (good, bad, received) = block_on(work);
    assert!(matches!(good[0].1, Some(Outcome::Passed)), "{good:?}");
    let Some(Outcome::Failed(failed)) = &bad[0].1 else { panic!("{bad:?}") };
    assert!(failed.failures[0].message.contains("credentials required"), "{failed:?}");
    let header = received.iter().filter_map(|it| it.headers()?.get("x-a").map(str::to_owned));
    assert!(header.clone().count() > 0 && header.clone().all(|value| value == "b"));
}

#[test]
fn a_mock_gets_its_variables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mock.yaml");
    std::fs::write(&path, "vars: {x: 1}\ntools: [{name: a, text: \"${vars.x}\"}]").unwrap();
    let path = path.display();
    all_pass(&format!(
        "servers: {{it: {{mock: \"{path}\", vars: {{x: \"${{WHO}}!\"}}}}}}\n\
         tests: [{{name: a, call: a, expect: {{text: Ada!}}}}]"
    ));
}

#[test]
fn reports_a_container_that_does_not_exist() {
    let text = "servers: {it: {command: server, container: no-such-container, timeout: 5s}}\n\
                tests: [{name: a, ping: true}]";
    let results = block_on(outcomes(text, false));
    let Some(Outcome::Failed(failed)) = &results[0].1 else { panic!("{results:?}") };
    assert!(failed.failures[0].message.starts_with("cannot use server `it`: "), "{failed:?}");
}

#[test]
fn reports_a_server_that_exits_at_once_with_its_stderr() {
    let text = "servers: {it: {command: sh, args: [-c, \"echo cannot open config >&2; exit 3\"]}}\n\
                tests: [{name: a, ping: true}]";
    let results = block_on(outcomes(text, false));
    let Some(Outcome::Failed(failed)) = &results[0].1 else { panic!("{results:?}") };
    assert!(failed.failures[0].message.contains("exited with status 3"), "{failed:?}");
    assert_eq!(failed.stderr, "cannot open config");
}

#[test]
fn reports_an_unset_variable_at_its_position() {
    let text = "servers: {it: {command: \"${NOBODY}\"}}\ntests: [{name: a, ping: true}]";
    let results = block_on(outcomes(text, false));
    let Some(Outcome::Failed(failed)) = &results[0].1 else { panic!("{results:?}") };
    let failure = &failed.failures[0];
    assert!(failure.message.contains("environment variable `NOBODY` is not set"), "{failure:?}");
    assert_eq!(&text[failure.span.start..failure.span.end], "\"${NOBODY}\"");
}

/// Runs tests on a shell server. Returns the failures of each test.
fn failures_on(server: &str, tests: &str) -> Vec<Vec<String>> {
    let text = format!("servers: {{it: {server}}}\ntests: {tests}");
    let outcomes = block_on(outcomes(&text, false)).into_iter();
    outcomes
        .map(|(name, outcome)| match outcome {
            Some(Outcome::Passed) => Vec::new(),
            Some(Outcome::Failed(failed)) => {
                failed.failures.into_iter().map(|failure| failure.message).collect()
            }
            other => panic!("{name}: {other:?}"),
        })
        .collect()
}

/// The shell server with more commands after its answer to a call, and after the end of its
/// input.
fn shell(after_call: &str, at_end: &str) -> String {
    let script = SHELL.replace("}]}}\" ;;\n  esac", &format!("}}]}}}}\"; {after_call} ;;\n  esac"));
    assert!(script.contains(after_call));
    let script = serde_json::json!(format!("{script}{at_end}\n"));
    format!("{{command: sh, args: [-c, {script}]}}")
}

const CALLS: &str = "[{name: a, call: me}, {name: b, call: me}]";

#[test]
fn the_last_test_reports_the_exit_status_of_its_server() {
    let exits = shell(":", "echo cannot save >&2; exit 3");
    let found = failures_on(&exits, CALLS);
    assert_eq!(found[0], [""; 0]);
    let [failure] = &found[1][..] else { panic!("{found:?}") };
    assert!(
        failure.starts_with("the server ended after the last step: exited with status 3"),
        "{failure}"
    );
    assert!(failure.contains("cannot save"), "{failure}");
    let found = failures_on(&shell("exit 3", ""), "[{name: a, call: me}]");
    assert!(found[0][0].contains("exited with status 3"), "{found:?}");
    assert_eq!(failures_on(&shell(":", "exit 0"), CALLS), [[""; 0], [""; 0]]);
    // The specification sets no status, so a suite can accept any at the end of the input.
    let accepted = |server: String| server.replacen('{', "{ignore_exit_status: true, ", 1);
    assert_eq!(failures_on(&accepted(exits), CALLS), [[""; 0], [""; 0]]);
}

#[test]
fn the_last_test_reports_messages_after_its_last_answer() {
    let again = "echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}'";
    for server in [shell(again, ""), shell(":", again)] {
        let found = failures_on(&server, "[{name: a, call: me}]");
        assert_eq!(found[0].len(), 1, "{found:?}");
    }
    let found = failures_on(&shell(":", "echo Goodbye"), "[{name: a, call: me}]");
    let expected = "after the last step: wire/not-json: the server printed a line \
                    that is not JSON-RPC: `Goodbye` (log to stderr, not to stdout)";
    assert!(found[0][0].starts_with(expected), "{found:?}");
}

#[test]
fn a_late_violation_shows_the_frames_of_the_last_step() {
    let again = "echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{}}'";
    let text = format!("servers: {{it: {}}}\ntests: [{{name: a, call: me}}]", shell(":", again));
    let (_, outcome) = block_on(outcomes(&text, false)).remove(0);
    let Some(Outcome::Failed(failed)) = outcome else { panic!("{outcome:?}") };
    let [failure] = &failed.failures[..] else { panic!("{failed:?}") };
    assert!(failure.message.contains("already has a response"), "{failure:?}");
    assert!(failed.frames[0].text.contains("tools/call"), "{failed:?}");
    assert!(failed.frames.last().unwrap().text.contains("\"result\":{}"), "{failed:?}");
}

/// A server that answers the first call again before it answers the second.
#[test]
fn a_test_reports_a_late_message_for_the_previous_test() {
    let again = "[ -z \"$first\" ] || echo '{\"jsonrpc\":\"2.0\",\"id\":'$first',\"result\":{}}'; first=$id";
    let script = SHELL.replace("*'\"tools/call\"'*)", &format!("*'\"tools/call\"'*) {again};"));
    assert!(script.contains(again), "{script}");
    let script = serde_json::json!(script);
    let found = failures_on(&format!("{{command: sh, args: [-c, {script}]}}"), CALLS);
    assert_eq!(found[0], [""; 0]);
    let [failure] = &found[1][..] else { panic!("{found:?}") };
    assert!(failure.starts_with("after the last step of the previous test, `a`: "), "{failure}");
}

#[test]
fn a_test_before_an_isolated_one_reports_the_exit_status_of_its_server() {
    let exits = shell(":", "exit 3");
    let tests =
        "[{name: a, call: me}, {name: b, skip: why, call: me}, {name: c, isolate: true, call: me}]";
    let text = format!("servers: {{it: {exits}}}\ntests: {tests}");
    for (name, outcome) in block_on(outcomes(&text, false)) {
        match (name.as_str(), outcome) {
            ("b", Some(Outcome::Skipped(_))) => {}
            (_, Some(Outcome::Failed(failed))) => {
                let failure = &failed.failures[0].message;
                assert!(failure.contains("exited with status 3"), "{name}: {failure}");
            }
            (name, other) => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn the_first_test_reports_a_banner_and_a_failed_start_shows_it() {
    let printed = "the server printed a line that is not JSON-RPC: \
                   `Starting…` (log to stderr, not to stdout)";
    let script = serde_json::json!(format!("echo Starting…\n{SHELL}"));
    let found = failures_on(&format!("{{command: sh, args: [-c, {script}]}}"), CALLS);
    assert!(found[0][0].starts_with(&format!("wire/not-json: {printed}")), "{found:?}");
    assert_eq!(found[1], [""; 0]);
    let script = "{command: sh, args: [-c, \"echo Starting…; read a; exit 1\"]}";
    let found = failures_on(script, "[{name: a, call: me}]");
    assert!(found[0][0].contains("exited with status 1"), "{found:?}");
    assert!(found[0][0].contains(printed), "{found:?}");
}

/// A server that answers two calls at once: first `bad`, with an invalid result, then `good`.
const TWO_AT_ONCE: &str = r#"
while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"server/discover"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}" ;;
    *'"initialize"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}}" ;;
    *'"tools/list"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"good\",\"inputSchema\":{\"type\":\"object\"}},{\"name\":\"bad\",\"inputSchema\":{\"type\":\"object\"}}]}}" ;;
    *'"good"'*) good=$id ;;
    *'"bad"'*) bad=$id ;;
  esac
  if [ -n "$good" ] && [ -n "$bad" ]; then
    $before
    echo "{\"jsonrpc\":\"2.0\",\"id\":$bad,\"result\":{\"content\":[{\"type\":\"text\"}]}}"
    echo "{\"jsonrpc\":\"2.0\",\"id\":$good,\"result\":{\"content\":[]}}"
    good= bad=
  fi
done
"#;

#[test]
fn tests_at_once_report_the_violations_of_their_own_answers() {
    let script = serde_json::json!(TWO_AT_ONCE);
    let on = |env: &str| {
        format!("{{command: sh, args: [-c, {script}], concurrency: 2, env: {{before: \"{env}\"}}}}")
    };
    for tests in ["good, bad", "bad, good"] {
        let each = tests.split(", ").map(|name| format!("{{name: {name}, call: {name}}}"));
        let tests = format!("[{}]", each.clone().collect::<Vec<_>>().join(", "));
        let bad = each.clone().position(|test| test.contains("bad")).unwrap();
        let found = failures_on(&on(":"), &tests);
        assert!(found[bad].iter().any(|it| it.contains("missing-field")), "{found:?}");
        assert_eq!(found[1 - bad], [""; 0], "{found:?}");

        // A printed line belongs to no request: it fails the run.
        let found = failures_on(&on("echo Hello"), &tests).concat();
        let expected = "while several tests ran, but not in an answer to one of them: \
                        wire/not-json: the server printed a line";
        assert!(found.iter().any(|it| it.starts_with(expected)), "{found:?}");
    }
}

#[test]
fn a_step_with_too_many_frames_to_check_fails() {
    let many = "i=0; while [ $i -lt 10001 ]; do i=$((i+1)); \
                echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}'; done";
    let server = shell(many, "");
    let expect = "expect: {notifications: {lacks: {method: notifications/message}}}";
    let found = failures_on(&server, &format!("[{{name: a, call: me, {expect}}}]"));
    let expected = "frames of the server were not checked: the step has too many of them";
    assert!(found[0].iter().any(|it| it.ends_with(expected)), "{:?}", found[0].last());
}

#[test]
fn revisions_without_output_schemas_do_not_check_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mock.yaml");
    let mock = "tools: [{name: a, output_schema: {type: object, required: [x]}, text: hi}]";
    std::fs::write(&path, mock).unwrap();
    for (revision, checked) in
        [("2024-11-05", false), ("2025-03-26", false), ("2025-06-18", true), ("2026-07-28", true)]
    {
        let server = format!("{{mock: \"{}\", protocol: {revision}}}", path.display());
        let found = failures_on(&server, "[{name: a, call: a}]");
        let section = format!("({revision}/server/tools#output-schema)");
        assert_eq!(found[0].iter().any(|it| it.contains(&section)), checked, "{found:?}");
        assert_eq!(found[0].is_empty(), !checked, "{found:?}");
    }
}

#[test]
fn a_capability_is_declared_only_where_the_revision_has_it() {
    let note =
        "while read -r line; do\n  case \"$line\" in *'\"elicitation\"'*) WHOM=declared ;; esac";
    let script = SHELL.replace("while read -r line; do", note);
    for (revision, whom) in
        [("2024-11-05", "none"), ("2025-03-26", "none"), ("2025-06-18", "declared")]
    {
        let script = serde_json::json!(script.replace("2025-06-18", revision));
        let server = |more: &str| {
            format!(
                "{{command: sh, args: [-c, {script}], env: {{WHOM: none}}, protocol: {revision}{more}}}"
            )
        };
        let test = |more: &str| {
            format!("[{{name: a, call: me{more}, expect: {{text: {{contains: {whom}}}}}}}]")
        };
        let answer = ", answer: {elicitation: {action: accept}}";
        assert_eq!(failures_on(&server(""), &test(answer)), [[""; 0]], "{revision}");
        let capabilities = ", capabilities: {elicitation: {}}";
        assert_eq!(failures_on(&server(capabilities), &test("")), [[""; 0]], "{revision}");
    }
}
