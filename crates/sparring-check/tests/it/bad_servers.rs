//! A server that hangs, ends or floods its client gets a verdict in a bounded time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sparring_check::{CheckOptions, CheckReport, CheckTarget, Status, check};
use sparring_transport::{ChildTarget, Target};
use sparring_wire::{Revision, Rule};

use crate::support::{Action, AlteredServer, options, render_problems};

/// The longest time that a check of a server without answers may take with these options.
const LIMIT: Duration = Duration::from_secs(60);

async fn report_on(target: impl CheckTarget + 'static) -> CheckReport {
    let options = CheckOptions {
        connect_timeout: Duration::from_secs(2),
        rule_timeout: Duration::from_millis(500),
        ..options()
    };
    let began = Instant::now();
    let report = check(std::sync::Arc::new(target), options).await.unwrap();
    assert!(began.elapsed() < LIMIT, "{:?}", began.elapsed());
    report
}

/// Requires that the rule failed in each of the revisions up to 2025-11-25.
fn require_failed(report: &CheckReport, rule: Rule) {
    for revision in Revision::ALL.into_iter().filter(|it| !it.is_modern()) {
        let status = report.verdict(rule, revision).map(|it| it.status());
        let problems = render_problems(report);
        assert_eq!(status, Some(Status::Failed), "{rule} in {revision}:\n{problems}");
    }
}

fn is_opening(message: &Value) -> bool {
    let methods = ["initialize", "server/discover", "notifications/initialized"];
    methods.iter().any(|it| message["method"] == *it)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_answers_fails() {
    let server = AlteredServer::default().on_request(|_| Action::Answer(Vec::new()));
    require_failed(&report_on(server).await, Rule::Handshake);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_only_answers_the_handshake_fails() {
    let server = AlteredServer::default().on_request(|message| match is_opening(message) {
        true => Action::Pass,
        false => Action::Answer(Vec::new()),
    });
    require_failed(&report_on(server).await, Rule::NoAnswer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_with_the_first_message_fails() {
    let server = AlteredServer::default().on_request(|_| Action::Close);
    require_failed(&report_on(server).await, Rule::Crash);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_after_the_handshake_fails() {
    let server = AlteredServer::default().on_request(|message| match is_opening(message) {
        true => Action::Pass,
        false => Action::Close,
    });
    require_failed(&report_on(server).await, Rule::Crash);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_in_one_revision_fails_only_there() {
    let server = AlteredServer::default().on_method("initialize", |request| {
        match &request["params"]["protocolVersion"] {
            version if *version == "2025-03-26" => Action::Answer(Vec::new()),
            _ => Action::Pass,
        }
    });
    let report = report_on(server).await;
    for revision in Revision::ALL {
        let expected = match revision {
            Revision::V2025_03_26 => Status::Failed,
            _ => Status::Passed,
        };
        let verdict = report.verdict(Rule::Handshake, revision);
        assert_eq!(verdict.map(|it| it.status()), Some(expected), "{revision}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_floods_instead_of_answering_fails() {
    let line = json!({
        "jsonrpc": "2.0", "method": "notifications/message",
        "params": {"level": "info", "data": "x".repeat(200)},
    });
    let lines = vec![line.to_string(); 50_000];
    let server = AlteredServer::default().on_request(move |message| match is_opening(message) {
        true => Action::Pass,
        false => Action::Answer(lines.clone()),
    });
    require_failed(&report_on(server).await, Rule::NoAnswer);
}

#[cfg(unix)]
fn shell(script: &str) -> Target {
    Target::Child(ChildTarget::new("sh").args(["-c", script]))
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_exits_at_once_fails_with_its_stderr() {
    let report = report_on(shell("echo no such database >&2; exit 3")).await;
    require_failed(&report, Rule::Crash);
    let problems = render_problems(&report);
    assert!(problems.contains("status 3") && problems.contains("no such database"), "{problems}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_hangs_fails() {
    require_failed(&report_on(shell("exec sleep 100")).await, Rule::Handshake);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_floods_its_output_fails() {
    require_failed(&report_on(shell("exec yes nothing but noise")).await, Rule::NotJson);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_does_not_exist_is_an_error_of_the_check() {
    let target = Target::Child(ChildTarget::new("/no/such/program"));
    let failure = check(std::sync::Arc::new(target), options()).await.unwrap_err();
    assert!(failure.to_string().contains("/no/such/program"), "{failure}");
}
