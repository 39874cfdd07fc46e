//! Real children for a host: the example `stand_in`, and a few lines of shell.

use std::path::Path;
use std::process::Command;

use sparring_host::manager::Connection;
use sparring_transport::{ChildTarget, Target};

use super::fixture::within;

/// The variable that tells whose a process is: its value is the test's.
const OURS: &str = "SPAR_TEST";

/// The test that runs on this thread, in this process.
fn test() -> String {
    format!("{}:{}", std::process::id(), std::thread::current().name().unwrap_or("main"))
}

/// A command as a child of this test.
pub(crate) fn child(program: &str, args: &[&str]) -> Target {
    let mut target = ChildTarget::new(program).args(args.iter().copied());
    target.env.insert(OURS.to_owned(), test());
    Target::Child(target)
}

/// The small server, which says that it is called so.
pub(crate) fn stand_in(name: &str) -> Target {
    child(&example("stand_in"), &[name])
}

/// A server as a script.
pub(crate) fn shell(script: &str) -> Target {
    child("sh", &["-c", script])
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

/// The processes that this test has started, and those that they have, which
/// have not ended.
pub(crate) fn children() -> Vec<u32> {
    let mark = format!("{OURS}={}", test());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    let is_ours = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    ids.filter(|pid| is_ours(pid) && is_alive(*pid)).collect()
}

/// Waits until none of them is left.
pub(crate) async fn nobody_left() {
    within(async {
        while !children().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Whether this test runs alone in its process. If not, it does so before this
/// returns, and what comes of that comes of it here.
pub(crate) fn alone(test: &str) -> bool {
    const ALONE: &str = "SPAR_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    let output = again.args([test, "--exact", "--nocapture"]).env(ALONE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let all = format!("{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{all}");
    false
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
