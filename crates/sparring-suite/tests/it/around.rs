//! Setup and teardown of suites and tests, and tests that run at once.

use std::num::NonZeroUsize;
use std::time::Duration;

use sparring_suite::{Event, Options, Outcome, Plan, Stop, TestSelection, run};
use tokio::sync::mpsc;

use crate::fixture::{ON_MOCK, block_on, outcomes, read, run_context};

/// Runs a suite. Returns `ok` or the failure messages for each test.
fn test_results(text: &str) -> Vec<String> {
    let results = block_on(outcomes(text, false)).into_iter().map(|(_, outcome)| match outcome {
        Some(Outcome::Passed) => "ok".to_owned(),
        Some(Outcome::Failed(failed)) => {
            failed.failures.iter().map(|it| it.message.clone()).collect::<Vec<_>>().join("; ")
        }
        other => panic!("{other:?}"),
    });
    results.collect()
}

/// Returns a suite whose server logs each call, its start and its end to a file, and the
/// folder of that file.
fn with_log(rest: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let script = serde_json::json!(LOGGING.replace("LOG", &log(&folder).display().to_string()));
    let text =
        format!("servers: {{it: {{command: sh, args: [-c, {script}], timeout: 5s}}}}\n{rest}");
    (folder, text)
}

fn log(folder: &tempfile::TempDir) -> std::path::PathBuf {
    folder.path().join("log")
}

fn logged(folder: &tempfile::TempDir) -> String {
    std::fs::read_to_string(log(folder)).unwrap_or_default().replace('\n', " ")
}

/// The server that logs. Its tool `die` exits, `hang` never answers, `bad` returns `isError`,
/// and `mutter` writes to stderr after its answer.
const LOGGING: &str = r#"
echo start >> LOG
say() { echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  name=$(printf %s "$line" | sed 's/.*"name":"\([a-z0-9]*\)".*/\1/')
  case "$line" in
    *server/discover*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}" ;;
    *'"initialize"'*) say '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *tools/list*) tool='"inputSchema":{"type":"object"}'
      tools=; for it in a b c d e bad die hang mutter; do tools="$tools$${tools:+,}{\"name\":\"$it\",$tool}"; done
      say "{\"tools\":[$tools]}" ;;
    *tools/call*) echo "$name" >> LOG
      case $name in
        die) exit 7 ;;
        mutter) say '{"content":[]}'; sleep 0.02; echo late >&2 ;;
        hang) if test -p LOG.pipe; then : > LOG.pipe; rm LOG.pipe; fi ;;
        bad) say '{"content":[],"isError":true}' ;;
        *) say "{\"content\":[{\"type\":\"text\",\"text\":\"$name\"}]}" ;;
      esac ;;
  esac
done
echo end >> LOG
"#;

#[test]
fn setup_and_teardown_run_around_the_suite_and_around_each_test() {
    let (folder, text) = with_log(
        "setup: [{call: a, save: {said: text}}]\nteardown: [{call: e}]\n\
         tests: [{name: one, setup: [{call: b}], call: \"${said}\", teardown: [{call: d}]}, \
         {name: two, call: c, expect: {text: c}}]",
    );
    assert_eq!(test_results(&text), ["ok", "ok"]);
    assert_eq!(logged(&folder), "start a b a d c e end ");
}

#[test]
fn a_teardown_runs_completely_even_after_failures() {
    let (folder, text) = with_log(
        "teardown: [{call: e}]\ntests: [{name: one, steps: [{call: bad}, {call: c, save: {x: text}}], \
         teardown: [{call: bad}, {call: \"${x}\"}, {call: d}]}, {name: two, setup: [{call: bad}], \
         call: c, teardown: [{call: b}]}]",
    );
    let failed = "tool returned isError: \"\"";
    assert_eq!(
        test_results(&text),
        [format!("{failed}; in the teardown: {failed}"), format!("in the setup: {failed}"),]
    );
    assert_eq!(logged(&folder), "start bad bad d bad b e end ");
}

