//! Tests `spar mock --llm` with the official packages of both APIs and with an agent
//! built on them. They are skipped with a message if the packages are not installed.

mod answers;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::other_clients::installed;
use crate::process::{Running, SPAR, output};

/// The turns that the clients of both packages run.
const TURNS: &str = include_str!("turns.yaml");

fn fixture_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/llm").join(file)
}

/// A Python with the packages.
fn python() -> Option<String> {
    let python = installed("python/bin/python")?;
    let look = "from importlib.util import find_spec as has; \
                exit(not all(map(has, ['openai', 'anthropic', 'google.genai', 'mcp'])))";
    let has = output(Command::new(&python).args(["-c", look]));
    if !has.status.success() {
        eprintln!(
            "SKIPPED: openai, anthropic and google-genai are not installed; run `cargo xtask peers`"
        );
        return None;
    }
    Some(python)
}

/// Starts an endpoint and returns its URL.
fn serve(script: &Path, flags: &[&str]) -> (Running, String) {
    let mut command = Command::new(SPAR);
    command.args(["mock", "--llm"]).arg(script).args(flags);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Running::of(child), line.trim().to_owned())
}

/// Returns everything that the client of an API received.
fn received(api: &str, mode: &str) -> Option<Value> {
    let python = python()?;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("a.llm.yaml");
    let turns = TURNS.replace("KEY", &format!("Bearer sk-{api}"));
    fs::write(&script, format!("{api}:\n{turns}")).unwrap();
    let (running, url) = serve(&script, &["--journal", &folder.path().join("j").to_string_lossy()]);
    let client = fixture_path(&format!("{api}_client.py"));
    let output = output(Command::new(python).arg(client).args([&url, mode]));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{api} {mode}: {stderr}");
    running.signal(Signal::TERM);
    assert_eq!(running.exit(), Some(143));
    let journal = fs::read_to_string(folder.path().join("j")).unwrap();
    // Two requests were retried, and the models were listed.
    assert_eq!(journal.lines().count(), 14);
    assert!(!journal.contains("sk-"), "{journal}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Checks the data that both clients must receive, except their errors.
fn check(api: &str, mode: &str, stops: [&str; 2], errors: &[(&str, Option<u16>, &str)]) {
    let Some(mut received) = received(api, mode) else { return };
    let found = received.as_object_mut().unwrap().remove("errors").unwrap();
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), errors.len(), "{found:?}");
    for (found, (class, status, text)) in found.iter().zip(errors) {
        assert_eq!(
            (&found[0], &found[1]),
            (&json!(class), &json!(status)),
            "{api} {mode}: {found}"
        );
        assert!(found[2].as_str().unwrap().contains(text), "{api} {mode}: {text} in {found}");
    }
    let call = json!({"city": "Oslo", "why": "a text that is long enough for pieces"});
    let right = json!({
        "text": "let me look out of the window", "call": ["get_weather", call], "stops": stops,
        "answer": "it is 15 degrees, and that is what the tool said", "usage": [7, 9],
        "retried": "after the retry", "models": ["scripted"], "in_pieces": mode == "stream",
    });
    assert_eq!(received, right, "{api} {mode}");
}

/// The errors before any answer.
const FIRST_ERRORS: [(&str, Option<u16>, &str); 4] = [
    ("BadRequestError", Some(400), "no good"),
    ("AuthenticationError", Some(401), ""),
    ("NotFoundError", Some(404), ""),
    ("RateLimitError", Some(429), ""),
];

/// The last error: no turn is left.
const NO_TURN_LEFT: (&str, Option<u16>, &str) =
    ("BadRequestError", Some(400), "turn 13 was requested, but the script has only 12");

#[test]
fn the_openai_package_gets_every_turn_whole_and_streamed() {
    let stops = ["tool_calls", "stop"];
    let overloaded = ("InternalServerError", Some(529), "");
    let cut = ("APIConnectionError", None, "");
    let garbage = ("JSONDecodeError", None, "");
    let spoken_text = ("InternalServerError", Some(529), "enough of that");
    let plain =
        [&FIRST_ERRORS[..], &[overloaded, cut, spoken_text, garbage, NO_TURN_LEFT]].concat();
    check("openai", "plain", stops, &plain);
    let spoken_text = ("APIError", None, "enough of that");
    let stream =
        [&FIRST_ERRORS[..], &[overloaded, cut, spoken_text, garbage, NO_TURN_LEFT]].concat();
    check("openai", "stream", stops, &stream);
}

#[test]
fn the_anthropic_package_gets_every_turn_whole_and_streamed() {
    let stops = ["tool_use", "end_turn"];
    let overloaded = ("OverloadedError", Some(529), "");
    let cut = ("APIConnectionError", None, "");
    let garbage = ("JSONDecodeError", None, "");
    let spoken_text = ("OverloadedError", Some(529), "enough of that");
    let plain =
        [&FIRST_ERRORS[..], &[overloaded, cut, spoken_text, garbage, NO_TURN_LEFT]].concat();
    check("anthropic", "plain", stops, &plain);
    let cut = ("RemoteProtocolError", None, "incomplete chunked read");
    let spoken_text = ("APIStatusError", Some(200), "enough of that");
    let stream =
        [&FIRST_ERRORS[..], &[overloaded, cut, spoken_text, garbage, NO_TURN_LEFT]].concat();
    check("anthropic", "stream", stops, &stream);
}

/// Runs an agent of official packages with a scripted model and a mock that answers turn
/// by turn.
fn check_agent(api: &str, transport: &str) {
    let Some(python) = python() else { return };
    let suite = fs::read_to_string(fixture_path("agent.spar.yaml")).unwrap();
    let suite = suite.replace("PYTHON", &python).replace("API", api);
    let suite = suite.replace("TRANSPORT", transport);
    let suite = suite.replace("AGENT", &fixture_path("agent.py").to_string_lossy());
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.spar.yaml"), suite).unwrap();
    let output = output(Command::new(SPAR).arg("test").current_dir(folder.path()));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("\n2 passed, 0 failed, 0 skipped in "), "{api}: {printed}");
}

#[test]
fn an_agent_on_openais_package_runs_end_to_end_without_a_model() {
    check_agent("openai", "stdio");
}

#[test]
fn an_agent_on_anthropics_package_runs_end_to_end_without_a_model() {
    check_agent("anthropic", "http");
}

#[test]
fn an_endpoint_listens_at_the_given_address_and_frees_its_port_after_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("a.llm.yaml");
    fs::write(&script, "anthropic: [{text: \"hello ${vars.who}\"}]\nvars: {who: nobody}\n")
        .unwrap();
    let flags = ["--http", "127.0.0.1:0", "--json", "--var", "who=Ada"];
    let (running, line) = serve(&script, &flags);
    let printed: Value = serde_json::from_str(&line).unwrap();
    let url = printed["url"].as_str().unwrap();
    let address = url.strip_prefix("http://").unwrap().to_owned();
    let body = json!({
        "model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}],
    });
    let body = body.to_string();
    let mut stream = TcpStream::connect(&address).unwrap();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nanthropic-version: 1\r\nconnection: close";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let answer = std::io::read_to_string(stream).unwrap();
    assert!(answer.contains("hello Ada"), "{answer}");
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
    assert!(TcpStream::connect(&address).is_err(), "the port is left open");
}
