//! Servers that cannot be started or reached, that crash, hang or send garbage:
//! each error names the server, leaves nothing behind and does not affect other
//! servers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sparring_host::config::{Reconnect, ServerConfig};
use sparring_host::manager::{Error, Manager, ServerState};
use sparring_mock::{MockServer, Reply, ToolMock};
use sparring_peer::Protocol;
use sparring_transport::http::HttpTarget;
use sparring_transport::{ChildTarget, Target};
use sparring_wire::Revision;
use tokio::time::Instant;

use super::children::{all_ended, children, example_server, pid, shell, wait_until_ended};
use super::fixture::{server_config, wait_for_state, within};

/// A script that completes the handshake and then runs `script`.
fn script_after_handshake(script: &str) -> Target {
    let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}"#;
    shell(&format!("read hello; echo '{hello}'; read initialized; {script}"))
}

#[tokio::test]
async fn a_missing_command_is_an_error_with_its_name_and_leaves_no_connection() {
    let missing = server_config("missing", Target::Child(ChildTarget::new("no-such-program")));
    let manager = Manager::new([missing, server_config("good", example_server("good"))]);
    let outcomes = within(manager.connect_all()).await;
    let error = outcomes[1].1.as_ref().unwrap_err();
    assert_eq!(error.to_string(), "server `missing`: command not found: no-such-program");
    let state = manager.state("missing");
    assert!(
        matches!(state, Some(ServerState::Failed { why: Error::OpenFailed { .. } })),
        "{state:?}"
    );
    assert!(manager.get("missing").is_none() && manager.is_connected("good"));
}

#[tokio::test]
async fn a_crash_on_initialize_is_an_error_with_status_and_stderr_and_leaves_nothing() {
    let script = "read hello; sleep 1000 & echo no license >&2; exit 7";
    let manager = Manager::new([server_config("crash", shell(script))]);
    let error = within(manager.connect("crash")).await.unwrap_err().to_string();
    assert!(error.starts_with("server `crash`: "), "{error}");
    assert!(error.contains("status 7") && error.contains("no license"), "{error}");
    assert!(manager.get("crash").is_none());
    // Disconnecting waits for the end of the connection attempt.
    within(manager.disconnect("crash")).await.unwrap();
    all_ended().await;
}

#[tokio::test]
async fn a_crash_fails_the_open_calls_with_status_and_stderr_and_changes_the_state() {
    let reconnect = Reconnect { attempts: 0, ..Reconnect::default() };
    let a = ServerConfig { reconnect, ..server_config("a", example_server("a")) };
    let manager = Manager::new([a, server_config("b", example_server("b"))]);
    within(manager.connect_all()).await;
    let mut events = manager.subscribe();
    let [a, b] = ["a", "b"].map(|name| manager.get(name).unwrap());
    let pid = pid(&a).await;
    let hanging = a.call_tool("hang", json!({})).start();
    let crashing = a.call_tool("crash", json!({})).start();
    for call in [hanging, crashing] {
        let error = within(call).await.unwrap_err().to_string();
        assert!(error.contains("status 3") && error.contains("my last words"), "{error}");
    }
    let state = wait_for_state(&mut events, "a", "failed").await;
    let why = state.reason().unwrap().to_string();
    assert!(why.contains("status 3") && why.contains("my last words"), "{why}");
    assert!(a.stderr().contains("my last words"));
    wait_until_ended(pid).await;
    assert!(manager.get("a").is_none() && b.is_connected());
}

#[tokio::test]
async fn an_unreachable_http_server_is_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let target = Target::Http(HttpTarget::new(format!("http://{address}/mcp")));
    let manager = Manager::new([server_config("web", target)]);
    let error = within(manager.connect("web")).await.unwrap_err().to_string();
    assert!(error.starts_with("server `web`: "), "{error}");
    assert!(error.contains(&address.to_string()) && error.contains("refused"), "{error}");
    assert!(matches!(manager.state("web"), Some(ServerState::Failed { .. })));
}

