//! Servers that each break one MUST of the specification, written from its sentences and not
//! from the rules. The check fails for each of them.

mod basic;
mod features;
mod http;
mod lifecycle;
mod modern;
mod tasks;

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use sparring_check::{CheckOptions, CheckTarget, Status, check};
use sparring_wire::Revision;

use crate::support::{Action, AlteredHttp, AlteredServer, options};

const V2024_11_05: Revision = Revision::V2024_11_05;
const V2025_03_26: Revision = Revision::V2025_03_26;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

/// The number of checks at the same time.
const PARALLEL: usize = 4;

const ALL: &[&[Must]] =
    &[basic::ALL, lifecycle::ALL, features::ALL, modern::ALL, http::ALL, tasks::ALL];

/// A server that breaks one requirement in one revision.
struct Must {
    broken: &'static str,
    revision: Revision,
    server: Server,
}

enum Server {
    Lines(fn(AlteredServer) -> AlteredServer),
    Http(fn(AlteredHttp) -> AlteredHttp),
}

/// A server on a stream of lines.
const fn lines(
    broken: &'static str,
    revision: Revision,
    alter: fn(AlteredServer) -> AlteredServer,
) -> Must {
    Must { broken, revision, server: Server::Lines(alter) }
}

/// A server over HTTP.
const fn over_http(
    broken: &'static str,
    revision: Revision,
    alter: fn(AlteredHttp) -> AlteredHttp,
) -> Must {
    Must { broken, revision, server: Server::Http(alter) }
}

impl Must {
    /// Returns the failed rules, or the reason why the check found none.
    async fn failed_rules(&self) -> Result<Vec<String>, String> {
        let target: Arc<dyn CheckTarget> = match self.server {
            Server::Lines(alter) => Arc::new(alter(AlteredServer::default())),
            Server::Http(alter) => Arc::new(alter(AlteredHttp::default()).start().await),
        };
        let options = CheckOptions { revisions: vec![self.revision], ..options() };
        let report = check(target, options).await.map_err(|error| error.to_string())?;
        let bad = |status| {
            let bad = report.verdicts().filter(move |it| it.status() == status);
            bad.map(|it| it.rule.id().to_owned()).collect::<Vec<_>>()
        };
        match bad(Status::Failed) {
            failed if failed.is_empty() => Err(format!(
                "warned: {:?}, undecided: {:?}",
                bad(Status::Warned),
                bad(Status::Undecided)
            )),
            failed => Ok(failed),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_broken_requirement_is_found() {
    let only = std::env::var("SPAR_RULE").ok();
    let all = ALL.iter().copied().flatten();
    let all = all.filter(|it| {
        only.as_ref().is_none_or(|only| only.split(',').any(|only| it.broken.contains(only)))
    });
    let checks = all.map(|it| async move { (it, it.failed_rules().await) });
    let outcomes: Vec<_> = stream::iter(checks).buffered(PARALLEL).collect().await;
    let mut missed = Vec::new();
    for (must, outcome) in outcomes {
        let Must { broken, revision, .. } = must;
        match outcome {
            Ok(failed) => eprintln!("{revision} {broken}: {}", failed.join(", ")),
            Err(reason) => missed.push(format!("{revision} {broken}: {reason}")),
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

/// Answers a request with this result.
fn result(request: &Value, result: Value) -> Action {
    Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
}

/// Answers a request with this error.
fn error(request: &Value, code: i64, message: &str) -> Action {
    let error = json!({"code": code, "message": message});
    Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
}

/// Answers a request as an unknown method.
fn refuse(request: &Value) -> Action {
    error(request, -32601, "Method not found")
}

/// Returns a notification.
fn notification(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// Sends a message before each result of the tool `echo`.
fn during_call(server: AlteredServer, message: fn(&Value) -> String) -> AlteredServer {
    server.on_line(move |request, line| match request {
        Some(request) if is_call_of(request, "echo") => vec![message(request), line],
        _ => vec![line],
    })
}

/// Alters each result of this tool.
fn on_tool(server: AlteredServer, tool: &'static str, alter: fn(&mut Value)) -> AlteredServer {
    server.on_response("tools/call", move |request, response| {
        if is_call_of(request, tool) && response["result"]["content"].is_array() {
            alter(&mut response["result"]);
        }
    })
}

fn is_call_of(request: &Value, tool: &str) -> bool {
    request["method"] == "tools/call" && request["params"]["name"] == tool
}

/// Asks the client something while it waits for a result of the tool `echo`, and drops the
/// answer.
fn ask_during_call(
    server: AlteredServer,
    question: fn() -> (&'static str, Value),
) -> AlteredServer {
    let is_answer = |message: &Value| {
        message["id"].as_str().is_some_and(|id| id.starts_with("asked"))
            && message.get("method").is_none()
    };
    let server = server.on_request(move |message| match is_answer(message) {
        true => Action::Answer(Vec::new()),
        false => Action::Pass,
    });
    server.on_line(move |request, line| match request {
        Some(request) if is_call_of(request, "echo") => {
            let (method, params) = question();
            let id = format!("asked-{}", request["id"]);
            let question = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            vec![question.to_string(), line]
        }
        _ => vec![line],
    })
}

/// Removes a capability from the answer to the handshake.
fn without_capability(server: AlteredServer, name: &'static str) -> AlteredServer {
    on_handshake(server, move |result| {
        result["capabilities"].as_object_mut().unwrap().remove(name);
    })
}

/// Alters the result of the handshake of either era.
fn on_handshake(
    server: AlteredServer,
    alter: impl Fn(&mut Value) + Send + Sync + Clone + 'static,
) -> AlteredServer {
    server.on_result("initialize", alter.clone()).on_result("server/discover", alter)
}
