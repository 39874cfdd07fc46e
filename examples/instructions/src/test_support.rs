//! Support for tests of this server, and of programs that use it: an initialized project, and
//! checks of answers that were routed.
//!
//! ```
//! use instructions::test_support::{
//!     assert_contains_instruction, assert_routing_success, initialized_project, learning_loop,
//! };
//! use instructions::{Instructions, Library, Log};
//! use sparring::Client;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let project = initialized_project();
//! let library = Library::open(&project.join(".pongogo/instructions"))?.library;
//! let client = Client::in_memory(Instructions::new(library, Log::SILENT)).await?;
//! let arguments = serde_json::json!({"message": "I'm done"});
//! let response = client.call_tool("route_instructions", arguments).await?;
//! assert_routing_success(&response);
//! assert_contains_instruction(&response, "learning/learning-loop");
//! response.assert_content(learning_loop());
//! # Ok(())
//! # }
//! ```
//!
//! A failed check panics at the line of the test.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sparring::{Content, Project, Response};

/// The folder of the instructions in a project, if no variable names another one.
pub const DEFAULT_FOLDER: &str = ".pongogo/instructions";

/// The sample instructions of this example.
pub fn sample_instructions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("knowledge")
}

/// A new temporary project with the sample instructions in [`DEFAULT_FOLDER`], removed when it
/// is dropped.
///
/// # Panics
/// When a file cannot be copied.
#[track_caller]
pub fn initialized_project() -> Project {
    project_with(&sample_instructions(), DEFAULT_FOLDER)
}

/// A new temporary project with the instructions of a folder in a folder of the project.
///
/// # Panics
/// When a file cannot be copied.
#[track_caller]
pub fn project_with(instructions: &Path, folder: &str) -> Project {
    let project = Project::new();
    for entry in walkdir::WalkDir::new(instructions) {
        let entry = entry.unwrap_or_else(|error| panic!("cannot copy: {error}"));
        let path = entry.path();
        if entry.file_type().is_file() {
            let name = path.strip_prefix(instructions).unwrap_or(path);
            let bytes = std::fs::read(path);
            let bytes = bytes.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            project.write(Path::new(folder).join(name), bytes);
        }
    }
    project
}

/// Matches every answer about the learning loop.
pub fn learning_loop() -> Content {
    Content::all(["learning loop", "retrospective"])
}

/// Matches every answer about the work log.
pub fn work_log() -> Content {
    Content::all(["work log", "entry"])
}

/// Matches every answer with a checklist.
pub fn checklist() -> Content {
    Content::from("checklist")
}

/// Checks that a message was routed to at least one instruction.
///
/// # Panics
/// When the call failed, or no instruction fits the message.
#[track_caller]
pub fn assert_routing_success(response: &Response) {
    response.assert_content(Content::not_empty());
    assert!(!ids(response).is_empty(), "no instruction fits: {}", response.text());
}

/// Checks that an answer contains the instruction with this id.
///
/// # Panics
/// When the call failed, or the instruction is missing.
#[track_caller]
pub fn assert_contains_instruction(response: &Response, id: &str) {
    let ids = ids(response);
    assert!(ids.iter().any(|it| it == id), "expected {id:?}\nfound: {ids:?}");
}

/// The structured content of an answer.
///
/// # Panics
/// When the call failed.
#[track_caller]
pub fn structured(response: &Response) -> Value {
    response.assert_success();
    let content = response.structured().expect("a successful answer has structured content");
    content.deserialize().expect("structured content is JSON")
}

/// The ids of the instructions in an answer, best first.
///
/// # Panics
/// When the call failed.
#[track_caller]
pub fn ids(response: &Response) -> Vec<String> {
    let answer = structured(response);
    let instructions = answer["instructions"].as_array().expect("an answer has instructions");
    let ids = instructions.iter().map(|it| it["id"].as_str().expect("each one has an id"));
    ids.map(str::to_owned).collect()
}
