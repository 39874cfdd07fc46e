//! Tests verbs at a terminal: questions of servers, progress, log messages, and the lines that
//! servers print for requests.

use std::fs;
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::process::{SPAR, output, signal, wait_until_gone};
use crate::shell::screen::{CONTROLLED, CTRL_C, CTRL_D, Screen};

const MOCK: &str = r#"
server: {name: desk, version: 1.0.0}
tools:
  - name: form
    ask:
      it:
        elicitation:
          message: "Who are you?"
          requested_schema:
            {type: object, properties: {name: {type: string}}, required: [name]}
    text: "${answers.it.action} ${answers.it.content.name:-nobody}"
  - name: model
    ask: {it: {sampling: {messages: [{role: user, content: {type: text, text: "A word?"}}], max_tokens: 9}}}
    text: "it says ${answers.it.content.text}"
  - name: folders
    ask: {it: {roots: {}}}
    text: "${answers.it.roots}"
  - name: count
    during:
      - {progress: {progress: 1, total: 2, message: one}}
      - {log: {level: warning, logger: disk, data: "almost full"}}
      - {log: {level: debug, data: "not shown"}}
      - {progress: {progress: 2, total: 2}}
    text: done
  - {name: fail, is_error: true, text: broken}
resources:
  - {uri: "memo://1", name: memo, text: "a memo"}
"#;

/// The process id of the server is in the file `pid`.
const SERVER: &str = "echo $$ > pid; exec \"$0\" mock desk.mock.yaml";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("desk.mock.yaml"), MOCK).unwrap();
    folder
}

/// Starts `spar` with these arguments at a terminal.
fn start(folder: &TempDir, args: &[&str]) -> Screen {
    let mut command = Command::new(CONTROLLED[0]);
    command.args(&CONTROLLED[1..]).args(args).current_dir(folder.path());
    command.env_clear().env("PATH", std::env::var("PATH").unwrap());
    command.env("HOME", folder.path()).env("TERM", "xterm").env("NO_COLOR", "1");
    Screen::run(command)
}

/// Starts a verb with the mock as its server.
fn start_with_server(folder: &TempDir, args: &[&str]) -> Screen {
    start(folder, &[args, &["--", "sh", "-c", SERVER, SPAR]].concat())
}

#[test]
fn the_user_answers_the_questions_of_a_call() {
    let folder = folder();
    for protocol in ["2025-11-25", "2026-07-28"] {
        let call = |tool| start_with_server(&folder, &["call", tool, "--protocol", protocol]);
        let mut screen = call("form");
        screen.see("`desk` asks: Who are you?");
        screen.see("name (text): ");
        screen.type_in("Ada\r");
        screen.see("send this? [Y]es, [n]o, [c]ancel: ");
        screen.type_in("\r");
        screen.see("accept Ada");
        assert_eq!(screen.end(), (Some(0), true));
        let mut screen = call("model");
        screen.see("user: A word?");
        screen.see("the response (empty to decline): ");
        screen.type_in("fjord\r");
        screen.see("it says fjord");
        assert_eq!(screen.end().0, Some(0));
        let mut screen = call("folders");
        screen.see("`desk` asks for the folders that it may work in (roots)");
        screen.see("a folder (empty for no more): ");
        screen.type_in("nope\r");
        screen.see("error: no such folder: ");
        screen.see("a folder (empty for no more): ");
        screen.type_in(".\r");
        screen.see("a folder (empty for no more): ");
        screen.type_in("\r");
        screen.see("file:///");
        assert_eq!(screen.end().0, Some(0));
    }
}

#[test]
fn an_answer_of_the_command_line_is_not_asked_for() {
    let folder = folder();
    let answer = r#"{"name": "Ada"}"#;
    let mut screen = start_with_server(&folder, &["call", "form", "--answer", answer]);
    let before = screen.see("accept Ada");
    assert!(!before.contains("asks"), "{before}");
    assert_eq!(screen.end().0, Some(0));
}

#[test]
fn ctrl_c_during_a_question_ends_the_call_and_the_server() {
    let folder = folder();
    let mut screen = start_with_server(&folder, &["call", "form"]);
    screen.see("name (text): ");
    screen.type_in(CTRL_C);
    // The error is on its own line.
    screen.see("\r\nerror: stopped by SIGINT");
    assert_eq!(screen.end(), (Some(130), true));
    wait_until_gone(fs::read_to_string(folder.path().join("pid")).unwrap().trim());
}

#[test]
fn the_end_of_input_cancels_a_question() {
    let folder = folder();
    let mut screen = start_with_server(&folder, &["call", "form"]);
    screen.see("name (text): ");
    screen.type_in(CTRL_D);
    screen.see("cancel nobody");
    assert_eq!(screen.end().0, Some(0));
}

