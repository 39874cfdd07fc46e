//! Tests reports of real runs: they match their schema, are written while tests run,
//! survive Ctrl+C, are replaced under --watch, and no output of a server breaks them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::Instant;

use quick_xml::events::Event;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Running, SPAR, WAIT_LIMIT, is_running, output};
use crate::transcript::golden;

/// Every format except the stream.
const KINDS: [&str; 8] = ["junit", "json", "tap", "markdown", "html", "github", "gitlab", "agent"];

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

fn json(folder: &TempDir, name: &str) -> Value {
    serde_json::from_str(&read(folder, name)).unwrap()
}

/// Writes the report of all suites in a folder, for any outcome.
fn report_of(suites: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(SPAR);
    command.args(["test", suites, "--quiet", "--retry", "1", "--report"]);
    command.arg(format!("json={}", folder.path().join("a.json").display()));
    output(command.current_dir(golden()));
    json(&folder, "a.json")
}

#[test]
fn real_reports_match_the_printed_schema() {
    let schema = output(Command::new(SPAR).args(["schema", "report"])).stdout;
    let validator = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    for suites in ["suite/bad.spar.yaml", "suite/verbs.spar.yaml", "reports"] {
        let report = report_of(suites);
        let wrong: Vec<String> = validator
            .iter_errors(&report)
            .map(|it| format!("{}: {it}", it.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{suites}: {wrong:#?}");
        assert!(!report["tests"].as_array().unwrap().is_empty(), "{suites}");
    }
}

/// A suite whose second test hangs.
fn hanging_suite() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "a.mock.yaml",
        "tools: [{name: quick, text: done}, {name: slow, delay: 10m, text: done}]\n",
    );
    write(
        "a.spar.yaml",
        "servers: {it: {mock: a.mock.yaml, timeout: 10m}}\ntests:\n  - {name: quick, call: quick}\n  \
         - {name: slow, call: slow}\n  - {name: later, call: quick}\n",
    );
    folder
}

fn start(folder: &TempDir, args: &[&str]) -> Running {
    let mut command = Command::new(SPAR);
    command.args(["test", "a.spar.yaml"]).args(args).current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running::of(command.spawn().unwrap())
}

/// Reads lines until one contains this, and returns it.
fn line_with(lines: &mut impl std::io::BufRead, what: &str) -> Value {
    loop {
        let mut line = String::new();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "no line has {what}");
        if line.contains(what) {
            return serde_json::from_str(&line).unwrap();
        }
    }
}

#[test]
fn ndjson_lines_are_written_at_once_and_ctrl_c_leaves_complete_reports() {
    let folder = hanging_suite();
    let mut running = start(
        &folder,
        &["--report", "ndjson", "--report", "json=a.json", "--report", "junit=a.xml"],
    );
    let mut stdout = BufReader::new(running.child.stdout.take().unwrap());
    let quick = line_with(&mut stdout, r#""event":"finished""#);
    assert_eq!((&quick["number"], &quick["test"]["outcome"]), (&0.into(), &"passed".into()));
    // The hanging test has started, and nothing more arrives.
    assert_eq!(line_with(&mut stdout, "started")["name"], "slow");
    assert!(!folder.path().join("a.json").exists(), "it is written at the end");
    running.signal(Signal::INT);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let lines: Vec<Value> = rest.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let printed: Vec<_> = lines.iter().map(|it| (&it["event"], &it["test"]["outcome"])).collect();
    let not_run = (&Value::from("finished"), &Value::from("not_run"));
    assert_eq!(printed, [not_run, not_run, (&"end".into(), &Value::Null)]);
    assert_eq!(lines[2]["stopped"], true);
    assert_eq!(running.line("error: "), "stopped by SIGINT");
    assert_eq!(running.exit(), Some(130));
    let report = json(&folder, "a.json");
    assert_eq!(report["stopped"], true);
    let outcomes: Vec<_> =
        report["tests"].as_array().unwrap().iter().map(|it| it["outcome"].clone()).collect();
    assert_eq!(outcomes, ["passed", "not_run", "not_run"]);
    assert!(read(&folder, "a.xml").contains("slow"));
}

#[test]
fn ctrl_c_does_not_wait_for_a_report_that_is_not_read() {
    let folder = hanging_suite();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut running = start(&folder, &["-v", "--filter", "quick", "--report", "json=pipe"]);
    let mut stdout = BufReader::new(running.child.stdout.take().unwrap());
    let mut printed = String::new();
    while !printed.contains("ok    quick") {
        assert_ne!(stdout.read_line(&mut printed).unwrap(), 0, "{printed}");
    }
    // The run is about to end, and then the pipe waits for a reader. The first signal may
    // still stop the run.
    let began = Instant::now();
    while is_running(&running.child.id().to_string()) && began.elapsed() < WAIT_LIMIT {
        running.signal(Signal::INT);
        std::thread::yield_now();
    }
    assert_eq!(running.exit(), Some(130));
}

#[test]
fn reports_are_replaced_after_each_change() {
    let folder = hanging_suite();
    let mut running = start(
        &folder,
        &["--watch", "--filter", "quick", "--report", "json=a.json", "--report", "ndjson=a.ndjson"],
    );
    running.line("note: waiting for changes");
    let first = json(&folder, "a.json");
    assert_eq!(first["summary"]["passed"], 1);
    fs::write(folder.path().join("new"), "tools: [{name: quick, text: no, is_error: true}]\n")
        .unwrap();
    fs::rename(folder.path().join("new"), folder.path().join("a.mock.yaml")).unwrap();
    running.line("note: a.mock.yaml changed");
    running.line("note: waiting for changes");
    let second = json(&folder, "a.json");
    assert_eq!(second["summary"]["failed"], 1, "{second}");
    let stream = read(&folder, "a.ndjson");
    assert_eq!(stream.matches(r#""event":"run""#).count(), 2, "{stream}");
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
}

/// Returns the elements of an XML document.
fn names_in(xml: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut names = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) | Event::Empty(start) => {
                names.push(start.name().as_ref().to_owned());
            }
            Event::Eof => return names,
            _ => {}
        }
    }
}

