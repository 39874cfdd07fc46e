//! Breaks each field of each answer, one at a time, and requires that the check names it.

mod fields;
mod samples;

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use sparring_check::{CheckOptions, CheckReport, Status, check};
use sparring_wire::{RULES, Revision, Rule};

use self::fields::{Break, breaks_of};
use crate::support::{Action, AlteredServer, options};

/// The number of checks at the same time.
const PARALLEL: usize = 4;

/// The number of broken items in one answer.
const ITEMS: usize = 20;

/// A server with breaks, and the paths of the fields that the check must name.
struct Broken {
    server: AlteredServer,
    paths: Vec<String>,
    what: String,
}

/// Checks the servers, and fails if a broken field is not named by a failed rule.
async fn require_findings(revision: Revision, servers: Vec<Broken>) {
    let checks = servers.into_iter().map(|Broken { server, paths, what }| async move {
        let options =
            CheckOptions { revisions: vec![revision], skip: unneeded_rules(), ..options() };
        match check(Arc::new(server), options).await {
            Ok(report) => {
                let missed = paths.iter().filter(|it| !names(&report, it));
                missed.map(|it| format!("{revision} {what}: not found: {it}")).collect()
            }
            Err(error) => vec![format!("{revision} {what}: {error}")],
        }
    });
    let missed: Vec<Vec<String>> = stream::iter(checks).buffer_unordered(PARALLEL).collect().await;
    let missed = missed.concat();
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

/// Returns the rules whose probes these tests do not need: all probes besides those that use
/// everything that a server lists.
fn unneeded_rules() -> Vec<Rule> {
    let needed = [
        Rule::Handshake,
        Rule::ItemNotImplemented,
        Rule::CompletionNotImplemented,
        Rule::MissingAcknowledgment,
    ];
    let is_needed = |rule: Rule| {
        let areas = ["schema/", "format/", "lifecycle/wrong-version"];
        needed.contains(&rule) || areas.iter().any(|it| rule.id().starts_with(it))
    };
    RULES.iter().map(|it| it.rule).filter(|rule| !is_needed(*rule)).collect()
}

/// Returns true if a failed rule has a finding about this path.
fn names(report: &CheckReport, path: &str) -> bool {
    let failed = report.verdicts().filter(|it| it.status() == Status::Failed);
    let mut findings = failed.flat_map(|it| it.findings());
    findings.any(|it| {
        let rest = it.message.strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with(':'))
    })
}

/// Breaks each field of the result of a method, one for each server.
fn results(revision: Revision, method: &'static str, table: &str) -> Vec<Broken> {
    let breaks = breaks_of(table, revision).into_iter();
    let servers = breaks.map(|it| {
        let paths = vec![it.path("$.result")];
        let what = format!("{method} {it}");
        let server = AlteredServer::default().on_result(method, move |result| it.apply(result));
        Broken { server, paths, what }
    });
    servers.collect()
}

/// Adds broken items to a list in the result of a method, several for each server.
fn items(
    revision: Revision,
    method: &'static str,
    list: &'static str,
    sample: &Value,
    table: &str,
) -> Vec<Broken> {
    let breaks = breaks_of(table, revision);
    let servers = breaks.chunks(ITEMS).map(|breaks| {
        let broken = |it: &Break| {
            let mut item = sample.clone();
            it.apply(&mut item);
            item
        };
        let broken: Vec<Value> = breaks.iter().map(broken).collect();
        let base = |index: usize| format!("$.result.{list}[{index}]");
        let paths = breaks.iter().enumerate().map(|(index, it)| it.path(&base(index))).collect();
        let server = AlteredServer::default().on_result(method, move |result| {
            // A tool of 2026-07-28 can also ask for input.
            if let Some(items) = result[list].as_array_mut() {
                items.splice(0..0, broken.iter().cloned());
            }
        });
        let breaks: Vec<String> = breaks.iter().map(Break::to_string).collect();
        Broken { server, paths, what: format!("{method} {}", breaks.join(", ")) }
    });
    servers.collect()
}

/// Sends broken notifications after a list of prompts, one for each server.
fn notifications(revision: Revision, method: &'static str, table: &str) -> Vec<Broken> {
    let breaks = breaks_of(table, revision).into_iter();
    let servers = breaks.map(|it| {
        let mut params = samples::params_of(method);
        it.apply(&mut params);
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let server = AlteredServer::default()
            .after_response("prompts/list", move || vec![message.to_string()]);
        Broken { server, paths: vec![it.path("$.params")], what: format!("{method} {it}") }
    });
    servers.collect()
}

/// Asks broken questions, one for each server: after a list of prompts, or in the result of the
/// tool that asks for input.
fn questions(revision: Revision, method: &'static str, table: &str) -> Vec<Broken> {
    let breaks = breaks_of(table, revision).into_iter();
    let servers = breaks.map(|it| {
        let mut params = samples::params_of(method);
        it.apply(&mut params);
        let question = json!({"method": method, "params": params});
        let (server, base) = match revision.is_modern() {
            true => (ask_in_result(question), "$.result.inputRequests.sparring.params"),
            false => (ask(question), "$.params"),
        };
        Broken { server, paths: vec![it.path(base)], what: format!("{method} {it}") }
    });
    servers.collect()
}

fn ask(mut question: Value) -> AlteredServer {
    question["jsonrpc"] = json!("2.0");
    question["id"] = json!("sparring-id");
    let server = AlteredServer::default().on_request(|message| match message["id"] {
        Value::String(ref id) if id == "sparring-id" => Action::Answer(Vec::new()),
        _ => Action::Pass,
    });
    server.after_response("prompts/list", move || vec![question.to_string()])
}

fn ask_in_result(question: Value) -> AlteredServer {
    AlteredServer::default().on_result("tools/call", move |result| {
        if result["resultType"] == "input_required" {
            result["inputRequests"] = json!({"sparring": question});
        }
    })
}

async fn check_revision(revision: Revision) {
    let mut servers = Vec::new();
    match revision.is_modern() {
        true => servers.extend(results(revision, "server/discover", fields::DISCOVER)),
        false => servers.extend(results(revision, "initialize", fields::INITIALIZE)),
    }
    for (method, table) in fields::RESULTS {
        servers.extend(results(revision, method, table));
    }
    for (method, list, sample, table) in samples::items() {
        servers.extend(items(revision, method, list, &sample, table));
    }
    for (method, table) in fields::NOTIFICATIONS {
        servers.extend(notifications(revision, method, table));
    }
    for (method, table) in fields::QUESTIONS {
        servers.extend(questions(revision, method, table));
    }
    require_findings(revision, servers).await;
}

macro_rules! check_revisions {
    ($($test:ident: $revision:ident,)*) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $test() {
            check_revision(Revision::$revision).await;
        }
    )*};
}

check_revisions! {
    finds_each_broken_field_in_2024_11_05: V2024_11_05,
    finds_each_broken_field_in_2025_03_26: V2025_03_26,
    finds_each_broken_field_in_2025_06_18: V2025_06_18,
    finds_each_broken_field_in_2025_11_25: V2025_11_25,
    finds_each_broken_field_in_2026_07_28: V2026_07_28,
}
