//! Details of the wire: JSON access, the rules of each revision, and the entries of
//! a transcript. The main types, such as [`Frame`](crate::Frame) and
//! [`Transcript`](crate::Transcript), are at the crate root.
//!
//! ```
//! use sparring::wire::FrameKind;
//! use sparring::{Checker, Frame, Revision, Side};
//!
//! let frame = Frame::parse(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#);
//! assert_eq!(frame.kind(), FrameKind::Request);
//! let violations = Checker::for_revision(Revision::V2025_11_25).check(&frame, Side::Client, None);
//! assert_eq!(violations[0].path, "$.params.name");
//! ```

pub use sparring_wire::json::{InvalidJson, Items, Key, Members};
pub use sparring_wire::revision::{
    ErrorCodeDefinition, NotificationDefinition, RequestDefinition, RevisionDefinition,
    UnknownRevision,
};
pub use sparring_wire::{
    ConnectionRecorder, Entry, FrameKind, HttpObservation, JsonKind, Limits, RULES, RuleEntry,
    RuleLevel, RuleSource, TranscriptItem, code,
};
