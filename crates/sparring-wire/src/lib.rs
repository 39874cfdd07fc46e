//! The wire of the Model Context Protocol: frames in their exact bytes, ids,
//! errors, the five revisions with a rule checker, and transcripts.
//!
//! Here is no I/O, no async and no clock.

pub mod error;
pub mod frame;
pub mod id;
pub mod json;
pub mod violation;

pub use error::{ErrorObject, code};
pub use frame::{Frame, FrameKind, Limits};
pub use id::{Id, IdSequence};
pub use json::{Json, JsonKind, RawJson};
pub use violation::{Rule, Violation};
