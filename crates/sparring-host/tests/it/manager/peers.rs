//! The manager with servers of different SDKs, all at once.
//!
//! `cargo xtask peers` installs them and prints their folder; a missing one is skipped
//! with a message.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sparring_host::config::ServerConfig;
use sparring_host::manager::Manager;
use sparring_transport::{ChildTarget, Target};

use super::children::{all_ended, example_of};
use super::fixture::{TEST_TIMEOUT, server_config, within};

/// A server, a call to it, and an expected part of the result.
struct Peer {
    server: ServerConfig,
    tool: &'static str,
    arguments: Value,
    expected: &'static str,
}

fn peer(
    name: &str,
    target: Option<ChildTarget>,
    (tool, arguments, expected): (&'static str, Value, &'static str),
) -> Option<Peer> {
    let Some(target) = target else {
        eprintln!("SKIPPED: {name} is not installed; run `cargo xtask peers`");
        return None;
    };
    let server =
        ServerConfig { timeout: TEST_TIMEOUT, ..server_config(name, Target::Child(target)) };
    Some(Peer { server, tool, arguments, expected })
}

fn installed(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("SPAR_PEERS_DIR")?;
    Some(Path::new(&folder).join(path)).filter(|path| path.exists())
}

fn npm(package: &str) -> Option<ChildTarget> {
    let script = format!("node/node_modules/@modelcontextprotocol/{package}/dist/index.js");
    Some(ChildTarget::new("node").args([installed(&script)?.to_string_lossy()]))
}

fn python(args: &[&str]) -> Option<ChildTarget> {
    let python = installed("python/bin/python")?;
    Some(ChildTarget::new(python.to_string_lossy()).args(args.iter().copied()))
}

/// A Python server of the transport's tests.
fn script(name: &str) -> Option<ChildTarget> {
    let servers = "../sparring-transport/tests/it/peers/servers";
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(servers).join(name);
    python(&[&script.to_string_lossy()])
}

fn peers(folder: &Path) -> Vec<Peer> {
    let file = folder.join("note.txt");
    std::fs::write(&file, "water the plants").unwrap();
    let adding = || ("add", json!({"a": 2, "b": 3}), "5");
    let zones = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let rmcp = ChildTarget::new(example_of("sparring-transport", "rmcp_server"));
    let filesystem = npm("server-filesystem").map(|it| it.args([folder.to_string_lossy()]));
    let time = python(&["-m", "mcp_server_time", "--local-timezone", "UTC"]);
    let all = [
        peer("everything", npm("server-everything"), ("get-sum", json!({"a": 2, "b": 3}), "is 5.")),
        peer("filesystem", filesystem, ("read_text_file", json!({"path": file}), "plants")),
        peer("time", time, ("convert_time", zones, "+9.0h")),
        peer("python sdk", script("sdk.py"), adding()),
        peer("fastmcp", script("fastmcp4.py"), adding()),
        peer("rmcp", Some(rmcp), ("echo", json!({"message": "hi"}), "hi")),
    ];
    all.into_iter().flatten().collect()
}

#[tokio::test]
async fn the_manager_connects_real_servers_of_different_sdks_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let peers = peers(folder.path());
    let manager = Manager::new(peers.iter().map(|peer| peer.server.clone()));
    for (name, outcome) in within(manager.connect_all()).await {
        let connection = outcome.unwrap_or_else(|error| panic!("{error}"));
        assert!(!connection.tools().items.is_empty(), "{name}");
        let lists = connection.lists();
        assert_eq!((lists.resources.stale, lists.prompts.stale), (None, None), "{name}");
    }
    let calls = peers.iter().map(|peer| async {
        let connection = manager.get(&peer.server.name).unwrap();
        let answer = connection.call_tool(peer.tool, peer.arguments.clone()).await.unwrap();
        assert!(answer.content().contains(peer.expected), "{}: {answer:?}", peer.server.name);
        assert_eq!(connection.violations(), 0, "{}", peer.server.name);
    });
    within(futures_util::future::join_all(calls)).await;
    assert_eq!(manager.status().connected_servers, peers.len());
    within(manager.shut_down(TEST_TIMEOUT)).await;
    all_ended().await;
}
