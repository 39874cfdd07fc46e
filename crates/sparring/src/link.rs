//! What client and server talk through, for links of one's own, and what can be
//! made to go wrong on one.

pub use sparring_peer::link::{
    Cause, Change, Cut, Envelope, Era, Fault, Faults, Incoming, Lines, LinesOptions, Link,
    LinkKind, MemoryLink, MemoryTransport, Outgoing, Recorder, Stream, memory,
};