#[tokio::test]
async fn lines_that_are_not_json_are_counted_and_skipped() {
    let answer = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
    let script =
        format!("echo not json; echo '{{'; echo; read ping; echo more; echo '{answer}'; cat");
    let protocol = Protocol::Only(Revision::V2025_11_25);
    let server =
        ServerConfig { protocol, ..server_config("loud", script_after_handshake(&script)) };
    let manager = Manager::new([server]);
    let connection = within(manager.connect("loud")).await.unwrap();
    within(connection.client().ping()).await.unwrap();
    assert_eq!(connection.skipped_lines(), 3);
    assert!(connection.violations() >= 3, "{}", connection.violations());
    assert!(manager.is_connected("loud"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_at_connect_fails_at_its_deadline_and_leaves_no_child() {
    let timeout = Duration::from_secs(5);
    let hanging = "echo thinking >&2; sleep 1000 & exec cat > /dev/null";
    let manager = Manager::new([ServerConfig { timeout, ..server_config("hang", shell(hanging)) }]);
    let since = Instant::now();
    let error = within(manager.connect("hang")).await.unwrap_err().to_string();
    assert!(since.elapsed() >= timeout && since.elapsed() < timeout * 2, "{error}");
    assert!(error.starts_with("server `hang`: no answer to "), "{error}");
    within(manager.disconnect("hang")).await.unwrap();
    all_ended().await;
}

#[tokio::test]
async fn a_cancelled_connect_leaves_no_child() {
    let manager = Manager::new([server_config("hang", shell("exec cat > /dev/null"))]);
    let mut events = manager.subscribe();
    let connecting = manager.connect("hang");
    let ending = async {
        wait_for_state(&mut events, "hang", "connecting").await;
        manager.disconnect("hang").await
    };
    let (connected, ended) = within(async { tokio::join!(connecting, ending) }).await;
    ended.unwrap();
    let error = connected.unwrap_err().to_string();
    assert_eq!(error, "connecting to server `hang` was cancelled");
    assert!(matches!(manager.state("hang"), Some(ServerState::Idle)));
    assert_eq!(children(), [0; 0]);
}

fn http_config(url: String) -> ServerConfig {
    let reconnect = Reconnect { attempts: 3, delay: Duration::from_millis(1) };
    let protocol = Protocol::Only(Revision::LATEST_LEGACY);
    ServerConfig { reconnect, protocol, ..server_config("web", Target::Http(HttpTarget::new(url))) }
}

fn counting_mock() -> MockServer {
    let tool = ToolMock::new("count").reply(Reply::text("counted"));
    MockServer::builder().tool(tool).build().unwrap()
}

#[tokio::test]
async fn a_lost_session_is_opened_again_and_its_call_is_not_repeated() {
    let before = counting_mock();
    let serving = before.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = serving.address().unwrap();
    let manager = Manager::new([http_config(before.urls(address).mcp)]);
    let old = within(manager.connect("web")).await.unwrap();
    // The restarted server does not know the session.
    within(serving.stop(Duration::from_millis(10))).await;
    let after = Arc::new(counting_mock());
    let _serving = after.listen(address).await.unwrap();
    let mut events = manager.subscribe();
    let error = within(old.call_tool("count", json!({})).into_future()).await.unwrap_err();
    assert_eq!(error.kind(), "session-lost", "{error}");
    wait_for_state(&mut events, "web", "connected").await;
    let new = manager.get("web").unwrap();
    assert!(after.received_for("count").is_empty(), "nothing was made again");
    let answer = within(new.call_tool("count", json!({})).into_future()).await.unwrap();
    assert_eq!(answer.content(), "counted");
}

#[tokio::test]
async fn a_server_that_rejects_all_clients_is_an_error() {
    let mock = MockServer::builder().with("auth", json!({"bearer": ["secret"]})).build().unwrap();
    let serving = mock.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let manager = Manager::new([http_config(mock.urls(serving.address().unwrap()).mcp)]);
    let error = within(manager.connect("web")).await.unwrap_err().to_string();
    assert!(error.starts_with("server `web`: ") && error.contains("credentials"), "{error}");
    assert!(matches!(manager.state("web"), Some(ServerState::Failed { .. })));
}
