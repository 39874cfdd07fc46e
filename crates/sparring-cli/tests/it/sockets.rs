//! Tests a target on a Unix socket.

use std::process::{Command, Output};

use sparring_peer::{Handler, Server};
use sparring_transport::listen_unix;

use crate::process::{SPAR, WAIT_LIMIT, output};

struct Empty;

impl Handler for Empty {}

/// Runs `spar` with these arguments on a server on a socket.
fn run(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let (ready, is_ready) = std::sync::mpsc::channel();
    let socket = path.clone();
    let server = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = listen_unix(&socket).unwrap();
            ready.send(()).unwrap();
            let link = listener.accept().await.unwrap();
            let mut running = Server::new(Empty).spawn(link);
            tokio::time::timeout(WAIT_LIMIT, running.wait()).await.unwrap();
        });
    });
    is_ready.recv_timeout(WAIT_LIMIT).unwrap();
    let output = output(Command::new(SPAR).args(args).arg("--unix").arg(&path));
    server.join().unwrap();
    output
}

#[test]
fn a_server_on_a_unix_socket_answers_and_sees_the_end_of_its_connection() {
    let output = run(&["ping", "--json"]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.starts_with(r#"{"server":{"name":"sparring","#), "{stdout}");
}

#[test]
fn max_line_applies_to_a_socket() {
    let output = run(&["ping", "--max-line", "20B", "--grace", "100ms"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("limit of 20 bytes"), "{stderr}");
}
