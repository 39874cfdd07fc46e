//! Tests the program under a low limit of open files: it reports a clear error and never
//! panics.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};

use rustix::process::Signal;

use crate::process::{Running, SPAR, output};

/// Runs `spar` with at most so many open descriptors.
fn run(limit: u32, args: &[&str]) -> Output {
    output(&mut limited(limit, args))
}

/// Returns a command that runs `spar` with at most so many open descriptors.
fn limited(limit: u32, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {limit} && exec \"$@\""), "sh", SPAR]).args(args);
    command
}

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs a verb with 4 to 24 descriptors. Each run succeeds or names the reason, and the
/// lowest limit is too low.
fn check(args: &[&str]) {
    for limit in 4..=24 {
        let output = run(limit, args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 2 | 3)), "{args:?} at {limit}: {code:?} {stderr}");
        assert!(!stderr.contains("panicked"), "{args:?} at {limit}: {stderr}");
        if code != Some(0) {
            assert!(stderr.contains("Too many open files"), "{args:?} at {limit}: {stderr}");
        }
        if limit < 8 {
            assert_eq!(code, Some(3), "{args:?} at {limit}: {stderr}");
        }
    }
}

#[test]
fn verbs_with_a_target_name_the_lack_of_descriptors() {
    let mock = example("weather.mock.yaml");
    for verb in [&["ping"][..], &["call", "get_weather", "city=London"], &["list"]] {
        check(&[verb, &["--", SPAR, "mock", &mock]].concat());
    }
}

#[test]
fn verbs_with_files_name_the_lack_of_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("first.spar.yaml");
    check(&["test", &example("weather.spar.yaml")]);
    check(&["mock", &example("weather.mock.yaml")]);
    check(&["mock", "--check", &example("weather.mock.yaml")]);
    check(&["init", "--force", &first.display().to_string()]);
}

/// Takes all descriptors of a server with connections. The server says so once, and answers
/// again when the connections are closed.
fn check_server(args: &[&str], is_answered: impl Fn(&str) -> bool) {
    let mut command = limited(64, args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let mut running = Running::of(child);
    // The servers behind it have started by then.
    running.line("note: serving ");
    let address = url.trim().strip_prefix("http://").unwrap().split('/').next().unwrap();
    let connect = || TcpStream::connect(address).unwrap();
    let open: Vec<_> = (0..100).map(|_| connect()).collect();
    let note = running.line("note: cannot accept a connection, and tries again: ");
    assert!(note.contains("Too many open files"), "{note}");
    drop(open);
    assert!(is_answered(url.trim()), "no answer at {url}");
    let open: Vec<_> = (0..100).map(|_| connect()).collect();
    drop(open);
    assert!(is_answered(url.trim()), "no answer at {url}");
    running.signal(Signal::TERM);
    let mut rest = String::new();
    running.stderr.as_mut().unwrap().read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("cannot accept"), "said again: {rest}");
    assert_eq!(running.exit(), Some(143));
}

#[test]
fn servers_name_the_lack_of_descriptors_once_and_go_on() {
    let is_answered = |url: &str| {
        let ping = output(Command::new(SPAR).args(["ping", "--url", url]));
        ping.status.code() == Some(0)
    };
    check_server(&["mock", &example("weather.mock.yaml"), "--http", "0"], is_answered);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("servers.yaml");
    let mock = example("weather.mock.yaml");
    let text = format!("servers: {{weather: {{command: {SPAR:?}, args: [mock, {mock:?}]}}}}");
    std::fs::write(&config, text).unwrap();
    let config = config.display().to_string();
    check_server(&["serve", "--config", &config, "--http", "0"], is_answered);
}

#[test]
fn an_llm_endpoint_names_the_lack_of_descriptors_once_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("agent.llm.yaml");
    std::fs::write(&script, "turns: [{text: hello}]").unwrap();
    let is_healthy = |url: &str| {
        let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let request =
            format!("GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response.starts_with("HTTP/1.1 200")
    };
    check_server(&["mock", "--llm", &script.display().to_string()], is_healthy);
}

#[test]
fn the_version_needs_no_descriptor() {
    assert_eq!(run(4, &["--version"]).status.code(), Some(0));
}
