//! Many servers at once, some of them broken, and many reloads, without losses
//! or leaks.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use sparring_host::config::{Reconnect, Rules, ServerConfig};
use sparring_host::manager::{Connection, Manager, ServerState};
use sparring_peer::Server;
use sparring_peer::server::{Context, Handler, HandlerResult};
use sparring_transport::http::{HttpOptions, HttpServer, HttpServerHandle, HttpTarget};
use sparring_transport::{ChildTarget, Target};
use sparring_wire::Json;
use sparring_wire::types::{CallToolResult, ServerCapabilities, Tool};
use tokio::net::TcpListener;
use tokio::sync::Barrier;

use super::children::{
    all_ended, child, children, example, example_server, pid, runs_in_own_process, shell,
};
use super::fixture::{TEST_TIMEOUT, server_config, within};

const MANY: usize = 100;

/// A server over HTTP that may answer its first list only after so many servers
/// were asked.
struct HttpEcho {
    barrier: Option<Barrier>,
}

impl Handler for HttpEcho {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        if let Some(barrier) = &self.barrier {
            barrier.wait().await;
        }
        Ok(vec![Tool::new("echo")].into())
    }

    async fn call_tool(&self, _: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
        Ok(CallToolResult::text(arguments.to_string()).into())
    }
}

/// So many servers over HTTP, each on its own port.
pub(crate) async fn start_http_servers(
    count: usize,
    wait_for_all: bool,
) -> Vec<(HttpServerHandle, ServerConfig)> {
    let server = Server::new(HttpEcho { barrier: wait_for_all.then(|| Barrier::new(count)) });
    let mut all = Vec::new();
    for number in 0..count {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let serving = HttpServer::new(server.clone(), HttpOptions::default()).serve(listener);
        let target = Target::Http(HttpTarget::new(url));
        all.push((serving, server_config(&format!("http-{number:03}"), target)));
    }
    all
}

pub(crate) fn stdio(number: usize) -> ServerConfig {
    server_config(&format!("stdio-{number:03}"), example_server(&number.to_string()))
}

/// Calls a tool on each server, all at once.
async fn call_every_server(connections: &[Connection]) {
    let calls = connections.iter().map(|connection| async move {
        let arguments = json!({"to": &**connection.server()});
        let answer = connection.call_tool("echo", arguments.clone()).await;
        let answer = answer.unwrap_or_else(|error| panic!("{}: {error}", connection.server()));
        assert_eq!(answer.content(), arguments.to_string());
    });
    within(futures_util::future::join_all(calls)).await;
}

#[tokio::test]
async fn two_hundred_servers_connect_concurrently() {
    // No server answers before all of its kind are started: connecting one
    // after the other, or ten at a time, would never end.
    let folder = tempfile::tempdir().unwrap();
    let folder_path = folder.path().to_string_lossy().into_owned();
    let waiting_server = |number: usize| {
        let name = number.to_string();
        let args = [name.as_str(), "--meet", &folder_path, &MANY.to_string()];
        let target = child(&example("stand_in"), &args);
        ServerConfig {
            timeout: TEST_TIMEOUT,
            ..server_config(&format!("stdio-{number:03}"), target)
        }
    };
    let webs = start_http_servers(MANY, true).await;
    let servers =
        (0..MANY).map(waiting_server).chain(webs.iter().map(|(_, server)| server.clone()));
    let manager = Manager::new(servers.collect::<Vec<_>>());
    let outcomes = within(manager.connect_all()).await;
    for (name, outcome) in &outcomes {
        assert!(outcome.is_ok(), "{name}: {outcome:?}");
    }
    assert_eq!((outcomes.len(), children().len()), (2 * MANY, MANY));
    assert_eq!(manager.tools().len(), MANY * 5 + MANY);
    call_every_server(&manager.connections()).await;
    assert!(within(manager.shut_down(TEST_TIMEOUT)).await);
    all_ended().await;
}

