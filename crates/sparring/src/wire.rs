//! What stands on the wire: frames and their JSON, the revisions, the rules by
//! which both are judged, and the record of what was said.

pub use sparring_wire::json::{InvalidJson, Items, Key, Members};
pub use sparring_wire::revision::{
    ErrorRule, MethodRule, NotificationRule, RevisionRules, UnknownRevision,
};
pub use sparring_wire::{
    Checker, Conversation, Entry, ErrorObject, Exchange, Frame, FrameKind, Headers, Id, Json,
    JsonKind, Limits, RawJson, Recorded, Referee, Revision, Rule, Side, Transcript, Violation,
    code,
};