#[test]
fn a_failed_teardown_fails_its_test_and_that_of_the_suite_fails_the_last_test() {
    let (folder, text) = with_log(
        "teardown: [{call: bad}, {call: e}]\ntests: [{name: one, call: a, teardown: [{call: b, \
         expect: {text: x}}]}, {name: two, call: c}, {name: three, skip: later, call: c}]",
    );
    let results = block_on(outcomes(&text, false));
    let results: Vec<String> = results.iter().map(|(_, it)| format!("{it:?}")).collect();
    assert!(
        results[0].contains("in the teardown: text: expected \\\"x\\\", found \\\"b\\\""),
        "{results:?}"
    );
    assert!(results[1].contains("in the suite's teardown: tool returned isError"), "{results:?}");
    assert_eq!(logged(&folder), "start a b c bad e end ");
}

#[test]
fn the_suite_teardown_runs_after_a_restart_and_after_a_crash() {
    let around =
        "setup: [{call: a, save: {said: text}}]\nteardown: [{call: \"${said}\"}, {call: bad}]\n";
    let failed = "in the suite's teardown: tool returned isError: \"\"";
    let test = "tests: [{name: one, steps: [{restart: true}, {call: c}]}]";
    let (folder, text) = with_log(&format!("{around}{test}"));
    assert_eq!(test_results(&text), [failed]);
    assert_eq!(logged(&folder), "start a end start c a bad end ");
    let test = "tests: [{name: one, call: die, expect: {error: {kind: closed}}}]";
    let (folder, text) = with_log(&format!("{around}{test}"));
    assert_eq!(test_results(&text), [failed]);
    assert_eq!(logged(&folder), "start a die start a bad end ");
}

#[test]
fn a_step_that_forbids_stderr_also_checks_late_lines() {
    let (_folder, text) =
        with_log("tests: [{name: one, call: mutter, expect: {stderr: {not: {contains: late}}}}]");
    assert_eq!(
        test_results(&text),
        ["stderr: expected not a value that contains \"late\", found \"late\\n\""]
    );
}

#[test]
fn a_failed_suite_setup_runs_once_and_fails_all_tests_at_its_position() {
    let (folder, text) = with_log(
        "setup: [{call: a}, {call: bad}]\nteardown: [{call: e}]\n\
         tests: [{name: one, retry: 3, call: c}, {name: two, call: c}]",
    );
    let results = block_on(outcomes(&text, false));
    for (_, outcome) in &results {
        let Some(Outcome::Failed(failed)) = outcome else { panic!("{results:?}") };
        let span = failed.failures[0].span;
        assert_eq!(&text[span.start..span.end], "call: bad");
    }
    assert_eq!(logged(&folder), "start a bad e end ");
}

#[test]
fn a_server_that_is_restarted_is_set_up_again() {
    let (folder, text) = with_log(
        "setup: [{call: a}]\nteardown: [{call: e}]\n\
         tests: [{name: crash, call: die, expect: {error: {kind: closed}}}, {name: after, call: b}, \
         {name: alone, isolate: true, call: c}, \
         {name: renewed, steps: [{call: d}, {restart: true}, {call: d}]}, {name: last, call: b}]",
    );
    assert_eq!(test_results(&text), ["ok"; 5]);
    assert_eq!(
        logged(&folder),
        "start a die start a b e end start a c e end start a d end start d end start a b e end "
    );
}

#[test]
fn a_retry_repeats_the_setup_and_a_teardown_restarts_a_server_that_ended() {
    let (folder, text) = with_log(
        "tests: [{name: one, retry: 1, setup: [{call: a}], call: die, teardown: [{call: d}]}]",
    );
    assert!(test_results(&text)[0].contains("exited with status 7"));
    assert_eq!(logged(&folder), "start a die start d a die start d end ");
}

#[test]
fn the_timeout_covers_setup_and_steps_and_applies_again_to_the_teardown() {
    let (folder, text) = with_log(
        "tests: [{name: one, timeout: 200ms, setup: [{call: hang}], call: a, teardown: [{call: d}]}, \
         {name: two, timeout: 200ms, call: a, teardown: [{call: hang}]}, {name: three, call: b}]",
    );
    assert_eq!(
        test_results(&text),
        [
            "the test took longer than 200ms",
            "the teardown of the test took longer than 200ms",
            "ok",
        ]
    );
    // The server is restarted after each timeout, because it may hang.
    assert_eq!(logged(&folder), "start hang d end start a hang end start b end ");
}

