//! Tests other clients on `spar mock` and `spar serve`, over every transport that they
//! support: rmcp, the Python SDK, FastMCP and the Inspector's command line. Clients that
//! are not installed are skipped with a message; `cargo xtask peers` installs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::mock::over_http_of;
use crate::process::{Running, SPAR, output};

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/desk.mock.yaml")
}

/// A client's program and its first arguments.
pub(crate) type Client = Vec<String>;

/// Returns a program that `cargo xtask peers` installs.
pub(crate) fn installed(path: &str) -> Option<String> {
    let found = std::env::var_os("SPAR_PEERS_DIR").map(|folder| Path::new(&folder).join(path));
    let found = found.filter(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: {path} is not installed; run `cargo xtask peers`");
    }
    found.map(|path| path.to_string_lossy().into_owned())
}

pub(crate) fn python(client: &str, mode: &str) -> Option<Client> {
    let clients = "../sparring-transport/tests/it/peers/clients";
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join(clients).join(client);
    let python = installed("python/bin/python")?;
    Some(vec![python, client.to_string_lossy().into_owned(), mode.to_owned()])
}

/// The client of rmcp, which is an example of `sparring-transport`. Builds it if needed.
fn rmcp(revision: &str) -> Client {
    let folder = Path::new(SPAR).parent().unwrap();
    let client = folder.join("examples/rmcp_client");
    if !client.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "-p", "sparring-transport", "--example", "rmcp_client"]);
        build.arg("--target-dir").arg(folder.parent().unwrap());
        assert!(build.status().unwrap().success(), "the example does not build");
    }
    vec![client.to_string_lossy().into_owned(), revision.to_owned()]
}

/// Runs a client on the mock, and checks what it received.
fn check(client: &Client, mock: &[&str], expected: &str, name: &str) {
    check_as("", &mut Command::new(&client[0]), client, mock, expected, name);
}

/// The same with a prefix of the names of tools and prompts.
fn check_as(
    prefix: &str,
    command: &mut Command,
    client: &Client,
    mock: &[&str],
    expected: &str,
    name: &str,
) {
    command.env("SPAR_PREFIX", prefix);
    let output = output(command.args(&client[1..]).args(mock));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{expected} {mock:?}: {text}{stderr}");
    let mut received: Value = serde_json::from_str(&text).unwrap();
    // FastMCP's client does not show it.
    if received.get("version").is_none() {
        received["version"] = expected.into();
    }
    // Elicitation exists since 2025-06-18; before, the question is left out.
    let greeted = if expected >= "2025-06-18" { name } else { "nobody" };
    let tools = ["echo", "add", "progress", "ask"].map(|tool| format!("{prefix}{tool}"));
    let right = json!({
        "version": expected,
        "tools": tools,
        "resources": ["desk://note"],
        "prompts": [format!("{prefix}greet")],
        "note": {"uri": "desk://note", "text": "water the plants"},
        "prompt": "Say hello.",
        "echo": "a\n😀",
        "add": "5",
        "failed": true,
        "counted": "done",
        "ask": format!("hello {greeted}"),
        "missing": -32602,
        "progress": [1.0, 2.0, 3.0],
    });
    assert_eq!(received, right, "{expected} {mock:?}");
}

fn check_over_stdio(client: &Client, expected: &str, name: &str) {
    check(client, &[SPAR, "mock", &script().to_string_lossy()], expected, name);
}

/// Runs clients on one mock over HTTP.
fn over_http(visit: impl Fn(&str)) {
    let (running, url): (Running, String) = over_http_of(&script(), &[]);
    visit(&url);
    running.signal(Signal::TERM);
    assert_eq!(running.exit(), Some(143));
}

#[test]
fn rmcps_client_uses_a_mock_in_every_revision() {
    let revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
    for revision in revisions {
        check_over_stdio(&rmcp(revision), revision, "Ferris");
    }
    check_over_stdio(&rmcp("auto"), "2026-07-28", "Ferris");
    over_http(|url| revisions.iter().for_each(|it| check(&rmcp(it), &[url], it, "Ferris")));
}

