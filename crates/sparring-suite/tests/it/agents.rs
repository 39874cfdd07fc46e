//! Tests of agents: their input, environment and timeout, and the expectations of their exit
//! status, output and files.

use std::time::{Duration, Instant};

use sparring_suite::{FailedTry, Outcome};

use crate::fixture::{block_on, outcomes};

/// Runs a suite whose agent is a shell script. Returns the failed try of each test, if any.
fn failed_tries(script: &str, tests: &str) -> Vec<Option<Box<FailedTry>>> {
    failed_tries_with("", script, tests)
}

fn failed_tries_with(top: &str, script: &str, tests: &str) -> Vec<Option<Box<FailedTry>>> {
    let script = serde_json::json!(script);
    let text = format!(
        "{top}\nagent: {{command: sh, args: [-c, {script}], timeout: 10s, env: {{T: \"${{tmp}}\", WHO: \"${{WHO}}\"}}}}\n\
         tests: [{tests}]"
    );
    let failed = |outcome| match outcome {
        Some(Outcome::Passed) => None,
        Some(Outcome::Failed(failed)) => Some(failed),
        other => panic!("{other:?}"),
    };
    block_on(outcomes(&text, false)).into_iter().map(|(_, outcome)| failed(outcome)).collect()
}

/// Returns the failure messages of one test, each on its own line.
fn failure_messages(script: &str, test: &str) -> String {
    let failed = failed_tries(script, &format!("{{name: a, {test}}}")).pop().unwrap();
    let failures = failed.map(|failed| failed.failures).unwrap_or_default();
    failures.into_iter().map(|failure| format!("{}\n", failure.message)).collect()
}

#[track_caller]
fn pass(script: &str, test: &str) {
    assert_eq!(failure_messages(script, test), "", "{script}\n{test}");
}

#[track_caller]
fn fail(script: &str, test: &str, expected: &str) {
    let messages = failure_messages(script, test);
    assert!(messages.contains(expected), "expected {expected:?} in:\n{messages}");
}

#[test]
fn an_agent_gets_its_input_its_environment_and_a_folder() {
    pass("cat", "input: hello, expect: {stdout: hello}");
    pass("cat; echo $WHO", "agent: {command: cat}, expect: {stdout: \"\"}");
    pass("echo $WHO; basename $PWD", "input: x, expect: {stdout: \"Ada\\ntests\\n\"}");
    let own =
        "agent: {command: sh, args: [-c, 'echo $1; cat', sh, \"to: ${input}\"], cwd: \"${tmp}\"}";
    pass("exit 1", &format!("{own}, input: Bob, expect: {{stdout: \"to: Bob\\n\"}}"));
    pass("exit 1", "agent: {command: cat, stdin: \"<${input}>\"}, input: a, expect: {stdout: <a>}");
    let cases = "name: \"${a}\", cases: [{a: b}], input: \"say ${a}\", expect: {stdout: say b}";
    assert!(failed_tries("cat", &format!("{{{cases}}}"))[0].is_none());
}

#[test]
fn a_step_can_expect_exit_status_output_and_duration() {
    pass("exit 3", "input: x, expect: {exit: 3}");
    pass("exit 3", "input: x, expect: {exit: {gt: 0}, within: 10s}");
    pass("kill -9 $$", "input: x, expect: {exit: SIGKILL}");
    pass(
        "echo out; echo err >&2",
        "input: x, expect: {stdout: {contains: out}, stderr: \"err\\n\"}",
    );
    pass("echo '{\"a\": 1}'", "input: x, expect: {json: {a: 1}}");
    fail("exit 3", "input: x", "the agent exited with status 3");
    fail("kill -9 $$", "input: x", "the agent was killed by SIGKILL");
    fail("exit 3", "input: x, expect: {exit: 0}", "exit: expected 0, found 3");
    fail(
        "echo a",
        "input: x, expect: {stdout: {contains: b}}",
        "stdout: expected a value that contains \"b\"",
    );
    fail("echo a >&2", "input: x, expect: {stderr: \"\"}", "stderr: expected \"\", found \"a\\n\"");
    fail("echo a", "input: x, expect: {json: 1}", "not JSON");
}

#[test]
fn the_output_of_an_agent_can_be_saved_for_later_steps() {
    let steps = "steps: [{input: hi, save: {said: stdout, how: exit}}, \
                 {input: \"${said} ${how}\", expect: {stdout: hi 0}}]";
    pass("cat", steps);
}

