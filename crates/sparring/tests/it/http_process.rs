//! Servers over HTTP as processes, and clients that a test starts and stops.

use std::time::Duration;

use serde_json::json;
use sparring::fixture::{HttpProcess, HttpProcessTarget, RestartableClient, free_port};
use sparring::{ChildTarget, Client, MockServer, Reason};

use crate::greeter::program;

/// The address of a server; set in the processes that these tests start.
const ADDRESS: &str = "SPARRING_TEST_ADDRESS";

const SERVER: &str = "http_process::serves_if_another_test_started_this_process";

const SCRIPT: &str = "
tools:
  - {name: greet, text: hello}
  - {name: count, text: \"${counter.n}\"}
";

#[tokio::test]
async fn serves_if_another_test_started_this_process() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let mock = MockServer::from_yaml(SCRIPT, ".").unwrap();
    let _serving = mock.listen(address.parse().unwrap()).await.unwrap();
    eprintln!("serving");
    std::future::pending().await
}

fn server() -> HttpProcessTarget {
    let address = format!("127.0.0.1:{}", free_port().unwrap());
    let command = ChildTarget::new(std::env::current_exe().unwrap().display().to_string())
        .args([SERVER, "--exact", "--nocapture"])
        .env(ADDRESS, &address);
    HttpProcessTarget::new(command, format!("http://{address}/mcp")).ready_path("/health")
}

/// Returns true if a process runs.
fn is_running(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    !matches!(state, None | Some("Z" | "X"))
}

#[tokio::test]
async fn clients_share_a_server_over_http_that_a_test_starts_and_stops() {
    let process = HttpProcess::start(&server()).await.unwrap();
    let (one, other) =
        (Client::connect(process.target()).await, Client::connect(process.target()).await);
    let (one, other) = (one.unwrap(), other.unwrap());
    one.call_tool("count", json!({})).await.unwrap().assert_text("1");
    other.call_tool("count", json!({})).await.unwrap().assert_text("2");
    let (id, output) = (process.id(), process.output());
    process.stop().await;
    assert!(!is_running(id));
    assert!(output.text().contains("serving\n"), "{}", output.text());
    assert!(one.call_tool("greet", json!({})).await.is_err());
}

#[tokio::test]
async fn a_panic_in_a_test_ends_its_server_over_http() {
    let panicked = tokio::spawn(async {
        let process = HttpProcess::start(&server()).await.unwrap();
        assert_eq!(process.id(), 0, "this fails");
    });
    let payload = panicked.await.unwrap_err().into_panic();
    let message = payload.downcast_ref::<String>().unwrap();
    let (_, id) = message.split_once("left: ").unwrap();
    let id: u32 = id.lines().next().unwrap().parse().unwrap();
    while is_running(id) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_client_can_start_a_server_over_http_and_shows_its_output() {
    let client = Client::connect(server()).await.unwrap();
    client.call_tool("greet", json!({})).await.unwrap().assert_text("hello");
    client.close().await;
    assert!(client.stderr().contains("serving\n"), "{}", client.stderr());
}

#[tokio::test]
async fn the_error_of_a_server_that_is_not_ready_shows_its_output() {
    let mut target = server();
    target.command = ChildTarget::new("sh").args(["-c", "echo no config >&2; exit 3"]);
    let error = Client::connect(target.clone()).await.unwrap_err();
    assert!(matches!(error.reason(), Reason::Open(_)));
    let message = error.to_string();
    let expected = "sh exited with status 3 before it was ready; its output ends with:\nno config";
    assert!(message.starts_with(expected), "{message}");
    target.command = ChildTarget::new("sleep").arg("300");
    let target = target.ready_within(Duration::from_millis(200));
    let message = HttpProcess::start(&target).await.unwrap_err().to_string();
    assert!(message.starts_with("sleep was not ready within 200ms: GET http://"), "{message}");
}

#[tokio::test]
async fn a_client_is_started_stopped_and_started_again() {
    let mut over_http = RestartableClient::new(server());
    let mut over_stdio = RestartableClient::new(program());
    assert!(!over_http.is_started() && !over_stdio.is_started());
    assert_eq!(over_http.stop().await, None);
    for _ in 0..2 {
        // Its counter begins again, so it is a fresh process.
        over_http.start().await.unwrap();
        over_http.call_tool("count", json!({})).await.unwrap().assert_text("1");
        let greet = json!({"name": "Ada"});
        over_stdio.start().await.unwrap().call_tool("greet", greet).await.unwrap().assert_success();
        assert!(over_http.is_started() && over_stdio.is_started());
        assert!(over_http.stop().await.is_some() && over_stdio.stop().await.is_some());
        assert!(!over_http.is_started() && !over_stdio.is_started());
    }
    // A start of a started client stops it first.
    over_http.start().await.unwrap();
    over_http.call_tool("count", json!({})).await.unwrap().assert_text("1");
    over_http.start().await.unwrap();
    over_http.call_tool("count", json!({})).await.unwrap().assert_text("1");
}

#[tokio::test]
async fn dropping_a_started_client_ends_its_server() {
    let mut client = RestartableClient::new(ChildTarget::new("no-such-program"));
    assert!(client.start().await.is_err());
    assert!(!client.is_started());
    let mut client = RestartableClient::new(server());
    client.start().await.unwrap();
    let address = client.target().to_owned();
    let port: u16 = address.rsplit(':').next().unwrap().split('/').next().unwrap().parse().unwrap();
    drop(client);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
        tokio::task::yield_now().await;
    }
}
