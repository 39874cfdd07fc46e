//! Real children for a host: the example `stand_in`, and a few lines of shell.

use std::path::Path;
use std::process::Command;

use sparring_host::manager::Connection;
use sparring_transport::{ChildTarget, Target};

use super::fixture::within;

/// The small server, which says that it is called so.
pub(crate) fn stand_in(name: &str) -> Target {
    Target::Child(ChildTarget::new(example("stand_in")).args([name]))
}

/// A server as a script.
pub(crate) fn shell(script: &str) -> Target {
    Target::Child(ChildTarget::new("sh").args(["-c", script]))
}

/// The id of the process behind a connection.
pub(crate) async fn pid(connection: &Connection) -> u32 {
    number(connection, "pid").await
}

/// What a tool says, as a number.
pub(crate) async fn number(connection: &Connection, tool: &str) -> u32 {
    let call = connection.call_tool(tool, serde_json::json!({}));
    within(call.into_future()).await.unwrap().content().parse().unwrap()
}

/// Whether a process is there and has not ended.
pub(crate) fn is_alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit(')').next().unwrap_or_default().split_whitespace().next();
    !matches!(state, Some("Z" | "X"))
}

/// Waits until a process is gone.
pub(crate) async fn gone(pid: u32) {
    within(async {
        while is_alive(pid) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// The children of this process that have not ended.
pub(crate) fn children() -> Vec<u32> {
    let ours = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    let is_ours = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().nth(1) == Some(&ours)
    };
    ids.filter(|pid| is_ours(pid) && is_alive(*pid)).collect()
}

/// Waits until no child of this process is left.
pub(crate) async fn nobody_left() {
    within(async {
        while !children().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// An example of this crate.
pub(crate) fn example(name: &str) -> String {
    example_of(env!("CARGO_PKG_NAME"), name)
}

/// An example, built if it is not there.
pub(crate) fn example_of(package: &str, name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).expect("target/PROFILE/deps/it");
    let path = profile.join("examples").join(name);
    if !path.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", package, "--example", name]);
        build.args(profile.ends_with("release").then_some("--release"));
        build.arg("--target-dir").arg(profile.parent().expect("target/PROFILE"));
        assert!(build.status().unwrap().success(), "the example {name} does not build");
    }
    path.to_string_lossy().into_owned()
}
