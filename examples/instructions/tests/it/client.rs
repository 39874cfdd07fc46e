//! The generated client of the tests, and a test that it is current.

use std::fs;
use std::path::Path;

use serde_json::Value;
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
