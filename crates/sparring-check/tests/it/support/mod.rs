//! A correct server, and servers that differ from it in one way.

mod altered_http;
mod altered_server;

use std::sync::Arc;

use sparring_check::{CallPolicy, CheckOptions, CheckReport, CheckTarget, Status, check};
use sparring_mock::MockServer;
use sparring_wire::{Revision, Rule};

pub(crate) use altered_http::AlteredHttp;
pub(crate) use altered_server::{Action, AlteredServer};

/// The script of the correct server.
pub(crate) const CORRECT: &str = include_str!("correct.mock.yaml");

/// Loads a mock from a script.
pub(crate) fn mock(script: &str) -> MockServer {
    MockServer::from_yaml(script, "").unwrap()
}

/// The options of these tests: every tool may be called.
pub(crate) fn options() -> CheckOptions {
    CheckOptions {
        calls: CallPolicy::All,
        rule_timeout: std::time::Duration::from_secs(2),
        ..CheckOptions::default()
    }
}

/// Checks a server in these revisions.
pub(crate) async fn check_in(
    target: impl CheckTarget + 'static,
    revisions: &[Revision],
) -> CheckReport {
    let options = CheckOptions { revisions: revisions.to_vec(), ..options() };
    check(Arc::new(target), options).await.unwrap()
}

/// Returns the rules that the server broke or that are undecided, each once, in order.
pub(crate) fn bad_rules(report: &CheckReport) -> Vec<Rule> {
    let bad = report.verdicts().filter(|it| it.status() < Status::Passed);
    let mut rules: Vec<Rule> = bad.map(|it| it.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// Renders the problems of a report, one on each line.
pub(crate) fn render_problems(report: &CheckReport) -> String {
    report.problems().iter().map(|it| format!("{it}\n")).collect()
}
