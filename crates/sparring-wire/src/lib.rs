//! The messages of the Model Context Protocol: frames with their exact bytes, ids,
//! errors, the five revisions, the catalogue of rules with its checkers, and transcripts.
//!
//! This crate has no I/O, no async code and no clock.

pub mod check;
pub mod error;
pub mod frame;
pub mod headers;
pub mod id;
pub mod json;
pub mod mirrored_headers;
pub mod revision;
pub mod rule;
pub mod secret_names;
pub mod transcript;
pub mod types;
pub mod violation;
pub mod www_authenticate;

pub use check::{Checker, ConnectionChecker, HttpObservation};
pub use error::{ErrorObject, code};
pub use frame::{Frame, FrameKind, Limits};
pub use headers::Headers;
pub use id::{Id, IdSequence};
pub use json::{Json, JsonKind, RawJson};
pub use revision::{Revision, Side};
pub use rule::{RULES, Rule, RuleEntry, RuleLevel, RuleSource};
pub use transcript::{ConnectionRecorder, Entry, Exchange, Transcript, TranscriptItem};
pub use violation::Violation;
