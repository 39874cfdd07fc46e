//! A folder that changes while it is served: the server notifies clients and answers
//! from the new contents.

use std::fs;

use instructions::test_support::ids;
use instructions::watch::Watch;
use instructions::{Instructions, Log};
use sparring::client::SubscriptionFilter;
use sparring::{Client, Revision, Server};
use tokio::time::timeout;

use crate::generated::{InstructionsClient, SearchInstructions};
use crate::project::{Project, TEST_TIMEOUT};

fn resources() -> SubscriptionFilter {
    SubscriptionFilter { resources_list_changed: true, ..SubscriptionFilter::default() }
}

#[tokio::test]
async fn notifies_of_a_change_and_searches_it_over_stdio_in_both_eras() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let project = Project::with_samples();
        let client = Client::builder().revision(revision).connect(project.child());
        let client = InstructionsClient::new(client.await.unwrap());
        let mut changes = client.client.listen(resources()).await.unwrap();
        let found = client
            .search_instructions(SearchInstructions::new("zeppelin"))
            .untyped()
            .await
            .unwrap();
        assert!(ids(&found).is_empty());
        project.write("travel/airship.md", "# Airship\nHow to board a zeppelin.");
        changes.next(TEST_TIMEOUT).await.unwrap();
        let found = client
            .search_instructions(SearchInstructions::new("zeppelin"))
            .untyped()
            .await
            .unwrap();
        assert_eq!(ids(&found), ["travel/airship"]);
        project.write("travel/airship.md", "# Airship\nIt was renamed to dirigible, all of it.");
        changes.next(TEST_TIMEOUT).await.unwrap();
        let found = client
            .search_instructions(SearchInstructions::new("zeppelin"))
            .untyped()
            .await
            .unwrap();
        assert!(ids(&found).is_empty());
        fs::remove_file(project.folder().join("travel/airship.md")).unwrap();
        changes.next(TEST_TIMEOUT).await.unwrap();
        let found = client
            .search_instructions(SearchInstructions::new("dirigible"))
            .untyped()
            .await
            .unwrap();
        assert!(ids(&found).is_empty());
        let stderr = client.client.stderr();
        assert!(stderr.contains("was read again: 10 instructions"), "{stderr}");
        assert!(client.client.transcript().violations().is_empty());
    }
}

#[tokio::test]
async fn notifies_the_subscriber_of_an_instruction() {
    let project = Project::with_samples();
    let client = project.over_stdio().await;
    let uri = "instructions:///learning/retrospective";
    let mut changes = client.client.subscribe(uri).await.unwrap();
    project.write("learning/retrospective.md", "Only this is left of it.");
    let notification = changes.next(TEST_TIMEOUT).await.unwrap();
    assert_eq!(notification.method(), Some("notifications/resources/updated"));
    let read = client.client.read_resource(uri).await.unwrap();
    read.assert_text("Only this is left of it.");
}

#[tokio::test]
async fn notices_a_change_between_reading_and_watching() {
    let project = Project::with_samples();
    let opened = project.open();
    project.write("early.md", "A change between reading and watching.");
    let server = Server::new(Instructions::new(opened.library, Log::SILENT));
    let client = InstructionsClient::new(Client::in_memory(&server).await.unwrap());
    let mut changes = client.client.listen(resources()).await.unwrap();
    tokio::select! {
        never = Watch::new(&project.folder(), opened.stamps).follow(&server) => never,
        change = changes.next(TEST_TIMEOUT) => drop(change.unwrap()),
    }
    let found = client
        .search_instructions(SearchInstructions::new("\"between reading\""))
        .untyped()
        .await
        .unwrap();
    assert_eq!(ids(&found), ["early"]);
}

#[tokio::test]
async fn reports_a_faulty_file_and_keeps_the_instructions_of_a_missing_folder() {
    let project = Project::with_samples();
    let client = project.over_stdio().await;
    let mut changes = client.client.listen(resources()).await.unwrap();
    project.write("learning/retrospective.md", "---\ntitle: [\n---\nStill searchable as waffle.");
    changes.next(TEST_TIMEOUT).await.unwrap();
    let found =
        client.search_instructions(SearchInstructions::new("waffle")).untyped().await.unwrap();
    assert_eq!(ids(&found), ["learning/retrospective"]);
    let stderr = client.client.stderr();
    assert!(stderr.contains("WARNING ") && stderr.contains("retrospective.md:2: "), "{stderr}");
    fs::rename(project.folder(), project.root().join("elsewhere")).unwrap();
    let logged = async {
        while !client.client.stderr().contains("; still serving the previous instructions") {
            client.client.ping().await.unwrap();
        }
    };
    timeout(TEST_TIMEOUT, logged).await.unwrap();
    let found =
        client.search_instructions(SearchInstructions::new("waffle")).untyped().await.unwrap();
    assert_eq!(ids(&found), ["learning/retrospective"]);
    // When the folder comes back, the server watches it again.
    fs::rename(project.root().join("elsewhere"), project.folder()).unwrap();
    project.write("back.md", "It is back, with pancakes.");
    changes.next(TEST_TIMEOUT).await.unwrap();
    let found =
        client.search_instructions(SearchInstructions::new("pancakes")).untyped().await.unwrap();
    assert_eq!(ids(&found), ["back"]);
}
