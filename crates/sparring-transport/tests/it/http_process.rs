//! Servers over HTTP as processes: started, awaited, and ended with all that they started.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::json;
use sparring_peer::server::{Context, HandlerResult};
use sparring_peer::{Cause, Client, Handler, Server};
use sparring_transport::http::{
    ExtraRequest, ExtraRoutes, HttpOptions, HttpServer, HttpTarget, HttpTransport,
};
use sparring_transport::{ChildTarget, HttpProcess, HttpProcessLink, HttpProcessTarget, free_port};
use sparring_wire::types::{CallToolResult, ServerCapabilities, Tool};
use sparring_wire::{Json, Revision};

use crate::script::{is_alive, shell, wait_until_ended, within};

/// The address of a server; set in the processes that these tests start.
const ADDRESS: &str = "SPARRING_TEST_ADDRESS";

/// The test that is the server in these processes.
const SERVER: &str = "http_process::serves_if_another_test_started_this_process";

/// A server whose tool `crash` ends the process.
struct Crashing;

impl Handler for Crashing {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(vec![Tool::new("echo"), Tool::new("crash")].into())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
        if name == "crash" {
            eprintln!("out of memory");
            std::process::exit(3);
        }
        let message = arguments.get("message").and_then(Json::as_str).unwrap_or_default();
        Ok(CallToolResult::text(message).into())
    }
}

/// `/health` succeeds from the third request on, `/moved` is a redirect to it, and `/never`
/// never succeeds.
#[derive(Debug, Default)]
struct Health(AtomicUsize);

impl ExtraRoutes for Health {
    fn matches(&self, path: &str) -> bool {
        path != "/mcp" && path != "/sse" && path != "/message"
    }

    fn answer(&self, request: ExtraRequest<'_>) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        let count = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        *response.status_mut() = match request.path {
            "/health" if count >= 3 => StatusCode::NO_CONTENT,
            "/moved" => StatusCode::FOUND,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        if request.path == "/moved" {
            response.headers_mut().insert("location", "/health".parse().unwrap());
        }
        eprintln!("check {count}");
        response
    }
}

#[tokio::test]
async fn serves_if_another_test_started_this_process() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let listener = tokio::net::TcpListener::bind(&address).await.unwrap();
    let health: Arc<dyn ExtraRoutes> = Arc::new(Health::default());
    let options = HttpOptions { extra_routes: Some(health), ..HttpOptions::default() };
    let _serving = HttpServer::new(Server::new(Crashing), options).serve(listener);
    eprintln!("serving");
    std::future::pending().await
}

/// The server as a process on a free port.
fn server(path: &str) -> HttpProcessTarget {
    let address = SocketAddr::from(([127, 0, 0, 1], free_port().unwrap()));
    let program = std::env::current_exe().unwrap().display().to_string();
    let command = ChildTarget::new(program).args([SERVER, "--exact", "--nocapture"]);
    let command = command.env(ADDRESS, address.to_string());
    HttpProcessTarget::new(command, format!("http://{address}{path}"))
}

/// The server, started by a shell script, which gets its command line as `"$0" "$@"`.
fn server_by(script: &str) -> HttpProcessTarget {
    let mut target = server("/mcp");
    let ChildTarget { program, args, env, .. } = target.command;
    target.command = shell(script).arg(program).args(args);
    target.command.env = env;
    target
}

/// A shell script in the place of a server.
fn script(script: &str) -> HttpProcessTarget {
    let url = format!("http://127.0.0.1:{}/mcp", free_port().unwrap());
    HttpProcessTarget::new(shell(script), url).ready_within(Duration::from_millis(300))
}

/// The error of a server that does not become ready.
async fn error(target: &HttpProcessTarget) -> String {
    within(HttpProcess::start(target)).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_started_server_is_called_over_both_transports_in_every_revision() {
    for revision in Revision::ALL {
        for transport in [HttpTransport::Streamable, HttpTransport::Sse] {
            if transport == HttpTransport::Sse && revision.is_modern() {
                continue;
            }
            let is_sse = transport == HttpTransport::Sse;
            let mut target = server(if is_sse { "/sse" } else { "/mcp" });
            target.http.transport = transport;
            let link = within(HttpProcessLink::start(&target)).await.unwrap();
            let id = link.id();
            let client = within(Client::builder().revision(revision).connect(link)).await.unwrap();
            let call = client.call_tool("echo", json!({"message": "hi"}));
            let response = within(call.into_future()).await.unwrap();
            assert_eq!(response.content(), "hi", "{revision} {transport:?}");
            within(client.close()).await;
            assert!(!is_alive(id), "{revision} {transport:?}");
        }
    }
}

#[tokio::test]
async fn a_start_waits_until_the_health_check_succeeds() {
    let process = within(HttpProcess::start(&server("/mcp").ready_path("/health"))).await.unwrap();
    let output = process.output();
    within(process.stop()).await;
    let text = output.text();
    let checks: Vec<&str> = text.lines().filter(|line| line.starts_with("check")).collect();
    assert_eq!(checks, ["check 1", "check 2", "check 3"]);
}

#[tokio::test]
async fn reports_a_server_that_does_not_become_ready_with_the_last_answer_and_its_output() {
    let never = server("/mcp").ready_path("/never").ready_within(Duration::from_secs(3));
    let message = error(&never).await;
    let expected = "/never: 503 Service Unavailable; its output ends with:\n";
    assert!(message.contains(" was not ready within 3s: GET http://127.0.0.1:"), "{message}");
    assert!(message.contains(expected) && message.contains("\ncheck "), "{message}");
    let moved = server("/mcp").ready_path("/moved").ready_within(Duration::from_secs(3));
    let message = error(&moved).await;
    let expected = "/moved: 302 Found, a redirect to /health, which is not followed";
    assert!(message.contains(expected), "{message}");
}

#[tokio::test]
async fn reports_a_server_that_never_listens_and_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut target = script("echo $$ > id; echo starting; exec sleep 300");
    target.command = target.command.cwd(folder.path());
    let message = error(&target).await;
    let address = target.http.url.replace("http://", "").replace("/mcp", "");
    let expected = format!(
        "sh was not ready within 300ms: no connection to {address}; its output ends with:\nstarting"
    );
    assert_eq!(message, expected);
    let id = std::fs::read_to_string(folder.path().join("id")).unwrap();
    assert!(!is_alive(id.trim().parse().unwrap()));
    let message = error(&target.clone().ready_path("/health")).await;
    let expected = format!("GET http://{address}/health: cannot connect to http://{address}: ");
    assert!(message.contains(&expected), "{message}");
}

