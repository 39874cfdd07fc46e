//! Correct servers are clean.

use std::sync::Arc;

use sparring_check::{CheckOptions, LinkTarget, Status, check};
use sparring_mock::{MockServer, Reply, ToolMock};

#[tokio::test]
async fn a_correct_server_is_clean_in_every_revision() {
    let echo = ToolMock::new("echo").description("Returns its text").reply(Reply::text("echo"));
    let mock = MockServer::builder().server("correct", "1.0.0").tool(echo).build().unwrap();
    let target = LinkTarget(move || mock.connect());
    let report = check(Arc::new(target), CheckOptions::default()).await.unwrap();
    assert_eq!(report.revisions.len(), 5);
    let bad: Vec<_> = report.verdicts().filter(|it| it.status() < Status::Passed).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}