#[test]
fn the_python_sdks_client_uses_a_mock_in_both_eras() {
    for (mode, expected) in
        [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "2026-07-28")]
    {
        let Some(client) = python("sdk.py", mode) else { return };
        check_over_stdio(&client, expected, "Guido");
        over_http(|url| check(&client, &[url], expected, "Guido"));
    }
    let Some(client) = python("sdk.py", "legacy") else { return };
    over_http(|url| check(&client, &[&url.replace("/mcp", "/sse")], "2025-11-25", "Guido"));
}

#[test]
fn the_python_sdks_client_uses_many_servers_as_one_in_both_eras() {
    let Some(_) = python("sdk.py", "auto") else { return };
    let home = crate::serve::home(&[("desk", &script())]);
    let served = crate::serve::Served::start(home.path(), &["--allow", "mcp__desk"]);
    for (mode, expected) in
        [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "2026-07-28")]
    {
        let Some(client) = python("sdk.py", mode) else { return };
        let over_stdio = [SPAR, "serve", "--allow", "mcp__desk"];
        for target in [&over_stdio[..], &[&served.url]] {
            let mut command = crate::serve::at(home.path(), &client[0]);
            check_as("mcp__desk__", &mut command, &client, target, expected, "Guido");
        }
    }
    assert_eq!(served.end(), Some(143));
}

#[test]
fn fastmcps_client_uses_a_mock_in_both_eras() {
    for (mode, expected) in
        [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "2026-07-28")]
    {
        let Some(client) = python("fastmcp4.py", mode) else { return };
        check_over_stdio(&client, expected, "Fast");
        over_http(|url| check(&client, &[url], expected, "Fast"));
    }
    let Some(client) = python("fastmcp4.py", "legacy") else { return };
    over_http(|url| check(&client, &[&url.replace("/mcp", "/sse")], "2025-11-25", "Fast"));
}

#[test]
fn the_inspector_uses_a_mock_and_many_servers_as_one_in_both_eras() {
    let modules = "node22/node_modules";
    let cli =
        installed(&format!("{modules}/@modelcontextprotocol/inspector/clients/cli/build/index.js"));
    let Some(cli) = cli else { return };
    let node = installed(&format!("{modules}/.bin/node")).unwrap_or_else(|| "node".to_owned());
    let home = crate::serve::home(&[("desk", &script())]);
    let add_by = |tool: &str, target: &[&str], era: &str| {
        let mut command = crate::serve::at(home.path(), &node);
        command.arg(&cli).args(target).args(["--protocol-era", era, "--format", "json"]);
        command.args(["--method", "tools/call", "--tool-name", tool]);
        command.args(["--tool-args-json", r#"{"a": 2, "b": 3}"#]);
        let output = output(&mut command);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let received: Value =
            serde_json::from_str(&text).unwrap_or_else(|_| panic!("{era}: {output:?}"));
        let expected = json!([{"type": "text", "text": "5"}]);
        assert_eq!(received["result"]["content"], expected, "{era} at {target:?}");
    };
    let add = |target: &[&str], era: &str| add_by("add", target, era);
    let served = crate::serve::Served::start(home.path(), &["--allow", "mcp__desk"]);
    for era in ["legacy", "modern"] {
        add(&[SPAR, "mock", &script().to_string_lossy()], era);
        // The Inspector would take the flags of the server for its own.
        add_by("mcp__desk__add", &[&served.url], era);
        add_by("mcp__desk__add", &[SPAR, "serve"], era);
    }
    assert_eq!(served.end(), Some(143));
    over_http(|url| {
        let sse = url.replace("/mcp", "/sse");
        for (url, era) in [(url, "legacy"), (url, "modern"), (&*sse, "legacy")] {
            add(&[url], era);
        }
    });
}