/// A server whose output could break a report.
const HOSTILE: &str = r#"
printf 'noise \377\376 \033[2J \000 ]]> </script> <!-- %%0A ::error::x\n'
printf 'it fails \377 ]]> </script>\033[31m\n' >&2
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case $line in
  *initialize\"*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"]]></script>","version":"1"}}' ;;
  *tools/list*) result='{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
  *tools/call*) result="{\"content\":[{\"type\":\"text\",\"text\":\"]]> </script> \\u0000\\u001b[2J\\u202e ---\\n...\\n# | \`\`\` %0A $(head -c 300000 /dev/zero | tr '\0' x)\"}]}" ;;
  *server/discover*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id"; continue ;;
  *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

#[test]
fn no_output_of_a_server_breaks_a_report() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("server.sh"), HOSTILE).unwrap();
    fs::write(
        folder.path().join("a.spar.yaml"),
        "servers: {it: {command: sh server.sh}}\ntests:\n  \
         - {name: \"]]> </script> \\e[2J # ::error:: | `x`\", call: t, expect: {text: \"</script>]]>\"}}\n  \
         - {name: good, call: t, expect: {violations: {count: {ge: 0}}}}\n",
    )
    .unwrap();
    let mut command = Command::new(SPAR);
    command.args(["test", "a.spar.yaml", "--report", "ndjson=ndjson"]).current_dir(folder.path());
    command.args(KINDS.iter().flat_map(|kind| ["--report".to_owned(), format!("{kind}={kind}")]));
    let output = output(&mut command);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    let report = json(&folder, "json");
    let noise = report["tests"][0]["frames"].as_array().unwrap().iter();
    let noise = noise.map(|it| &it["text"]).find(|it| it.as_str().unwrap().contains("noise"));
    assert!(noise.unwrap().as_str().unwrap().contains("\u{fffd}"), "{noise:?}");
    for line in read(&folder, "ndjson").lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    json(&folder, "gitlab");
    let page = read(&folder, "html").to_lowercase();
    assert_eq!(page.matches("<script").count(), page.matches("</script").count());
    assert_eq!(names_in(&read(&folder, "junit")).iter().filter(|it| *it == "testcase").count(), 2);
    for kind in KINDS.iter().filter(|kind| **kind != "html") {
        let text = read(&folder, kind);
        let bad = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        assert_eq!(bad, None, "in {kind}");
        assert!(text.len() < 2_000_000, "{kind} has {} bytes", text.len());
    }
    let annotations = read(&folder, "github");
    assert!(annotations.lines().all(|line| line.starts_with("::")), "{annotations}");
    let tap = read(&folder, "tap");
    assert_eq!(
        tap.lines().filter(|it| it.starts_with("ok ") || it.starts_with("not ok ")).count(),
        2
    );
    let left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left.len(), KINDS.len() + 3, "{left:?}");
}

#[test]
fn ctrl_c_ends_a_run_whose_output_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(15_000);
    let mock = format!("tools: [{{name: long, text: {long}}}]\n");
    fs::write(folder.path().join("a.mock.yaml"), mock).unwrap();
    let tests: String =
        (0..400).map(|number| format!("  - {{name: t{number}, call: long}}\n")).collect();
    let suite = format!("servers: {{it: {{mock: a.mock.yaml}}}}\ntests:\n{tests}");
    fs::write(folder.path().join("a.spar.yaml"), suite).unwrap();
    let mut running = start(&folder, &["--report", "ndjson"]);
    let mut stdout = BufReader::new(running.child.stdout.take().unwrap());
    line_with(&mut stdout, "started");
    // Nothing reads from here on, and the pipe is full long before the end.
    let began = Instant::now();
    while is_running(&running.child.id().to_string()) && began.elapsed() < WAIT_LIMIT {
        running.signal(Signal::INT);
        std::thread::yield_now();
    }
    assert_eq!(running.exit(), Some(130));
}
