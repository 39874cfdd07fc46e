//! Tests the program on a real server over HTTP and HTTP+SSE: npm's `server-everything`,
//! if it is installed.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::process::{SPAR, output};

const SCRIPT: &str = "node/node_modules/@modelcontextprotocol/server-everything/dist/index.js";

/// A running server. Stopped when dropped.
struct Everything {
    process: Child,
    port: u16,
}

impl Everything {
    fn start(way: &str) -> Option<Everything> {
        let script = std::env::var_os("SPAR_PEERS_DIR").map(|peers| Path::new(&peers).join(SCRIPT));
        let Some(script) = script.filter(|script| script.exists()) else {
            eprintln!("SKIPPED: server-everything is not installed; run `cargo xtask peers`");
            return None;
        };
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let mut command = Command::new("node");
        command.arg(script).arg(way).env("PORT", port.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let listens = |line: &std::io::Result<String>| {
            let line = line.as_ref().unwrap();
            line.contains("listening") || line.contains("running on")
        };
        assert!(lines.any(|line| listens(&line)), "server-everything does not start");
        // Reads on, so that the server does not block.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Everything { process, port })
    }

    /// Returns the stdout of `spar`, which must succeed without a note.
    fn spar(&self, args: &[&str], path: &str) -> String {
        let url = format!("http://127.0.0.1:{}/{path}", self.port);
        let output = output(Command::new(SPAR).args(args).args(["--url", &url]));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn check(way: &str, path: &str, flags: &[&str]) {
    let Some(server) = Everything::start(way) else { return };
    let spar = |args: &[&str]| server.spar(&[args, flags].concat(), path);
    assert_eq!(spar(&["call", "echo", "message=hi"]), "Echo: hi\n");
    assert!(spar(&["list", "tools"]).contains("get-sum "));
    assert!(spar(&["ping"]).starts_with("mcp-servers/everything "));
    let read = spar(&["read", "demo://resource/static/document/features.md"]);
    assert!(read.contains("# Everything Server"), "{read}");
    let completed = spar(&["complete", "prompt", "completable-prompt", "department", "E"]);
    assert_eq!(completed, "Engineering\n");
    assert!(spar(&["prompt", "simple-prompt"]).contains("without arguments"));
    let raw = spar(&["raw", r#"{"jsonrpc":"2.0","id":"mine","method":"ping"}"#]);
    // The server may send something else first.
    assert!(raw.ends_with("{\"result\":{},\"jsonrpc\":\"2.0\",\"id\":\"mine\"}\n"), "{raw}");
}

#[test]
fn init_writes_a_suite_that_passes_on_server_everything() {
    let Some(server) = Everything::start("streamableHttp") else { return };
    let script = Path::new(&std::env::var_os("SPAR_PEERS_DIR").unwrap()).join(SCRIPT);
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let script = script.to_str().unwrap();
    // A tool of the server takes 10 s; its test is skipped.
    let verb = ["init", "--timeout", "8s"];
    for target in [&["--url", &*url][..], &["--", "node", script]] {
        let folder = tempfile::tempdir().unwrap();
        let init = output(Command::new(SPAR).args(verb).args(target).current_dir(&folder));
        let stdout = String::from_utf8_lossy(&init.stdout);
        assert_eq!(init.status.code(), Some(0), "{target:?}: {stdout}");
        assert!(stdout.contains("next: spar test everything.spar.yaml\n"), "{stdout}");
        let test = output(Command::new(SPAR).args(["test", "-v"]).current_dir(&folder));
        let stdout = String::from_utf8_lossy(&test.stdout);
        assert_eq!(test.status.code(), Some(0), "{stdout}");
        assert!(stdout.contains("ok    prompt simple-prompt answers\n"), "{stdout}");
    }
}

#[test]
fn every_verb_works_on_server_everything_over_streamable_http() {
    check("streamableHttp", "mcp", &[]);
}

#[test]
fn every_verb_works_on_server_everything_over_http_and_sse() {
    check("sse", "sse", &["--transport", "sse"]);
}

#[test]
fn detects_a_server_with_only_http_and_sse() {
    let Some(server) = Everything::start("sse") else { return };
    assert_eq!(server.spar(&["call", "echo", "message=hi"], "sse"), "Echo: hi\n");
}
