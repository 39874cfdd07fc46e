//! What stands on the wire: frames and their JSON, the revisions, the rules by
//! which both are judged, and the record of what was said.
//!
//! ```
//! use sparring::wire::{Checker, Frame, Revision, Side};
//!
//! let frame = Frame::parse(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#);
//! let violations = Checker::of(Revision::V2025_11_25).check(&frame, Side::Client, None);
//! assert_eq!(violations[0].path, "$.params.name");
//! ```

pub use sparring_wire::json::{InvalidJson, Items, Key, Members};
pub use sparring_wire::revision::{
    ErrorRule, MethodRule, NotificationRule, RevisionRules, UnknownRevision,
};
pub use sparring_wire::{
    Checker, Conversation, Entry, ErrorObject, Exchange, Frame, FrameKind, Headers, Id, Json,
    JsonKind, Limits, RawJson, Recorded, Referee, Revision, Rule, Side, Transcript, Violation,
    code,
};
