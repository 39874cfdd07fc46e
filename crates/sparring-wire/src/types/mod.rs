//! Typed views of the protocol's objects, deserialized on demand from raw JSON.
//!
//! They are lenient: unnamed fields are kept in `rest`, and fields that some revision does
//! not require are optional. The checker reports violations.

mod content;
pub(crate) mod object_only;
mod peer_info;
mod prompt;
mod resource;
mod tool;

pub use content::Content;
pub use peer_info::{Implementation, LogLevel, ServerCapabilities};
pub use prompt::{Completion, GetPromptResult, Prompt, PromptArgument, PromptMessage};
pub use resource::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
pub use tool::{CallToolResult, Tool};

/// The fields that a view does not name, in order.
pub type Rest = serde_json::Map<String, serde_json::Value>;
