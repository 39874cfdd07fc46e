//! Typed views of what the protocol carries, made on demand from raw JSON.
//!
//! They are lenient: whatever a view does not name is kept in `rest`, and what
//! may be absent in some revision is optional here. Judging is the checker's.

mod content;
mod info;
pub(crate) mod object;
mod prompt;
mod resource;
mod tool;

pub use content::Content;
pub use info::{Implementation, LogLevel, ServerCapabilities};
pub use prompt::{Completion, GetPromptResult, Prompt, PromptArgument, PromptMessage};
pub use resource::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
pub use tool::{CallToolResult, Tool};

/// Fields that a view does not name, in their order.
pub type Rest = serde_json::Map<String, serde_json::Value>;