/// The options of the runs in this file.
const OPTIONS: Options = Options {
    jobs: NonZeroUsize::MIN,
    fail_fast: false,
    retry: 0,
    update: false,
    traffic: false,
    strict: false,
};

/// Runs a suite, stops the run once its server hangs, and checks that no test finished.
fn check_stopped(folder: &tempfile::TempDir, text: &str) {
    let pipe = folder.path().join("log.pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    block_on(async {
        let plan = Plan::new(vec![read(text).unwrap()], &TestSelection::default()).unwrap();
        let (event_sender, mut events) = mpsc::unbounded_channel();
        let (context, stop) = (run_context(), Stop::default());
        let asking = async {
            // The read waits until the server opens the pipe.
            tokio::task::spawn_blocking(move || std::fs::read(pipe)).await.unwrap().unwrap();
            stop.request();
        };
        let both =
            async { tokio::join!(run(&plan, OPTIONS, &context, &stop, event_sender), asking) };
        tokio::time::timeout(Duration::from_secs(20), both).await.expect("it hangs");
        let received = std::iter::from_fn(|| events.try_recv().ok());
        assert_eq!(received.filter(|it| matches!(it, Event::Finished { .. })).count(), 0);
    });
}

#[test]
fn a_stopped_run_runs_the_teardowns_that_are_due() {
    let (folder, text) = with_log(
        "setup: [{call: a}]\nteardown: [{call: e}]\n\
         tests: [{name: one, call: hang, teardown: [{call: d}]}, {name: two, call: b}]",
    );
    check_stopped(&folder, &text);
    assert_eq!(logged(&folder), "start a hang d e end ");
}

#[test]
fn a_stopped_run_gives_up_a_setup_that_hangs() {
    let (folder, text) =
        with_log("setup: [{call: hang}]\nteardown: [{call: e}]\ntests: [{name: one, call: b}]");
    check_stopped(&folder, &text);
    assert_eq!(logged(&folder), "start hang e end ");
}

#[test]
fn a_stopped_run_ends_although_a_teardown_hangs() {
    let (folder, text) = with_log("tests: [{name: one, call: hang, teardown: [{call: hang}]}]");
    let text = text.replace("timeout: 5s", "timeout: 1h");
    check_stopped(&folder, &text);
    assert_eq!(logged(&folder), "start hang hang end ");
}

#[test]
fn concurrency_limits_the_tests_that_run_at_once() {
    // Each test takes some time, so all tests that may start have started when the first ends.
    for (at_once, expected) in [(1, 1), (4, 4), (9, 6)] {
        let text = format!(
            "servers: {{it: {{mock: trainer.mock.yaml, concurrency: {at_once}}}}}\n\
             setup: [{{call: echo, with: {{message: 1}}, save: {{one: text}}}}]\n\
             tests: [{{name: \"test ${{n}}\", \
             cases: [{{n: 1}}, {{n: 2}}, {{n: 3}}, {{n: 4}}, {{n: 5}}, {{n: 6}}], \
             setup: [{{call: echo, with: {{message: \"${{n}}\"}}, save: {{mine: text}}}}], \
             steps: [{{call: half}}, {{call: echo, with: {{message: \"${{mine}}${{one}}\"}}, \
             expect: {{text: \"${{n}}1\"}}}}]}}]"
        );
        let events = block_on(async {
            let plan = Plan::new(vec![read(&text).unwrap()], &TestSelection::default()).unwrap();
            let (event_sender, mut events) = mpsc::unbounded_channel();
            run(&plan, OPTIONS, &run_context(), &Stop::default(), event_sender).await;
            std::iter::from_fn(|| events.try_recv().ok()).collect::<Vec<_>>()
        });
        let begun = events.iter().take_while(|it| matches!(it, Event::Started { .. })).count();
        let passed = |it: &&Event| matches!(it, Event::Finished { end, .. } if matches!(end.outcome, Outcome::Passed));
        assert_eq!((begun, events.iter().filter(passed).count()), (expected, 6), "{events:?}");
    }
}

