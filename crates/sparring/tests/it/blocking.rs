//! The client in plain tests, without async.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use sparring::blocking::{Wait as _, wait};
use sparring::{Client, Project, Revision, everywhere};

use crate::failure::failure;
use crate::greeter::{Greeter, mock, program, rmcp_greeter};

#[test]
fn a_plain_test_connects_to_the_same_servers_as_an_async_one() {
    for connected in [
        Client::in_memory(Greeter).wait(),
        Client::in_memory(mock()).wait(),
        Client::in_memory(rmcp_greeter::Greeter).wait(),
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
fn a_plain_test_receives_progress_and_times_out() {
    let script = "tools: [{name: copy, during: [{progress: 1}], text: done}, \
                  {name: slow, delay: 1h, text: late}]";
    let mock = sparring::MockServer::from_yaml(script, ".").unwrap();
    let client = Client::in_memory(mock).wait().unwrap();
    let received = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&received);
    let call = client.call_tool("copy", json!({}));
    let call = call.on_progress(move |progress| sink.lock().unwrap().push(progress.progress));
    assert_eq!(call.wait().unwrap().content(), "done");
    assert_eq!(*received.lock().unwrap(), [1.0]);
    let call = client.call_tool("slow", json!({})).timeout(Duration::from_millis(50));
    let error = call.wait().unwrap_err().to_string();
    assert!(error.contains("tools/call") && error.contains("50ms"), "{error}");
}

#[test]
fn a_plain_test_waits_for_everywhere_and_for_async_blocks() {
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
fn a_plain_test_runs_requests_with_their_checks() {
    let client = Client::in_memory(Greeter).wait().unwrap();
    let ask = |expected: &'static str| {
        let when = client.when().call_tool("greet", json!({"name": "Ada"}), move |response| {
            response.assert_text(expected);
        });
        when.then_assert_results().wait();
    };
    ask("hello Ada");
    let message = failure(|| ask("hello Bob")).message;
    assert!(message.contains("expected: \"hello Bob\"\n   found: \"hello Ada\""), "{message}");
}

#[test]
fn concurrent_plain_tests_do_not_affect_each_other() {
    std::thread::scope(|scope| {
        for number in 0..16 {
            scope.spawn(move || {
                let project = Project::new();
                let target = program().cwd(project.path()).env("GREETING", number.to_string());
                let client = Client::connect(target).wait().unwrap();
                let greeted = client.call_tool("greet", json!({"name": "Ada"})).wait().unwrap();
                assert_eq!(greeted.content(), format!("{number} Ada"));
                let folder = client.call_tool("where", json!({})).wait().unwrap();
                assert_eq!(folder.content(), project.path().display().to_string());
                client.close().wait();
            });
        }
    });
}

#[tokio::test]
async fn waiting_in_an_async_test_fails_and_suggests_await() {
    let failure = failure(|| Client::in_memory(Greeter).wait());
    let expected = "`wait` was called in an async test: write `.await` instead";
    assert_eq!(failure.message, expected);
    assert!(failure.at.starts_with("tests/it/blocking.rs:"), "{}", failure.at);
}
