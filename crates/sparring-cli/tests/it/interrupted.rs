//! Tests Ctrl+C during a request over HTTP: `spar` deletes the session if the server
//! answers, and does not wait for one that does not.

use std::time::Instant;

use rustix::process::Signal;

use crate::process::Running;
use crate::web::Scripted;

/// Starts a session, and never answers a call.
const SERVER: &str = r#"
=== "initialize"
HTTP/1.1 200 OK
content-type: application/json
mcp-session-id: 0123456789abcdef

{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"1"}}}
=== notifications/
HTTP/1.1 202 Accepted

=== GET
HTTP/1.1 405 Method Not Allowed

"#;

const DELETE_SESSION: &str =
    "=== DELETE mcp-session-id: 0123456789abcdef\nHTTP/1.1 204 No Content\n\n";

/// Interrupts `spar` when a request with this word has arrived.
fn interrupt(script: &str, word: &str) -> (Running, Scripted) {
    let server = Scripted::start(script, None);
    let url = format!("http://127.0.0.1:{}/mcp", server.port());
    let args = ["call", "x", "--no-validate", "--protocol", "2025-11-25", "--url", &url];
    let mut running = Running::start(&args);
    server.wait_for(word);
    running.signal(Signal::INT);
    assert_eq!(running.line("error: "), "stopped by SIGINT");
    (running, server)
}

#[test]
fn ctrl_c_during_a_call_over_http_ends_the_session() {
    let (running, server) = interrupt(&format!("{SERVER}{DELETE_SESSION}"), "tools/call");
    server.wait_for("DELETE");
    assert_eq!(running.exit(), Some(130));
}

#[test]
fn ctrl_c_during_the_handshake_over_http_ends_the_session() {
    let (running, _server) = interrupt("", "initialize");
    assert_eq!(running.exit(), Some(130));
}

#[test]
fn ctrl_c_does_not_wait_for_a_session_that_cannot_be_ended() {
    let began = Instant::now();
    let (running, server) = interrupt(SERVER, "tools/call");
    server.wait_for("DELETE");
    assert_eq!(running.exit(), Some(130));
    assert!(began.elapsed().as_secs() < 5, "took {:?}", began.elapsed());
}

#[test]
fn a_second_ctrl_c_does_not_wait_for_the_end_of_a_session() {
    let (running, server) = interrupt(SERVER, "tools/call");
    server.wait_for("DELETE");
    let began = Instant::now();
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
    // Waiting for the session would take two seconds.
    assert!(began.elapsed().as_millis() < 1500, "took {:?}", began.elapsed());
}