#[test]
fn a_crash_fails_only_the_tests_that_run() {
    let text = "servers: {it: {mock: trainer.mock.yaml, concurrency: 2}}\n\
                tests: [{name: a, call: slow}, {name: b, steps: [{sleep: 100ms}, {call: exit}]}, \
                {name: c, call: two}, {name: d, call: two}]";
    let results = test_results(text);
    assert!(results[0].contains("before it answered tools/call"), "{results:?}");
    assert!(results[1].contains("before it answered tools/call"), "{results:?}");
    assert_eq!(results[2..], ["ok", "ok"]);
}

#[test]
fn refuses_keys_that_need_a_connection_of_one_test() {
    let refused = |test: &str, what: &str| {
        let text = format!(
            "servers: {{it: {{mock: trainer.mock.yaml, concurrency: 2}}}}\ntests: [{{name: a, {test}}}]"
        );
        let problems = read(&text).unwrap_err();
        let expected = format!("{what} cannot be used with the `concurrency` of `it`");
        assert!(problems.contains(&expected) && problems.contains("a.spar.yaml:2:"), "{problems}");
    };
    for key in ["notifications", "requests", "violations", "frames"] {
        refused(&format!("call: two, expect: {{{key}: {{count: 0}}}}"), &format!("`{key}`"));
    }
    refused("call: two, expect: {status: 200}", "`status`");
    refused("call: two, setup: [{ping: true, expect: {headers: {}}}]", "`headers`");
    refused("call: two, isolate: true", "`isolate`");
    refused("restart: true", "`restart`");
    refused("call: ask, answer: {elicitation: {action: accept}}", "an `answer`");
    let child = "servers: {it: {command: sh, concurrency: 2}}\n\
                 tests: [{name: a, ping: true, expect: {stderr: a}}]";
    assert!(read(child).unwrap_err().contains("`stderr` cannot be used with"));
}

#[test]
fn with_fail_fast_the_failed_test_also_reports_the_suite_teardown() {
    let (folder, text) = with_log(
        "teardown: [{call: b, expect: {text: x}}]\n\
         tests: [{name: one, call: bad}, {name: two, call: c}]",
    );
    let results = block_on(outcomes(&text, true));
    let first = format!("{:?}", results[0].1);
    assert!(first.contains("isError") && first.contains("expected \\\"x\\\""), "{first}");
    assert!(results[1].1.is_none());
    assert_eq!(logged(&folder), "start bad b end ");
}

#[test]
fn reports_keys_that_setup_and_teardown_cannot_have() {
    let refused = |text: &str, expected: &str| {
        let problems = read(&format!("{ON_MOCK}{text}")).unwrap_err();
        assert!(problems.contains(expected), "{problems}");
    };
    let test = "tests: [{name: a, ping: true}]";
    refused(&format!("setup: [{{restart: true}}]\n{test}"), "`restart` cannot be used in");
    refused("tests: [{name: a, ping: true, teardown: [{restart: true}]}]", "cannot be used in");
    refused(&format!("setup: [{{call: \"${{x}}\"}}]\n{test}"), "no earlier step saves `x`");
    refused(
        "tests: [{name: a, ping: true, teardown: [{list: tools, expect: {snapshot: true}}]}]",
        "`snapshot` cannot be used in `teardown`",
    );
    refused(
        "tests: [{name: a, call: echo, save: {x: text}}, {name: b, call: \"${x}\"}]",
        "no earlier step saves `x`",
    );
}

#[test]
fn the_client_declares_the_capabilities_of_the_suite() {
    let declared = |capabilities: &str| {
        let text = format!(
            "servers: {{it: {{mock: trainer.mock.yaml{capabilities}}}}}\n\
             tests: [{{name: a, call: ask, answer: {{elicitation: {{action: accept}}}}, \
             expect: {{text: x}}}}]"
        );
        let results = block_on(outcomes(&text, false));
        let Some(Outcome::Failed(failed)) = &results[0].1 else { panic!("{results:?}") };
        let first = failed.frames[0].text.clone();
        let from = first.find("\"io.modelcontextprotocol/clientCapabilities\":").unwrap();
        first[from + 45..].to_owned()
    };
    assert!(declared("").starts_with("{\"elicitation\":{}}"));
    let found = declared(", capabilities: {roots: {list_changed: true}, \"x/y\": {}}");
    assert!(found.starts_with("{\"roots\":{\"listChanged\":true},\"x/y\":{}}"), "{found}");
    assert!(declared(", capabilities: {}").starts_with("{}"));
}