#[tokio::test]
async fn crashing_and_hanging_servers_do_not_affect_the_others() {
    // A port that accepts connections and never responds.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = Target::Http(HttpTarget::new(format!("http://{}/", silent.local_addr().unwrap())));
    let bad = [
        shell("read hello; echo broken >&2; exit 9"),
        shell("exec cat > /dev/null"),
        silent,
        Target::Child(ChildTarget::new("no-such-program")),
    ];
    let timeout = Duration::from_secs(2);
    let reconnect = Reconnect { attempts: 0, ..Reconnect::default() };
    let webs = start_http_servers(MANY / 2, false).await;
    let good = (0..MANY / 2).map(stdio).chain(webs.iter().map(|(_, server)| server.clone()));
    let servers = good.enumerate().map(|(number, server)| {
        let server = ServerConfig { reconnect, ..server };
        match number % 10 {
            0 => ServerConfig { target: bad[number / 10 % bad.len()].clone(), timeout, ..server },
            _ => ServerConfig { timeout: TEST_TIMEOUT, ..server },
        }
    });
    let servers: Vec<ServerConfig> = servers.collect();
    let manager = Manager::new(servers.clone());
    let outcomes: BTreeMap<_, _> = within(manager.connect_all()).await.into_iter().collect();
    assert_eq!(outcomes.len(), MANY);
    for server in &servers {
        let is_bad = bad.contains(&server.target);
        assert_eq!(outcomes[&*server.name].is_err(), is_bad, "{}", server.name);
        let failed = matches!(manager.state(&server.name), Some(ServerState::Failed { .. }));
        assert_eq!(failed, is_bad, "{}", server.name);
    }
    let connections = manager.connections();
    assert_eq!(connections.len(), MANY - MANY / 10);
    // Other servers crash while these are called.
    let stdio = |it: &&Connection| it.server().starts_with("stdio");
    let crashing: Vec<_> = connections.iter().filter(stdio).step_by(5).collect();
    let crashes = crashing.iter().map(|it| it.call_tool("crash", json!({})).into_future());
    let others: Vec<Connection> = connections
        .iter()
        .filter(|it| crashing.iter().all(|crashing| crashing.number() != it.number()))
        .cloned()
        .collect();
    let crashes = futures_util::future::join_all(crashes);
    let (crashed, ()) = within(async { tokio::join!(crashes, call_every_server(&others)) }).await;
    assert!(crashed.len() == 9 && crashed.iter().all(Result::is_err));
    call_every_server(&others).await;
    assert_eq!(manager.connections().len(), others.len());
    within(manager.shut_down(TEST_TIMEOUT)).await;
    all_ended().await;
}

#[tokio::test]
async fn a_reload_with_one_changed_entry_reconnects_one_of_a_hundred_servers() {
    let mut servers: Vec<_> = (0..MANY).map(stdio).collect();
    let manager = Manager::new(servers.clone());
    within(manager.connect_all()).await;
    let before = processes(&manager).await;
    assert_eq!(before.len(), MANY);
    servers[42].target = example_server("another");
    let changes = within(manager.reload(servers)).await.unwrap();
    assert_eq!((&*changes.changed, changes.untouched.len()), (&["stdio-042".into()][..], MANY - 1));
    let after = processes(&manager).await;
    let differ: Vec<_> = before.keys().filter(|name| before[*name] != after[*name]).collect();
    assert_eq!(differ, ["stdio-042"]);
    within(manager.shut_down(TEST_TIMEOUT)).await;
}

/// The number of each connection and its process id.
async fn processes(manager: &Manager) -> BTreeMap<String, (u64, u32)> {
    let all = manager
        .connections()
        .into_iter()
        .map(|it| async move { (it.server().to_string(), (it.number(), pid(&it).await)) });
    within(futures_util::future::join_all(all)).await.into_iter().collect()
}

/// The open files, children and tasks of this process.
fn resource_counts() -> [usize; 3] {
    let files = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    [files, children().len(), tasks]
}

/// Waits until the resources are within the limit, because HTTP servers notice the end
/// of a connection later.
async fn wait_for_resource_counts(limit: [usize; 3]) {
    within(async {
        while resource_counts().into_iter().zip(limit).any(|(now, limit)| now > limit) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_thousand_reloads_leave_no_file_no_process_and_no_task() {
    // The open files are those of the whole process, and other tests would open
    // some.
    if !runs_in_own_process(
        "manager::load::a_thousand_reloads_leave_no_file_no_process_and_no_task",
    ) {
        return;
    }
    let webs = start_http_servers(2, false).await;
    let mut servers = vec![stdio(0), stdio(1), webs[0].1.clone()];
    let manager = Manager::new(servers.clone());
    within(manager.connect_all()).await;
    let mut limit = None;
    for round in 0..1_000_usize {
        match round % 4 {
            // Another process, another position, another policy, one server
            // more or less.
            0 => servers[0].target = example_server(&round.to_string()),
            1 => servers[2].target = webs[round / 4 % 2].1.target.clone(),
            2 => servers[1].rules = Rules { deny: vec![round.to_string()], ..Rules::default() },
            _ => match servers.len() {
                3 => servers.push(ServerConfig { name: "more".into(), ..webs[0].1.clone() }),
                _ => drop(servers.pop()),
            },
        }
        let changes = within(manager.reload(servers.clone())).await.unwrap();
        assert!(changes.failed.is_empty(), "{round}: {changes:?}");
        // Everything has been used once by now.
        if round == 99 {
            limit = Some(resource_counts());
        }
    }
    assert_eq!(manager.connections().len(), servers.len());
    wait_for_resource_counts(limit.expect("a hundred rounds were made")).await;
    within(manager.shut_down(TEST_TIMEOUT)).await;
    all_ended().await;
}
