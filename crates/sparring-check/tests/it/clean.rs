//! Correct servers are clean.

use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use crate::support::{
    Action, AlteredHttp, AlteredServer, CORRECT, bad_rules, check_in, render_problems,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_correct_server_is_clean_in_every_revision() {
    let report = check_in(AlteredServer::default(), &Revision::ALL).await;
    assert_eq!(report.revisions.len(), 5);
    assert!(bad_rules(&report).is_empty(), "{}", render_problems(&report));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correct_server_over_http_is_clean_in_every_revision() {
    let report = check_in(AlteredHttp::default().start().await, &Revision::ALL).await;
    assert_eq!(report.revisions.len(), 5);
    assert!(bad_rules(&report).is_empty(), "{}", render_problems(&report));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correct_server_over_http_sse_is_clean_in_every_legacy_revision() {
    let report = check_in(AlteredHttp::default().http_sse().start().await, &Revision::ALL).await;
    assert_eq!(report.revisions.len(), 4);
    assert!(bad_rules(&report).is_empty(), "{}", render_problems(&report));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_another_type_before_the_endpoint_is_clean() {
    let server = AlteredHttp::default().http_sse().on_body(|_, _, text| {
        match text.contains("event: endpoint") {
            true => format!("event: ping\ndata: hello\n\n{text}"),
            false => text,
        }
    });
    let report = check_in(server.start().await, &[Revision::V2024_11_05]).await;
    assert_eq!(report.revisions.len(), 1);
    assert!(bad_rules(&report).is_empty(), "{}", render_problems(&report));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correct_server_without_legacy_revisions_is_clean() {
    let script = format!("{CORRECT}\nprotocol: ['2026-07-28']\n");
    let report =
        check_in(AlteredHttp::default().script(&script).start().await, &Revision::ALL).await;
    assert_eq!(report.revisions.len(), 1);
    assert!(bad_rules(&report).is_empty(), "{}", render_problems(&report));
}

/// The second SDK for TypeScript does this: a request without a version selects the old era for
/// the rest of the connection, like `initialize`.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_requests_without_a_version_for_the_old_era_is_clean() {
    const UNDECIDED: u8 = 0;
    const HANDSHAKE: u8 = 1;
    const OLD_ERA: u8 = 2;
    let server = AlteredServer::default().on_connect(|server| {
        let era = AtomicU8::new(UNDECIDED);
        server.on_request(move |message| {
            let method = message["method"].as_str().unwrap_or_default();
            let version = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
            let is_valid = message["jsonrpc"] == "2.0"
                && (message["id"].is_string() || message["id"].is_number())
                && message.get("params").is_none_or(Value::is_object);
            if !is_valid {
                return Action::Pass;
            }
            if method == "initialize" {
                era.store(HANDSHAKE, Ordering::Relaxed);
            } else if version.is_null() {
                let _ =
                    era.compare_exchange(UNDECIDED, OLD_ERA, Ordering::Relaxed, Ordering::Relaxed);
            }
            let mut answer = match (era.load(Ordering::Relaxed), method) {
                (OLD_ERA, "server/discover") => {
                    json!({"error": {"code": -32601, "message": "Method not found"}})
                }
                (OLD_ERA, "tools/list") => json!({"result": {"tools": []}}),
                _ => return Action::Pass,
            };
            answer["jsonrpc"] = json!("2.0");
            answer["id"] = message["id"].clone();
            Action::json(answer)
        })
    });
    let report = check_in(server, &Revision::ALL).await;
    assert_eq!(report.revisions.len(), 5);
    assert!(bad_rules(&report).is_empty(), "{}", render_problems(&report));
}

/// The failure of a list is one finding, and not one of each rule whose probe uses the list.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_always_fails_breaks_no_rule_about_metadata() {
    let server = AlteredServer::default().on_method("tools/list", |message| {
        let error = json!({"code": -32603, "message": "The service is not reachable."});
        Action::json(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}))
    });
    let report = check_in(server, &Revision::ALL).await;
    let bad = bad_rules(&report);
    assert!(bad.contains(&Rule::ListFails), "{bad:?}");
    for rule in [Rule::UnknownField, Rule::MissingMeta, Rule::RequiredClientInfo] {
        assert!(!bad.contains(&rule), "{}", render_problems(&report));
    }
}
