//! A server whose answer to the handshake is broken gets a verdict, not an error of the check.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use sparring_check::{CheckOptions, CheckTarget, Status, check};
use sparring_wire::{Revision, Rule};

use crate::support::{AlteredHttp, AlteredServer, options};

type Alter = fn(&mut Value);

/// Ways to break the response to the handshake.
const BREAKS: &[(&str, Alter)] = &[
    ("jsonrpc 1.0", |response| response["jsonrpc"] = json!("1.0")),
    ("no jsonrpc", |response| remove(response, "jsonrpc")),
    ("no id", |response| remove(response, "id")),
    ("null id", |response| response["id"] = Value::Null),
    ("another id", |response| response["id"] = json!(4711)),
    ("id as text", |response| response["id"] = json!(response["id"].to_string())),
    ("null result", |response| response["result"] = Value::Null),
    ("list as result", |response| response["result"] = json!([])),
    ("result and error", |response| {
        response["error"] = json!({"code": -32603, "message": "It failed."});
    }),
    ("empty result", |response| response["result"] = json!({})),
    ("no result", |response| remove(response, "result")),
    ("unknown version", |response| {
        let modern = response["result"].get("supportedVersions").is_some();
        let field = if modern { "supportedVersions" } else { "protocolVersion" };
        response["result"][field] = if modern { json!(["1.0"]) } else { json!("1.0") };
    }),
];

fn remove(value: &mut Value, key: &str) {
    value.as_object_mut().unwrap().remove(key);
}

fn opening_method(revision: Revision) -> &'static str {
    if revision.is_modern() { "server/discover" } else { "initialize" }
}

fn problem(
    target: Arc<dyn CheckTarget>,
    revision: Revision,
    what: &'static str,
) -> BoxFuture<'static, Option<String>> {
    let options = CheckOptions {
        revisions: vec![revision],
        connect_timeout: Duration::from_secs(1),
        rule_timeout: Duration::from_secs(1),
        ..options()
    };
    Box::pin(async move {
        match check(target, options).await {
            Ok(report) if report.count(Status::Failed) > 0 => None,
            Ok(_) => Some(format!("{revision} {what}: no finding")),
            Err(error) => Some(format!("{revision} {what}: {error}")),
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_handshake_is_a_finding() {
    let mut checks = Vec::new();
    for revision in Revision::ALL {
        for &(what, alter) in BREAKS {
            let server = AlteredServer::default()
                .on_response(opening_method(revision), move |_, response| alter(response));
            checks.push(tokio::spawn(problem(Arc::new(server), revision, what)));
        }
    }
    let mut problems = Vec::new();
    for check in checks {
        problems.extend(check.await.unwrap());
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_handshake_over_http_is_a_finding() {
    let mut checks = Vec::new();
    for revision in Revision::ALL.into_iter().skip(1) {
        for &(what, alter) in BREAKS {
            let method = opening_method(revision);
            let server = AlteredHttp::default().on_body(move |_, request, body| {
                let request: Value = serde_json::from_slice(request).unwrap_or_default();
                let mut response: Value = match serde_json::from_str(&body) {
                    Ok(response) if request["method"] == method => response,
                    _ => return body,
                };
                alter(&mut response);
                response.to_string()
            });
            let server = server.start().await;
            checks.push(tokio::spawn(problem(Arc::new(server), revision, what)));
        }
    }
    let mut problems = Vec::new();
    for check in checks {
        problems.extend(check.await.unwrap());
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A server that also speaks earlier revisions does not speak the modern one only if its answer
/// is no discovery.
#[tokio::test(flavor = "multi_thread")]
async fn a_discovery_with_another_id_is_a_finding_beside_earlier_revisions() {
    for id in [json!("1"), Value::Null] {
        let server = AlteredServer::default()
            .on_response("server/discover", move |_, response| response["id"] = id.clone());
        let options = CheckOptions {
            revisions: vec![Revision::V2025_11_25, Revision::V2026_07_28],
            connect_timeout: Duration::from_secs(1),
            rule_timeout: Duration::from_secs(1),
            only: vec![Rule::Handshake],
            ..options()
        };
        let report = check(Arc::new(server), options).await.unwrap();
        let verdict = report.verdict(Rule::Handshake, Revision::V2026_07_28);
        assert_eq!(verdict.map(|it| it.status()), Some(Status::Failed), "{:?}", report.not_spoken);
    }
}
