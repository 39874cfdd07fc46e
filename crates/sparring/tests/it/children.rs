//! A child process ends with its test, for every end of the test.

use std::path::Path;

use serde_json::json;
use sparring::blocking::Wait as _;
use sparring::{ChildTarget, Client, Project};

use crate::greeter::program;
use crate::subprocess::{is_subprocess, subprocess};

/// A server with its own child process; writes the ids of both.
fn server(project: &Project) -> ChildTarget {
    let script = "sleep 300 & echo $! > pids; echo $$ >> pids; exec \"$0\"";
    ChildTarget::new("sh").args(["-c", script, &program().program]).cwd(project.path())
}

/// Returns true if a process is running.
fn is_running(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    !matches!(state, None | Some("Z" | "X"))
}

/// Waits until all `count` processes of a project have ended.
fn wait_until_ended(folder: &Path, count: usize) {
    let pids = std::fs::read_to_string(folder.join("pids")).unwrap();
    assert_eq!(pids.lines().count(), count, "{pids:?}");
    while pids.lines().any(is_running) {
        std::thread::yield_now();
    }
}

#[test]
fn closing_a_client_ends_its_child() {
    let project = Project::new();
    let client = Client::connect(server(&project)).wait().unwrap();
    client.call_tool("greet", json!({})).wait().unwrap().assert_success();
    client.close().wait();
    let pids = project.read("pids");
    assert!(!pids.lines().any(is_running), "{pids:?}");
}

#[test]
fn dropping_a_client_ends_its_child() {
    let project = Project::new();
    drop(Client::connect(server(&project)).wait().unwrap());
    wait_until_ended(project.path(), 2);
}

#[test]
fn a_test_that_panics_leaves_no_child() {
    for plain in [true, false] {
        let project = Project::new();
        let target = server(&project);
        let panicked = std::thread::spawn(move || {
            let body = async {
                let _client = Client::connect(target).await.unwrap();
                panic!("while a child is running");
            };
            match plain {
                true => body.wait(),
                false => tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap()
                    .block_on(body),
            }
        });
        assert!(panicked.join().is_err());
        wait_until_ended(project.path(), 2);
    }
}

const KILLED: &str = "children::a_test_program_that_is_killed_leaves_no_child";

#[test]
fn a_test_program_that_is_killed_leaves_no_child() {
    if is_subprocess() {
        let project = Project::new();
        // Without `sleep`: the children of a server can only be ended by a live client.
        let script = "echo $$ > pids; exec \"$0\"";
        let target = ChildTarget::new("sh").args(["-c", script, &program().program]);
        let _client = Client::connect(target.cwd(project.path())).wait().unwrap();
        std::fs::write(std::env::var("REPORT").unwrap(), project.path().to_str().unwrap()).unwrap();
        loop {
            std::thread::park();
        }
    }
    let project = Project::new();
    let report = project.join("report");
    let mut program = subprocess(KILLED).env("REPORT", &report).spawn().unwrap();
    let folder = loop {
        match std::fs::read_to_string(&report) {
            Ok(folder) if !folder.is_empty() => break folder,
            _ => std::thread::yield_now(),
        }
    };
    program.kill().unwrap();
    program.wait().unwrap();
    wait_until_ended(Path::new(&folder), 1);
    // The killed process could not remove it.
    std::fs::remove_dir_all(folder).unwrap();
}