#[test]
fn a_failure_has_the_last_lines_of_stdout_and_stderr() {
    let failed =
        failed_tries("seq 100; echo oops >&2; exit 1", "{name: a, input: x}").pop().unwrap();
    let failed = failed.unwrap();
    assert_eq!(failed.stderr, "oops");
    assert!(failed.stdout.starts_with("81\n") && failed.stdout.ends_with("\n100"), "{failed:?}");
}

#[test]
fn files_are_found_by_path_or_pattern_and_read_in_the_expected_form() {
    let script = "mkdir -p $T/a/b; echo hi > $T/a/x.txt; echo '{\"n\": 1}' > $T/a/b/y.json; \
                  printf '\\211PNG' > $T/p.png; ln -s a/x.txt $T/in.txt";
    let files = |files: &str| format!("input: x, expect: {{files: {{{files}}}}}");
    for good in [
        "a/x.txt: {text: \"hi\\n\"}",
        "./a/x.txt: {size: 3}",
        "\"**/*.json\": {count: 1, json: {n: 1}}",
        "\"*.png\": {base64: {starts_with: iVBO}}",
        "in.txt: {text: \"hi\\n\"}",
        "\"*.txt\": {count: 1}",
        "\"**/*.txt\": {count: 2, size: {gt: 0}}",
        "nothing: {exists: false}",
        "nothing: {count: 0}",
        "a/x.txt: {}",
    ] {
        pass(script, &files(good));
    }
    for (bad, expected) in [
        ("a/y.txt: {}", "`a/y.txt` does not exist; did you mean 'a/x.txt'?"),
        ("a/x.txt: {exists: false}", "`a/x.txt` exists"),
        ("a/x.txt: {text: ho}", "`a/x.txt` as text: expected \"ho\", found \"hi\\n\""),
        ("a/x.txt: {json: 1}", "`a/x.txt`: it is not JSON"),
        ("p.png: {text: a}", "`p.png`: it is not UTF-8"),
        ("\"**/*.txt\": {count: 3}", "the count of files `**/*.txt`: expected 3, found 2"),
        ("p.png: {size: 5}", "the size of `p.png`: expected 5, found 4"),
        ("a: {}", "`a` does not exist"),
    ] {
        fail(script, &files(bad), expected);
    }
    fail("true", &files("a: {}"), "`a` does not exist; the folder has no files");
}

#[test]
fn links_out_of_the_folder_pipes_and_huge_files_are_not_read() {
    let script = "ln -s /etc/hostname $T/out; ln -s nowhere $T/gone; mkfifo $T/pipe; \
                  truncate -s 10G $T/huge";
    let files = |files: &str| format!("input: x, expect: {{files: {{{files}}}}}");
    fail(script, &files("out: {text: {exists: true}}"), "`out`: it is a link out of the folder");
    fail(script, &files("gone: {text: a}"), "`gone`: cannot read it");
    fail(script, &files("pipe: {text: a}"), "`pipe`: cannot read it: not a regular file");
    fail(script, &files("huge: {text: a}"), "`huge`: cannot read it: larger than 16 MiB");
    pass(script, &files("huge: {size: 10737418240}, out: {}, pipe: {}"));
}

#[test]
fn an_agent_that_times_out_is_killed_with_its_process_group() {
    let script = "echo begun; echo waiting >&2; trap '' TERM; sleep 300 & echo $! > $T/child; wait";
    let (failed, child) = run_leaving_child(script, "timeout: 300ms", "input: x");
    let failed = failed.unwrap();
    assert_eq!(failed.failures[0].message, "the agent took longer than 300ms and was stopped");
    assert_eq!((&*failed.stdout, &*failed.stderr), ("begun", "waiting"));
    wait_until_ended(child);
}

#[test]
fn background_processes_of_an_agent_are_killed() {
    let script = "(trap '' HUP; exec sleep 300) & echo $! > $T/child; echo done";
    let (failed, child) =
        run_leaving_child(script, "timeout: 10s", "input: x, expect: {stdout: \"done\\n\"}");
    assert!(failed.is_none(), "{failed:?}");
    wait_until_ended(child);
}

#[test]
fn a_test_that_times_out_kills_its_agent() {
    let script = "sleep 300 & echo $! > $T/child; wait";
    let (failed, child) = run_leaving_child(script, "timeout: 10s", "timeout: 300ms, input: x");
    assert_eq!(failed.unwrap().failures[0].message, "the test took longer than 300ms");
    wait_until_ended(child);
}

