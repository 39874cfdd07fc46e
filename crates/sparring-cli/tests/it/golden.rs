//! What the program prints, case by case: a folder each below `tests/golden`.
//!
//! `cmd` is run by the shell in its folder, with `spar` in the path and an empty
//! folder in `TMP`; `stdout`, `stderr` and `exit` are what must come of it.
//! `script.sh` is the server, where it is not the shared one; `answers` are those
//! of a server over HTTP, whose address is in `HOST`. With `SPAR_BLESS=1` what
//! comes is written down instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::process::{SPAR, output};
use crate::web::{Bridge, Scripted, Way};

/// The groups of cases; each has a test.
const GROUPS: [&str; 24] = [
    "agent",
    "codegen",
    "config",
    "container",
    "diagnostics",
    "expectations",
    "faults",
    "flags",
    "help",
    "http",
    "init",
    "let-in",
    "matchers",
    "mock",
    "replies",
    "reports",
    "serve",
    "shell",
    "stand-ins",
    "steps",
    "suite",
    "suite-faults",
    "usage",
    "verbs",
];

/// How the commands end whose server is the shared one.
const SHARED: &str = " -- sh ../../server.sh";

/// What stands before numbers that are different each time.
const NUMBERS: [&str; 15] = [
    "\"at_ms\":",
    "duration_ms: ",
    "\"took_ms\":",
    "\"took_ms\": ",
    "\"at_ms\": ",
    "answered in ",
    "\"milliseconds\":",
    "\"at\":",
    "\"connect\":",
    "\"first_byte\":",
    "\"done\":",
    "event-stream ",
    "the last ",
    "sent ",
    "it took ",
];

/// How many cases run at once.
const AT_ONCE: usize = 4;

#[test]
fn every_verb_prints_results_for_people_and_programs() {
    check("verbs");
}

#[test]
fn a_module_is_written_and_held_against_one_that_is_there() {
    check("codegen");
}

#[test]
fn every_help_shows_flags_and_examples() {
    check("help");
}

#[test]
fn every_flag_has_its_effect() {
    check("flags");
}

#[test]
fn bad_usage_is_told_with_what_would_be_good() {
    check("usage");
}

#[test]
fn every_fault_of_a_target_is_told_by_name() {
    check("faults");
}

#[test]
fn every_fault_over_http_is_told_by_name_and_every_flag_has_its_effect() {
    check("http");
}

#[test]
fn every_fault_of_a_container_is_told_by_name_and_its_engine_gets_its_flags() {
    check("container");
}

#[test]
fn a_mock_serves_and_tells_what_is_wrong_with_its_script() {
    check("mock");
}

#[test]
fn servers_are_configured_trusted_and_named_and_what_is_wrong_is_told() {
    check("config");
}

#[test]
fn an_agent_answers_with_tools_and_tells_what_kept_it_from_that() {
    check("agent");
}

#[test]
fn the_shell_does_what_a_script_says_and_tells_what_it_could_not() {
    check("shell");
}

#[test]
fn a_first_suite_is_written_and_passes() {
    check("init");
}

#[test]
fn a_suite_is_run_told_of_and_checked() {
    check("suite");
}

#[test]
fn every_matcher_takes_what_fits_and_tells_what_does_not() {
    check("matchers");
}

#[test]
fn every_verb_of_a_step_does_its_work_and_tells_where_it_could_not() {
    check("steps");
}

#[test]
fn the_configured_servers_are_served_as_one() {
    check("serve");
}

#[test]
fn what_stands_in_for_others_answers_and_tells_what_came() {
    check("stand-ins");
}

#[test]
fn every_expectation_holds_and_fails_where_it_should() {
    check("expectations");
}

#[test]
fn every_reply_of_a_mock_is_seen_by_a_suite() {
    check("replies");
}

#[test]
fn every_report_goes_where_it_is_asked_for_and_reports_are_joined() {
    check("reports");
}

#[test]
fn every_fault_of_a_mock_is_told_by_a_suite() {
    check("suite-faults");
}

#[test]
fn a_mock_lets_in_whoever_has_what_it_asks_for() {
    check("let-in");
}

#[test]
fn everything_that_is_wrong_with_a_file_is_told_at_its_place() {
    check("diagnostics");
}

#[test]
fn every_verb_prints_the_same_over_streamable_http() {
    check_over(Way::Json);
}

#[test]
fn every_verb_prints_the_same_over_streamable_http_with_events() {
    check_over(Way::Events);
}

#[test]
fn every_verb_prints_the_same_over_http_and_sse() {
    check_over(Way::Old);
}

#[test]
fn every_group_of_cases_has_a_test() {
    let groups = folders(&root());
    let names: Vec<_> = groups.iter().map(|group| name(group)).collect();
    assert_eq!(names, GROUPS);
}

/// Runs all cases of a group.
fn check(group: &str) {
    let cases = folders(&root().join(group));
    let run = |case: &Path| compare(case, &run(case), std::env::var_os("SPAR_BLESS").is_some());
    let wrong = run_all(cases, run);
    assert!(wrong.is_empty(), "{}\n(SPAR_BLESS=1 takes this as right)", wrong.join("\n"));
}