#[tokio::test]
async fn reports_an_exit_before_the_server_is_ready_at_once_with_its_output() {
    let mut target = script("echo starting; echo cannot open config >&2; exit 3");
    target.ready_timeout = Duration::from_secs(300);
    let failed = within(HttpProcess::start(&target)).await.unwrap_err();
    assert_eq!(failed.reason(), "sh exited with status 3 before it was ready");
    let mut lines: Vec<&str> = failed.output().lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["cannot open config", "starting"]);
}

#[tokio::test]
async fn reports_an_address_that_another_program_uses_and_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut target = script("touch started; exec sleep 300");
    target.command = target.command.cwd(folder.path());
    target.http = HttpTarget::new(format!("http://{address}/mcp"));
    let expected = format!("cannot start sh: another program already listens on {address}");
    assert_eq!(error(&target).await, expected);
    assert!(!folder.path().join("started").exists());
}

#[tokio::test]
async fn reports_a_missing_program_and_an_invalid_url() {
    let mut target = script("");
    target.command = ChildTarget::new("no-such-program");
    assert_eq!(error(&target).await, "command not found: no-such-program");
    let target = HttpProcessTarget::new(shell("exec sleep 300"), "localhost/mcp");
    assert!(error(&target).await.contains("is not a server URL"));
}

#[tokio::test]
async fn a_stop_sends_sigterm_at_once_and_ends_the_processes_of_the_server() {
    let script = "trap 'echo ended >&2; exit 0' TERM; sleep 300 & \"$0\" \"$@\" & wait; wait";
    let process = within(HttpProcess::start(&server_by(script))).await.unwrap();
    let (id, output) = (process.id(), process.output());
    let began = Instant::now();
    within(process.stop()).await;
    assert!(began.elapsed() < Duration::from_millis(900), "took {:?}", began.elapsed());
    assert!(output.text().contains("ended\n"), "{}", output.text());
    wait_until_ended(id).await;
}

#[tokio::test]
async fn a_server_that_ignores_sigterm_is_killed() {
    let ignores = server_by("trap '' TERM; exec \"$0\" \"$@\"");
    let link = within(HttpProcessLink::start(&ignores)).await.unwrap();
    let id = link.id();
    let client = within(Client::builder().connect(link)).await.unwrap();
    let began = Instant::now();
    within(client.close()).await;
    assert!(began.elapsed() >= Duration::from_secs(5), "took {:?}", began.elapsed());
    assert!(!is_alive(id));
}

#[tokio::test]
async fn a_dropped_process_or_client_leaves_nothing() {
    let script = "sleep 300 & exec \"$0\" \"$@\"";
    let process = within(HttpProcess::start(&server_by(script))).await.unwrap();
    let id = process.id();
    drop(process);
    wait_until_ended(id).await;
    let link = within(HttpProcessLink::start(&server_by(script))).await.unwrap();
    let id = link.id();
    drop(within(Client::builder().connect(link)).await.unwrap());
    wait_until_ended(id).await;
}

#[tokio::test]
async fn a_crash_fails_the_open_calls_with_status_and_output() {
    let link = within(HttpProcessLink::start(&server("/mcp"))).await.unwrap();
    let client = within(Client::builder().connect(link)).await.unwrap();
    let failed = within(client.call_tool("crash", json!({})).into_future()).await;
    let message = failed.unwrap_err().to_string();
    assert!(message.contains("exited with status 3"), "{message}");
    assert!(message.contains("out of memory"), "{message}");
    let Cause::ProcessEnded { reason, .. } = within(client.closed()).await else {
        panic!("{message}")
    };
    assert_eq!(reason, "exited with status 3");
    assert!(!client.is_connected());
}

#[tokio::test]
async fn an_exit_between_requests_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "\"$0\" \"$@\" & until [ -e go ]; do sleep 0.02; done; kill $!; echo bye >&2; exit 4";
    let mut exits = server_by(script);
    exits.command = exits.command.cwd(folder.path());
    let link = within(HttpProcessLink::start(&exits)).await.unwrap();
    let client = within(Client::builder().connect(link)).await.unwrap();
    std::fs::write(folder.path().join("go"), "").unwrap();
    let Cause::ProcessEnded { reason, stderr } = within(client.closed()).await else {
        panic!("the process exited")
    };
    assert_eq!(reason, "exited with status 4");
    assert!(stderr.ends_with("bye"), "{stderr}");
}
