//! The generated client of the tests, a test that it is current, and helpers that read answers.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sparring::Response;
use sparring::client::ListKind;
use sparring_codegen::{ModuleSource, generate_module};

use crate::project::Project;

/// The flags of `spar codegen` for this client.
const FLAGS: &str = "--name InstructionsClient";

#[tokio::test]
async fn the_generated_client_matches_the_server() {
    let client = Project::empty().over_stdio().await.client;
    let tools = client.list(ListKind::Tools).await.unwrap();
    let tools: Vec<Value> = tools.iter().map(|tool| tool.view().deserialize().unwrap()).collect();
    let source = ModuleSource {
        server: "instructions-server",
        version: env!("CARGO_PKG_VERSION"),
        name: Some("InstructionsClient"),
        flags: FLAGS,
        tools: &tools,
    };
    let generated = generate_module(&source).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/generated.rs");
    if std::env::var_os("SPAR_BLESS").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    let committed = fs::read_to_string(path).unwrap();
    assert!(committed == generated, "SPAR_BLESS=1 writes generated.rs anew:\n{generated}");
}

/// The structured content of an answer that succeeded.
#[track_caller]
pub(crate) fn structured(response: &Response) -> Value {
    response.assert_success();
    let content = response.structured().expect("there is structured content");
    content.deserialize().expect("it is JSON")
}

/// The ids of the instructions in an answer.
#[track_caller]
pub(crate) fn ids(response: &Response) -> Vec<String> {
    let answer = structured(response);
    let instructions = answer["instructions"].as_array().expect("there is a list").iter();
    instructions.map(|it| it["id"].as_str().expect("each has an id").to_owned()).collect()
}