/// Runs the cases of all verbs with their server behind HTTP: nothing that they
/// print may be different.
fn check_over(way: Way) {
    let cases = folders(&root().join("verbs")).into_iter();
    let modern = |case: &PathBuf| way != Way::Old && name(case).ends_with("-modern");
    let wanted = |case: &PathBuf| command(case).ends_with(SHARED) || modern(case);
    let run = |case: &Path| {
        let line = command(case);
        let (line, script) = line.split_once(" -- sh ").unwrap();
        let bridge = Bridge::start(way, script, case);
        let line = format!("{line} --url http://127.0.0.1:{}/mcp", bridge.port());
        let wrong = compare(case, &run_line(case, &line), false);
        assert!(bridge.is_left_clean(), "{case:?} leaves a session behind");
        wrong
    };
    let wrong = run_all(cases.filter(wanted).collect(), run);
    assert!(wrong.is_empty(), "over {way:?}:\n{}", wrong.join("\n"));
}

/// Runs cases side by side, and gives what is wrong.
fn run_all(cases: Vec<PathBuf>, run: impl Fn(&Path) -> Option<String> + Sync) -> Vec<String> {
    assert!(!cases.is_empty(), "no cases");
    let (next, wrong) = (Mutex::new(cases.into_iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = take(&next) {
                    let found = run(&case);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

/// What a case has the shell run.
fn command(case: &Path) -> String {
    fs::read_to_string(case.join("cmd")).unwrap().trim_end().to_owned()
}

fn take(cases: &Mutex<std::vec::IntoIter<PathBuf>>) -> Option<PathBuf> {
    cases.lock().unwrap().next()
}

/// The name and content of each file that tells what came.
type Found = [(&'static str, String); 3];

fn run(case: &Path) -> Found {
    run_line(case, &command(case))
}

fn run_line(case: &Path, line: &str) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let answers = fs::read_to_string(case.join("answers")).ok();
    let socket = folder.path().join("socket");
    let server = answers.map(|answers| Scripted::start(&answers, Some(&socket)));
    let host = server.as_ref().map(|server| format!("127.0.0.1:{}", server.port()));
    let programs = Path::new(SPAR).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(case).env_clear();
    command.env("PATH", path).env("TMP", folder.path());
    command.envs(host.as_ref().map(|host| ("HOST", host)));
    let output = output(&mut command);
    let text = |bytes: &[u8]| {
        let text = filtered(&String::from_utf8_lossy(bytes), folder.path());
        host.as_ref().map_or(text.clone(), |host| text.replace(host, "[HOST]"))
    };
    let exit = output.status.code().map_or("a signal".to_owned(), |code| code.to_string());
    [
        ("stdout", text(&output.stdout)),
        ("stderr", text(&output.stderr)),
        ("exit", format!("{exit}\n")),
    ]
}

/// What differs from what must come; nothing after it was written down.
fn compare(case: &Path, found: &Found, bless: bool) -> Option<String> {
    let mut differences = String::new();
    for (file, found) in found {
        let path = case.join(file);
        if bless {
            fs::write(&path, found).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if expected != *found {
            differences += &format!("  {file} must be:\n{expected}\n  and is:\n{found}\n");
        }
    }
    let group = case.parent().map(name).unwrap_or_default();
    (!differences.is_empty()).then(|| format!("{group}/{}:\n{differences}", name(case)))
}

/// The text without what is different each time.
fn filtered(text: &str, folder: &Path) -> String {
    let version = format!("spar {}", env!("CARGO_PKG_VERSION"));
    let mut text = text.replace(&*folder.to_string_lossy(), "[TMP]");
    text = text.replace(&version, "spar [VERSION]");
    let agent = format!("\"sparring/{}\"", env!("CARGO_PKG_VERSION"));
    text = text.replace(&agent, "\"sparring/[VERSION]\"");
    let quoted = format!("\"name\":\"spar\",\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    text = text.replace(&quoted, "\"name\":\"spar\",\"version\":\"[VERSION]\"");
    // In a report frames are texts, and the program has its version.
    let escaped = quoted.replace('"', "\\\"");
    text = text.replace(&escaped, "\\\"name\\\":\\\"spar\\\",\\\"version\\\":\\\"[VERSION]\\\"");
    for between in ["\"spar\":\"", "\"spar\": \""] {
        let version = format!("{between}{}\"", env!("CARGO_PKG_VERSION"));
        text = text.replace(&version, &format!("{between}[VERSION]\""));
    }
    for before in NUMBERS {
        text = without_numbers(&text, before);
    }
    without_the_resolvers_words(&without_times_of_tests(&text))
}

/// Only tests that take long have their time told.
fn without_times_of_tests(text: &str) -> String {
    let mut parts = text.split(" (took ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or(part, |(_, rest)| rest))
}

/// Why a name has no address is told in another way where there is no network.
fn without_the_resolvers_words(text: &str) -> String {
    let (before, mut filtered) = ("failed to lookup address information: ", String::new());
    for line in text.split_inclusive('\n') {
        filtered += &match line.split_once(before) {
            Some((start, _)) => format!("{start}{before}[WHY]\n"),
            None => line.to_owned(),
        };
    }
    filtered
}

/// The text with `[N]` for the number that follows each `before`.
fn without_numbers(text: &str, before: &str) -> String {
    let mut parts = text.split(before);
    let mut filtered = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c));
        let number = if rest == part { "" } else { "[N]" };
        // With its unit, where that follows at once: it may be different too.
        let unit = |c: char| c.is_alphabetic() && !number.is_empty();
        let rest = rest.trim_start_matches(unit);
        filtered += &format!("{before}{number}{rest}");
    }
    filtered
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The folders in a folder, by name.
fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