#[test]
fn a_server_that_dies_during_a_question_ends_its_line() {
    let folder = folder();
    let mut screen = start_with_server(&folder, &["call", "form"]);
    screen.see("name (text): ");
    let server = fs::read_to_string(folder.path().join("pid")).unwrap();
    signal(server.trim().parse().unwrap(), Signal::KILL);
    screen.see("\r\nerror: ");
    assert_eq!(screen.end(), (Some(3), true));
}

#[test]
fn a_call_shows_progress_and_log_messages() {
    let folder = folder();
    for protocol in ["2025-11-25", "2026-07-28"] {
        let mut screen = start_with_server(&folder, &["call", "count", "--protocol", protocol]);
        screen.see("progress 1 of 2: one");
        // Other output erases the progress first.
        screen.see("\r\u{1b}[2Klog warning: disk: almost full");
        screen.see("progress 2 of 2");
        let before = screen.see("\r\u{1b}[2Kdone");
        assert!(!before.contains("not shown"), "{before}");
        assert_eq!(screen.end().0, Some(0));
        let call = ["call", "count", "--quiet", "--protocol", protocol];
        let mut screen = start_with_server(&folder, &call);
        let before = screen.see("done");
        assert!(!before.contains("progress") && !before.contains("log"), "{before}");
        assert_eq!(screen.end().0, Some(0));
    }
}

#[test]
fn the_shell_uses_a_command_without_a_config_file() {
    let folder = folder();
    let mut screen = start_with_server(&folder, &["shell"]);
    screen.see("connected to server (5 tools, 1 resource)");
    screen.enter("tools\r");
    screen.see("server (5 tools)");
    screen.enter("call count\r");
    screen.see("progress 1 of 2: one");
    screen.see("\r\u{1b}[2Kdone");
    screen.enter("call fa\t\r");
    screen.see("tool 'fail' returned isError");
    screen.enter("quit\r");
    assert_eq!(screen.end(), (Some(0), true));
}

/// Calls a tool of the server at this URL.
fn call(url: &str, tool: &str) {
    output(Command::new(SPAR).args(["call", tool, "at=7", "--no-validate", "--url", url]));
}

/// Returns the URL that a server prints.
fn read_url(screen: &mut Screen) -> String {
    screen.see("http://127.0.0.1:");
    format!("http://127.0.0.1:{}", screen.see("\r\n"))
}

#[test]
fn a_mock_prints_a_line_for_each_request() {
    let folder = folder();
    let mut screen = start(&folder, &["mock", "desk.mock.yaml", "--http", "0"]);
    let url = read_url(&mut screen);
    call(&url, "count");
    screen.see("server/discover → ok (");
    screen.see("tools/call count {\"at\":\"7\"} → ok (");
    call(&url, "fail");
    screen.see("tools/call fail {\"at\":\"7\"} → isError (");
    call(&url, "nope");
    screen.see("tools/call nope {\"at\":\"7\"} → error -32602: ");
    screen.type_in(CTRL_C);
    assert_eq!(screen.end(), (Some(130), true));
}

#[test]
fn a_quiet_mock_prints_no_line_for_a_request() {
    let folder = folder();
    let mut screen = start(&folder, &["mock", "desk.mock.yaml", "--http", "0", "--quiet"]);
    let url = read_url(&mut screen);
    call(&url, "count");
    screen.type_in(CTRL_C);
    let seen = screen.see("^C");
    assert!(!seen.contains("tools/call"), "{seen}");
    assert_eq!(screen.end().0, Some(130));
}

#[test]
fn a_gateway_prints_a_line_for_each_request() {
    let folder = folder();
    let config = format!("servers: {{desk: {{command: {SPAR}, args: [mock, desk.mock.yaml]}}}}\n");
    fs::write(folder.path().join("servers.yaml"), config).unwrap();
    let serve = ["serve", "--config", "servers.yaml", "--http", ":0", "--allow", "mcp__desk"];
    let mut screen = start(&folder, &serve);
    let url = read_url(&mut screen);
    screen.see("serving 5 tools");
    call(&url, "mcp__desk__count");
    screen.see("tools/call mcp__desk__count {\"at\":\"7\"} → ok (");
    screen.type_in(CTRL_C);
    assert!(screen.end().1);
}

#[test]
fn an_llm_endpoint_prints_a_line_for_each_request() {
    let folder = folder();
    fs::write(folder.path().join("a.llm.yaml"), "openai: [{text: hello}]\n").unwrap();
    let mut screen = start(&folder, &["mock", "--llm", "a.llm.yaml"]);
    let url = read_url(&mut screen);
    let agent = ["agent", "hi", "--model", "m", "--llm", &format!("{url}/v1")];
    output(Command::new(SPAR).args(agent).env("OPENAI_API_KEY", "x").current_dir(folder.path()));
    screen.see("/chat/completions → 200, turn 1");
    screen.type_in(CTRL_C);
    assert_eq!(screen.end().0, Some(130));
}
