//! Correct servers are clean.

use sparring_wire::Revision;

use crate::support::{AlteredHttp, AlteredServer, bad_rules, check_in, render_problems};

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
