//! What all crates here read from JSON by `serde_json`. It is generic, and whoever
//! calls it builds the whole reader anew; so they call this.

use serde_json::Value;

use super::view::Json;
use crate::types::{Completion, Implementation, ServerCapabilities};

/// Reads JSON into a tree.
///
/// # Errors
/// When it is not JSON; the error says where.
pub fn tree(json: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(json)
}

/// Who a peer says it is, if that can be read.
pub fn implementation(json: Json<'_>) -> Option<Implementation> {
    json.to().ok()
}

/// What a server says it can do, if that can be read.
pub fn capabilities(json: Json<'_>) -> Option<ServerCapabilities> {
    json.to().ok()
}

/// The completions of an argument, if they can be read.
pub fn completion(json: Json<'_>) -> Option<Completion> {
    json.to().ok()
}
