//! The wire of the Model Context Protocol: frames in their exact bytes, ids,
//! errors, the five revisions with a rule checker, and transcripts.
//!
//! Here is no I/O, no async and no clock.

pub mod check;
pub mod error;
pub mod exchange;
pub mod frame;
pub mod headers;
pub mod id;
pub mod json;
pub mod mirror;
pub mod revision;
pub mod transcript;
pub mod types;
pub mod violation;

pub use check::{Checker, Referee};
pub use error::{ErrorObject, code};
pub use exchange::Exchange;
pub use frame::{Frame, FrameKind, Limits};
pub use headers::Headers;
pub use id::{Id, IdSequence};
pub use json::{Json, JsonKind, RawJson};
pub use revision::{Revision, Side};
pub use transcript::{Conversation, Entry, Recorded, Transcript};
pub use violation::{Rule, Violation};