/// Runs an agent that writes the id of a child process to `$T/child`. Returns the failed try,
/// if any, and the id.
fn run_leaving_child(script: &str, beside: &str, test: &str) -> (Option<Box<FailedTry>>, u32) {
    let folder = tempfile::tempdir().unwrap();
    let (script, path) = (serde_json::json!(script), serde_json::json!(folder.path()));
    let agent = format!("{{command: sh, args: [-c, {script}], env: {{T: {path}}}, {beside}}}");
    let text = format!("agent: {agent}\ntests: [{{name: a, {test}}}]");
    let outcome = block_on(outcomes(&text, false)).pop().unwrap().1;
    let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
    let failed = match outcome {
        Some(Outcome::Failed(failed)) => Some(failed),
        _ => None,
    };
    (failed, child.trim().parse().unwrap())
}

/// Waits until a process has exited or is a zombie.
#[track_caller]
fn wait_until_ended(process: u32) {
    let until = Instant::now() + Duration::from_secs(10);
    while let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) {
        if stat.contains(") Z ") {
            return;
        }
        assert!(Instant::now() < until, "it still runs: {stat}");
        std::thread::yield_now();
    }
}

#[test]
fn reports_an_agent_that_cannot_be_started() {
    let not = "agent: {command: no-such-agent}";
    fail("true", not, "cannot run the agent: command not found: no-such-agent");
    fail("true", "agent: {command: cat, cwd: nowhere}", "no such working directory for cat");
    fail("true", "agent: {command: ./trainer.mock.yaml}", "not executable");
}

#[test]
fn long_output_is_truncated_and_the_omitted_bytes_are_counted() {
    let script = "echo first; yes | head -c 50000000; echo last";
    pass(
        script,
        "input: x, expect: {stdout: {all: [{starts_with: first}, {ends_with: \"last\\n\"}, \
                  {contains: 48951435 bytes omitted}]}}",
    );
}

#[test]
fn invalid_utf_8_in_the_output_is_replaced() {
    pass("printf 'a\\377b'", "input: x, expect: {stdout: a\u{fffd}b}");
}

#[test]
fn an_agent_can_ignore_its_input() {
    let input = "x".repeat(1_000_000);
    pass("exec 0<&-; echo ok", &format!("input: {input}, expect: {{stdout: \"ok\\n\"}}"));
}

#[test]
fn one_test_can_use_an_agent_and_a_server() {
    let top =
        "servers: {it: {url: \"${mocks.them.url}\"}}\nmocks: {them: {mock: trainer.mock.yaml}}";
    let test = "{name: a, steps: [{call: echo, with: {message: hi}, save: {said: text}}, \
                {input: \"${said}\", expect: {stdout: hi, called: {them: {count: 0}}}}]}";
    assert!(failed_tries_with(top, "cat", test)[0].is_none());
}

#[test]
fn the_input_has_a_unique_case_id_and_the_interactions_of_the_test() {
    let top = "mocks: {data: {mcp_interactions: []}}";
    let test = |name: &str, beside: &str| {
        let save = "save: {one: stdout}";
        let same = "expect: {stdout: \"${one}\"}";
        format!(
            "{{name: {name}, {beside}steps: [{{input: do it, {save}}}, {{input: do it, {same}}}]}}"
        )
    };
    let brought = test("it's mine", "mcp_interactions: [{content: []}], ");
    assert!(failed_tries_with(top, "cat", &brought)[0].is_none());
    let look = |beside: &str, pattern: &str| {
        let pattern = serde_json::json!(pattern);
        let test = format!(
            "{{name: it is mine, input: do it, {beside}expect: {{stdout: {{matches: {pattern}}}}}}}"
        );
        let failed = failed_tries_with(top, "cat", &test).pop().unwrap();
        assert!(failed.is_none(), "{failed:?}");
    };
    look(
        "mcp_interactions: [{a: 1}], ",
        r"^do it \[test_case_id=it-is-mine\.[0-9a-f]{16}\] \[mcp_responses_json=W3siYSI6MX1d\]$",
    );
    look("", r"^do it \[test_case_id=it-is-mine\.[0-9a-f]{16}\]$");
    let top = format!("{top}\nmcp_interactions: [{{a: 1}}]");
    let test = "{name: a, input: x, expect: {stdout: {contains: W3siYSI6MX1d}}}";
    assert!(failed_tries_with(&top, "cat", test)[0].is_none());
    assert!(failed_tries("cat", "{name: a, input: plain, expect: {stdout: plain}}")[0].is_none());
}
