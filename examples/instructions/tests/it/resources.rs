//! Each instruction is also a resource.

use sparring::{Client, Content, Revision};

use crate::project::Project;

#[tokio::test]
async fn every_instruction_can_be_listed_and_read() {
    let project = Project::with_samples();
    for revision in Revision::ALL {
        let client = Client::builder().revision(revision).in_memory(project.server());
        let client = client.await.unwrap();
        let listed = client.list_resources().await.unwrap();
        assert_eq!(listed.len(), project.open().library.all().len());
        let log = listed.iter().find(|it| it.name == "logging/work-log").unwrap();
        assert_eq!(log.mime_type.as_deref(), Some("text/markdown"));
        let read = client.read_resource(&log.uri).await.unwrap();
        read.assert_content(Content::starts_with("# Work log"));
        let refused = client.read_resource("instructions:///nowhere").await.unwrap();
        let expected = "unknown resource instructions:///nowhere";
        refused.assert_error(revision.resource_not_found_code(), expected);
        assert!(client.transcript().violations().is_empty());
    }
}

#[tokio::test]
async fn lists_many_instructions_in_several_pages() {
    let project = Project::empty();
    for number in 0..250 {
        project.write(format!("{number:03}.md"), "text");
    }
    let client = project.in_memory().await;
    let listed = client.client.list_resources().await.unwrap();
    assert_eq!(listed.len(), 250);
    let params = serde_json::json!({"cursor": "elsewhere"});
    let response = client.client.request("resources/list", Some(params.into())).await.unwrap();
    response.assert_error(-32602, "unknown cursor `elsewhere`");
}
