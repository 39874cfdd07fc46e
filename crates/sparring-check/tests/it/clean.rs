//! Correct servers are clean.

use sparring_wire::Revision;

use crate::support::{AlteredHttp, AlteredServer, CORRECT, bad_rules, check_in, render_problems};

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
async fn a_correct_server_without_legacy_revisions_is_clean() {
    let script = format!("{CORRECT}\nprotocol: ['2026-07-28']\n");
    let report =
        check_in(AlteredHttp::default().script(&script).start().await, &Revision::ALL).await;
    assert_eq!(report.revisions.len(), 1);
    assert!(bad_rules(&report).is_empty(), "{}", render_problems(&report));
}
