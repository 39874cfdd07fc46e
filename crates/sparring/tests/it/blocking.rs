//! The same client from plain tests, and what an async one is told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use sparring::blocking::{Wait as _, wait};
use sparring::{Client, Project, Revision, everywhere};

use crate::failure::failure;
use crate::greeter::{Greeter, mock, of_rmcp, program};

#[test]
fn a_plain_test_talks_to_whatever_an_async_one_does() {
    for connected in [
        Client::in_memory(Greeter).wait(),
        Client::in_memory(mock()).wait(),
        Client::in_memory(of_rmcp::Greeter).wait(),
        Client::connect(program()).wait(),
    ] {
        let client = connected.unwrap();
        client.list_tools().wait().unwrap().find_tool("greet");
        let call = client.call_tool("greet", json!({"name": "Ada"}));
        let response = call.timeout(Duration::from_secs(10)).wait().unwrap();
        assert_eq!(response.content(), "hello Ada", "{}", client.target());
        client.close().wait();
    }
}

#[test]
fn a_plain_test_hears_progress_and_runs_out_of_time() {
    let script = "tools: [{name: told, during: [{progress: 1}], text: done}, \
                  {name: slow, delay: 1h, text: late}]";
    let mock = sparring::MockServer::from_yaml(script, ".").unwrap();
    let client = Client::in_memory(mock).wait().unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&heard);
    let call = client.call_tool("told", json!({}));
    let call = call.on_progress(move |progress| note.lock().unwrap().push(progress.progress));
    assert_eq!(call.wait().unwrap().content(), "done");
    assert_eq!(*heard.lock().unwrap(), [1.0]);
    let call = client.call_tool("slow", json!({})).timeout(Duration::from_millis(50));
    let error = call.wait().unwrap_err().to_string();
    assert!(error.contains("tools/call") && error.contains("50ms"), "{error}");
}

#[test]
fn a_plain_test_runs_everywhere_and_on_whole_async_blocks() {
    let running = everywhere(|| Greeter).revisions([Revision::LATEST_LEGACY]);
    running.run(async |client| client.list_tools().await.map(drop)).wait();
    let names = wait(async {
        let client = Client::in_memory(Greeter).await?;
        let tools = client.list_tools().await?;
        Ok::<_, sparring::Error>(tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>())
    });
    assert_eq!(names.unwrap(), ["greet"]);
}

#[test]
fn a_plain_test_has_requests_with_their_checks() {
    let client = Client::in_memory(Greeter).wait().unwrap();
    let ask = |expected: &'static str| {
        let when = client.when().call_tool("greet", json!({"name": "Ada"}), move |response| {
            response.assert_text(expected);
        });
        when.then_assert_results().wait();
    };
    ask("hello Ada");
    let told = failure(|| ask("hello Bob")).message;
    assert!(told.contains("expected: \"hello Bob\"\n   found: \"hello Ada\""), "{told}");
}

#[test]
fn plain_tests_side_by_side_do_not_mix() {
    std::thread::scope(|scope| {
        for number in 0..16 {
            scope.spawn(move || {
                let project = Project::new();
                let target = program().cwd(project.path()).env("GREETING", number.to_string());
                let client = Client::connect(target).wait().unwrap();
                let greeted = client.call_tool("greet", json!({"name": "Ada"})).wait().unwrap();
                assert_eq!(greeted.content(), format!("{number} Ada"));
                let told = client.call_tool("where", json!({})).wait().unwrap();
                assert_eq!(told.content(), project.path().display().to_string());
                client.close().wait();
            });
        }
    });
}

#[tokio::test]
async fn an_async_test_that_waits_is_told_to_await() {
    let failure = failure(|| Client::in_memory(Greeter).wait());
    let told = "`wait` is for plain tests, and this is an async one: write `.await` instead";
    assert_eq!(failure.message, told);
    assert!(failure.at.starts_with("tests/it/blocking.rs:"), "{}", failure.at);
}
