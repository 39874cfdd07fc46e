//! Tests `spar mock` as a server: over HTTP in all forms, and its shutdown.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Instant;

use rustix::process::Signal;

use crate::process::{Running, SPAR, output};

fn script() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/mock/good.mock.yaml")
}

/// Starts a mock over HTTP and returns its URL.
fn over_http(flags: &[&str]) -> (Running, String) {
    over_http_of(&script(), flags)
}

/// Starts a mock of any script.
pub(crate) fn over_http_of(script: &Path, flags: &[&str]) -> (Running, String) {
    let mut command = Command::new(SPAR);
    command.arg("mock").arg(script).args(["--http", "127.0.0.1:0"]).args(flags);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Running::of(child), line.trim().to_owned())
}

fn port(url: &str) -> u16 {
    let rest = url.strip_prefix("http://127.0.0.1:").unwrap();
    rest.split('/').next().unwrap().parse().unwrap()
}

fn call(flags: &[&str]) -> (String, Option<i32>) {
    let output = output(Command::new(SPAR).args(["call", "greet", "name=Ada"]).args(flags));
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

#[test]
fn a_mock_over_http_answers_over_every_transport_and_ends_by_a_signal() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let (running, url) = over_http(&[]);
        let hello = ("hello Ada\n".to_owned(), Some(0));
        assert_eq!(call(&["--url", &url]), hello);
        assert_eq!(call(&["--url", &url, "--protocol", "2025-11-25"]), hello);
        let sse = url.replace("/mcp", "/sse");
        assert_eq!(call(&["--url", &sse, "--transport", "sse"]), hello);
        running.signal(signal);
        assert_eq!(running.exit(), Some(code));
        assert!(TcpStream::connect(("127.0.0.1", port(&url))).is_err(), "the port is left open");
    }
}

#[test]
fn prints_all_urls_as_json() {
    let (running, line) = over_http(&["--json"]);
    let urls: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert!(urls["url"].as_str().unwrap().ends_with("/mcp"), "{urls}");
    assert!(urls["sse_url"].as_str().unwrap().ends_with("/sse"), "{urls}");
    running.signal(Signal::TERM);
    running.exit();
}

#[test]
fn reports_a_port_in_use() {
    let (running, url) = over_http(&[]);
    let address = format!("127.0.0.1:{}", port(&url));
    let second = output(Command::new(SPAR).arg("mock").arg(script()).args(["--http", &address]));
    assert_eq!(second.status.code(), Some(2));
    let printed = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(printed.starts_with(&format!("error: cannot listen on {address}: ")), "{printed}");
    running.signal(Signal::TERM);
    running.exit();
}

/// Starts a mock on pipes.
fn on_pipes() -> (Child, ChildStdin) {
    let mut command = Command::new(SPAR);
    command.arg("mock").arg(script());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take().unwrap();
    (child, stdin)
}

#[test]
fn over_stdio_a_mock_answers_all_requests_before_the_end_of_input_and_exits_with_0() {
    let (child, mut stdin) = on_pipes();
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let params = format!(r#"{{"name":"greet","arguments":{{"name":"Ada"}},"_meta":{meta}}}"#);
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    // In two halves, and then an endless line.
    let (first, second) = line.split_at(40);
    stdin.write_all(first.as_bytes()).unwrap();
    stdin.flush().unwrap();
    stdin.write_all(second.as_bytes()).unwrap();
    stdin.write_all(b"\n{\"jsonrpc\":").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    // A request without a handler may be answered first.
    assert!(text.contains("\"text\":\"hello Ada\"") && text.contains("-32700"), "{text}");
}

#[test]
fn over_stdio_a_client_that_reads_nothing_ends_a_mock_after_the_write_timeout() {
    let mut command = Command::new(SPAR);
    command.arg("mock").arg(script()).args(["--write-timeout", "300ms"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut child, began) = (command.spawn().unwrap(), Instant::now());
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take());
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let name = "a".repeat(100_000);
    let params = format!(r#"{{"name":"greet","arguments":{{"name":"{name}"}},"_meta":{meta}}}"#);
    let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    // Until the mock has ended.
    while writeln!(stdin, "{request}").is_ok() {}
    let mut running = Running::of(child);
    assert_eq!(running.line("error: "), "the client stopped reading");
    assert_eq!(running.exit(), Some(1));
    // The default is five seconds.
    assert!(began.elapsed().as_secs() < 5, "took {:?}", began.elapsed());
    drop(stdout);
}

#[test]
fn over_stdio_a_signal_ends_a_mock() {
    let (child, stdin) = on_pipes();
    let running = Running::of(child);
    running.wait_until_it_catches_signals();
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
    drop(stdin);
}
