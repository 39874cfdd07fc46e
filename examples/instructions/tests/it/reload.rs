//! A folder that changes while it is served: clients are told, and what they ask
//! then is answered from what is there by then.

use std::fs;

use instructions::watch::Watch;
use instructions::{Instructions, Log};
use sparring::client::Filter;
use sparring::{Client, Revision, Server};
use tokio::time::timeout;

use crate::client::ids;
use crate::generated::{InstructionsClient, SearchInstructions};
use crate::project::{PATIENCE, Project};

fn resources() -> Filter {
    Filter { resources_list_changed: true, ..Filter::default() }
}

#[tokio::test]
async fn a_change_is_told_and_searched_over_stdio_in_both_eras() {
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
        changes.next(PATIENCE).await.unwrap();
        let found = client
            .search_instructions(SearchInstructions::new("zeppelin"))
            .untyped()
            .await
            .unwrap();
        assert_eq!(ids(&found), ["travel/airship"]);
        project.write("travel/airship.md", "# Airship\nIt was renamed to dirigible, all of it.");
        changes.next(PATIENCE).await.unwrap();
        let found = client
            .search_instructions(SearchInstructions::new("zeppelin"))
            .untyped()
            .await
            .unwrap();
        assert!(ids(&found).is_empty());
        fs::remove_file(project.folder().join("travel/airship.md")).unwrap();
        changes.next(PATIENCE).await.unwrap();
        let found = client
            .search_instructions(SearchInstructions::new("dirigible"))
            .untyped()
            .await
            .unwrap();
        assert!(ids(&found).is_empty());
        let told = client.client.stderr();
        assert!(told.contains("was read again: 10 instructions"), "{told}");
        assert!(client.client.transcript().violations().is_empty());
    }
}

#[tokio::test]
async fn who_subscribes_to_an_instruction_hears_of_its_changes() {
    let project = Project::with_samples();
    let client = project.over_stdio().await;
    let uri = "instructions:///learning/retrospective";
    let mut changes = client.client.subscribe(uri).await.unwrap();
    project.write("learning/retrospective.md", "Only this is left of it.");
    let told = changes.next(PATIENCE).await.unwrap();
    assert_eq!(told.method(), Some("notifications/resources/updated"));
    let read = client.client.read_resource(uri).await.unwrap();
    read.assert_text("Only this is left of it.");
}

#[tokio::test]
async fn what_changed_before_the_watch_began_is_not_missed() {
    let project = Project::with_samples();
    let opened = project.open();
    project.write("early.md", "A change between reading and watching.");
    let server = Server::new(Instructions::new(opened.library, Log::SILENT));
    let client = InstructionsClient::new(Client::in_memory(&server).await.unwrap());
    let mut changes = client.client.listen(resources()).await.unwrap();
    tokio::select! {
        never = Watch::new(&project.folder(), opened.stamps).follow(&server) => never,
        told = changes.next(PATIENCE) => drop(told.unwrap()),
    }
    let found = client
        .search_instructions(SearchInstructions::new("\"between reading\""))
        .untyped()
        .await
        .unwrap();
    assert_eq!(ids(&found), ["early"]);
}

#[tokio::test]
async fn a_file_that_becomes_wrong_is_told_and_a_folder_that_is_gone_changes_nothing() {
    let project = Project::with_samples();
    let client = project.over_stdio().await;
    let mut changes = client.client.listen(resources()).await.unwrap();
    project.write("learning/retrospective.md", "---\ntitle: [\n---\nStill searchable as waffle.");
    changes.next(PATIENCE).await.unwrap();
    let found =
        client.search_instructions(SearchInstructions::new("waffle")).untyped().await.unwrap();
    assert_eq!(ids(&found), ["learning/retrospective"]);
    let told = client.client.stderr();
    assert!(told.contains("WARNING ") && told.contains("retrospective.md:2: "), "{told}");
    fs::rename(project.folder(), project.root().join("elsewhere")).unwrap();
    let told = async {
        while !client.client.stderr().contains("; what was read before is still served") {
            client.client.ping().await.unwrap();
        }
    };
    timeout(PATIENCE, told).await.unwrap();
    let found =
        client.search_instructions(SearchInstructions::new("waffle")).untyped().await.unwrap();
    assert_eq!(ids(&found), ["learning/retrospective"]);
    // And when it comes back, it is followed again.
    fs::rename(project.root().join("elsewhere"), project.folder()).unwrap();
    project.write("back.md", "It is back, with pancakes.");
    changes.next(PATIENCE).await.unwrap();
    let found =
        client.search_instructions(SearchInstructions::new("pancakes")).untyped().await.unwrap();
    assert_eq!(ids(&found), ["back"]);
}
