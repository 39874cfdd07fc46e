//! JSON text: a scanner that validates it, a borrowed view that navigates it, and owned
//! text that is known to be valid.
//!
//! `serde_json` builds trees, on demand.

mod escapes;
pub(crate) mod node_index;
pub(crate) mod object;
mod raw;
pub(crate) mod scanner;
mod view;

pub use object::ObjectBuilder;
pub use raw::{
    InvalidJson, RawJson, parse_capabilities, parse_completion, parse_implementation, parse_value,
};
pub use scanner::{SyntaxError, SyntaxErrorKind};
pub use view::{Items, Json, JsonKind, Key, Members};
