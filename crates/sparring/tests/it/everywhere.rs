//! One test over every transport and in every revision.

use std::sync::Mutex;

use serde_json::json;
use sparring::{Client, Error, Everywhere, Revision, Server, Transport, everywhere};

use crate::failure::message_of;
use crate::greeter::{Greeter, mock, program, rmcp_greeter};

/// Returns the transport and revision of a client.
fn combination(client: &Client) -> (String, Revision) {
    let over = client.target().rsplit(' ').next().unwrap_or_default();
    let over = match over.strip_prefix("http://") {
        Some(url) => url.rsplit('/').next().unwrap_or_default().replace("mcp", "http"),
        None if over.ends_with(".sock") => "unix".to_owned(),
        None if over.ends_with("greeter") => "stdio".to_owned(),
        None => over.to_owned(),
    };
    (over, client.revision().unwrap())
}

/// Runs a test that passes, and returns its combinations.
async fn run_combinations(everywhere: Everywhere) -> Vec<(String, Revision)> {
    let seen = Mutex::new(Vec::new());
    let body = async |client: Client| {
        let response = client.call_tool("greet", json!({"name": "Ada"})).await?;
        assert_eq!(response.content(), "hello Ada");
        assert_eq!(client.transcript().violations(), []);
        seen.lock().unwrap().push(combination(&client));
        Ok::<(), Error>(())
    };
    everywhere.run(body).await;
    seen.into_inner().unwrap()
}

/// Returns these transports in all revisions, HTTP+SSE in those that have it.
fn all(transports: &[&str]) -> Vec<(String, Revision)> {
    let of = |transport: &&str| {
        let revisions = Revision::ALL.into_iter();
        let revisions = revisions.filter(|it| *transport != "sse" || !it.is_modern());
        revisions.map(|revision| ((*transport).to_owned(), revision)).collect::<Vec<_>>()
    };
    transports.iter().flat_map(of).collect()
}

const OURS: [&str; 6] = ["memory", "duplex", "unix", "pipes", "http", "sse"];

#[tokio::test]
async fn a_handler_is_tested_over_all_transports_in_all_revisions() {
    assert_eq!(run_combinations(everywhere(|| Greeter)).await, all(&OURS));
}

#[tokio::test]
async fn a_mock_is_tested_over_all_transports_in_all_revisions() {
    assert_eq!(run_combinations(everywhere(mock)).await, all(&OURS));
}

#[tokio::test]
async fn an_rmcp_service_is_tested_over_all_its_transports_in_all_revisions() {
    let ran = run_combinations(everywhere(|| rmcp_greeter::Greeter)).await;
    assert_eq!(ran, all(&["duplex", "unix", "http"]));
}

#[tokio::test]
async fn a_command_is_tested_with_the_server_that_it_runs() {
    let with_command = run_combinations(everywhere(|| Greeter).command(program())).await;
    assert_eq!(with_command, all(&["memory", "duplex", "unix", "pipes", "stdio", "http", "sse"]));
    assert_eq!(run_combinations(Everywhere::for_command(program())).await, all(&["stdio"]));
}

#[tokio::test]
async fn a_server_is_tested_only_in_the_revisions_that_it_supports() {
    let supported = [Revision::V2025_06_18, Revision::V2026_07_28];
    let ran =
        run_combinations(everywhere(move || Server::with_revisions(Greeter, &supported))).await;
    let expected = all(&OURS).into_iter().filter(|(_, revision)| supported.contains(revision));
    assert_eq!(ran, expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn transports_and_revisions_can_be_chosen() {
    let chosen = everywhere(|| Greeter)
        .only([Transport::Sse, Transport::Memory])
        .revisions([Revision::LATEST, Revision::LATEST_LEGACY]);
    let expected = [
        ("memory".to_owned(), Revision::LATEST_LEGACY),
        ("memory".to_owned(), Revision::LATEST),
        ("sse".to_owned(), Revision::LATEST_LEGACY),
    ];
    assert_eq!(run_combinations(chosen).await, expected);
}

#[tokio::test]
async fn every_failed_combination_is_reported_with_its_failure() {
    let line = line!() + 1;
    let running = everywhere(|| Greeter).only([Transport::Duplex, Transport::Http]).run(
        async |client: Client| match combination(&client) {
            (over, Revision::V2025_06_18) if over == "http" => panic!("no\nwhy"),
            (_, Revision::V2026_07_28) => Err("not in this one"),
            _ => Ok(()),
        },
    );
    let message = message_of(running).await;
    let here = format!("at {}:{line}:", file!());
    let (first, rest) = message.split_once('\n').unwrap();
    let (at, rest) = rest.split_once('\n').unwrap();
    assert!(at.starts_with(&here), "{at} is not {here}");
    assert_eq!(first, "the test failed in 3 of 10 combinations");
    assert_eq!(
        rest,
        "\n\
         over duplex in 2026-07-28: \"not in this one\"\n\n\
         over http in 2025-06-18: no\n    why\n\n\
         over http in 2026-07-28: \"not in this one\"\n"
    );
}

#[tokio::test]
async fn a_server_that_does_not_start_fails_in_every_combination() {
    let command = sparring::ChildTarget::new("sh").args(["-c", "echo no >&2; exit 3"]);
    let running = Everywhere::for_command(command)
        .revisions([Revision::V2025_11_25])
        .run(async |_| -> () { panic!("the server does not start") });
    let message = message_of(running).await;
    assert!(message.contains("failed in 1 of 1 combinations"), "{message}");
    assert!(message.contains("over stdio in 2025-11-25: "), "{message}");
    assert!(
        message.contains(
            "exited with status 3 before it answered initialize; its stderr ends with:\n    no"
        ),
        "{message}"
    );
}

#[tokio::test]
async fn a_test_without_combinations_fails() {
    let running =
        everywhere(|| Greeter).only([Transport::Stdio]).run(async |_| -> () { panic!("nowhere") });
    let message = message_of(running).await;
    assert!(
        message.starts_with(
            "no combination of transport and revision to run the test in\n\
             supported by the server: over memory, duplex, unix, pipes, http, sse in 2024-11-05, \
             2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28\n\
             selected by the test: over stdio in all\n\
             at "
        ),
        "{message}"
    );
}
