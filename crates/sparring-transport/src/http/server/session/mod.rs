//! Sessions that start with `initialize`: their streams, the frames that they keep for
//! resumption, and the peer's link.

mod link;
mod reader;
mod registry;
mod session_state;
mod stream_buffer;

pub(super) use link::SessionLink;
pub(super) use reader::{Reader, StreamStart};
pub(super) use registry::{Registry, SessionEntry, SessionId};
pub(super) use session_state::{Limits, PostError, ResumeError, Session};
