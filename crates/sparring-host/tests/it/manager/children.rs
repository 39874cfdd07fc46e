//! Child processes for the manager: the example `stand_in`, and shell scripts.

use std::path::Path;
use std::process::Command;

use sparring_host::manager::Connection;
use sparring_transport::{ChildTarget, Target};

use super::fixture::within;

/// The environment variable that marks the processes of a test.
const TEST_MARK: &str = "SPAR_TEST";

/// The name of the test on this thread, with the process id.
fn test() -> String {
    format!("{}:{}", std::process::id(), std::thread::current().name().unwrap_or("main"))
}

/// A command as a child of this test.
pub(crate) fn child(program: &str, args: &[&str]) -> Target {
    let mut target = ChildTarget::new(program).args(args.iter().copied());
    target.env.insert(TEST_MARK.to_owned(), test());
    Target::Child(target)
}

/// The example server, which reports this name.
pub(crate) fn example_server(name: &str) -> Target {
    child(&example("stand_in"), &[name])
}

/// A server as a shell script.
pub(crate) fn shell(script: &str) -> Target {
    child("sh", &["-c", script])
}

/// The process id of a connection's server.
pub(crate) async fn pid(connection: &Connection) -> u32 {
    number(connection, "pid").await
}

/// The result of a tool, as a number.
pub(crate) async fn number(connection: &Connection, tool: &str) -> u32 {
    let call = connection.call_tool(tool, serde_json::json!({}));
    within(call.into_future()).await.unwrap().content().parse().unwrap()
}

/// Returns true if a process exists and has not ended.
pub(crate) fn is_alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit(')').next().unwrap_or_default().split_whitespace().next();
    !matches!(state, Some("Z" | "X"))
}

/// Waits until a process has ended.
pub(crate) async fn wait_until_ended(pid: u32) {
    within(async {
        while is_alive(pid) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// The running processes of this test and their children.
pub(crate) fn children() -> Vec<u32> {
    let mark = format!("{TEST_MARK}={}", test());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    let is_ours = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    ids.filter(|pid| is_ours(pid) && is_alive(*pid)).collect()
}

/// Waits until all of them have ended.
pub(crate) async fn all_ended() {
    within(async {
        while !children().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Returns true if this test runs alone in its process. If not, runs it alone
/// in another process first, and fails if that fails.
pub(crate) fn runs_in_own_process(test: &str) -> bool {
    const ALONE: &str = "SPAR_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    let output = again.args([test, "--exact", "--nocapture"]).env(ALONE, "1").output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let all = format!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && stdout.contains("1 passed"), "{all}");
    false
}

/// The path of an example of this crate.
pub(crate) fn example(name: &str) -> String {
    example_of(env!("CARGO_PKG_NAME"), name)
}

/// The path of an example, which is built if needed.
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
