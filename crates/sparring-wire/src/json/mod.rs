//! JSON as it stands on the wire: a scanner that validates and measures, a
//! borrowed view that navigates, and an owned text that is known to be JSON.
//!
//! Trees are left to `serde_json`, on demand.

mod escapes;
mod object;
mod raw;
pub(crate) mod scan;
pub(crate) mod splice;
pub(crate) mod tape;
mod tree;
mod view;

pub use object::ObjectBuilder;
pub use raw::{InvalidJson, RawJson};
pub use scan::{Fault, FaultKind};
pub use tree::{capabilities, completion, implementation, tree};
pub use view::{Items, Json, JsonKind, Key, Members};
