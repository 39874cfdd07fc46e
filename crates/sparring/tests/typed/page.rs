//! Runs the calls of `docs/codegen.md`.

use std::fs;
use std::path::Path;

use sparring::mock::Settings;
use sparring::{Client, MockServer};

use crate::generated::instructions::{
    InstructionServerClient, RouteInstructions, SearchInstructions,
};
use crate::generated::tests_folder;

#[tokio::test]
async fn the_calls_of_the_page_work() -> Result<(), sparring::Error> {
    let script = tests_folder().join("instructions.mock.yaml");
    let mock = MockServer::from_file(script, &Settings::default()).unwrap();
    let client = InstructionServerClient::new(Client::in_memory(&mock).await?);

    // What is not given is left out of the arguments.
    let arguments = RouteInstructions::new("how do I test this?").limit(3);
    let response = client.route_instructions(arguments).await?;
    assert_eq!(response.content(), "routed");

    // A tool with an output schema gives a struct.
    let found = client.search_instructions(SearchInstructions::new("rust")).await?;
    assert_eq!(found.hits[0].id, "rust");

    // One that is to fail is called without its type.
    let call = client.search_instructions(SearchInstructions::new("failing")).untyped();
    assert!(call.await?.is_error());
    Ok(())
}

#[test]
fn the_page_has_the_calls_of_this_file() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/codegen.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, shown) = page.split_once("```rust\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let source: String =
        include_str!("page.rs").lines().map(|line| format!("{}\n", line.trim_start())).collect();
    assert!(source.contains(shown), "docs/codegen.md differs from this file:\n{shown}");
}
