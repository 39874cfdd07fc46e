//! What goes wrong with an answer, on purpose.

use sparring_peer::link::Faults;

/// The faults of a reply.
#[derive(Debug, Default)]
pub(crate) struct ReplyFault {
    /// What happens to the answer on its way.
    pub(crate) link: Faults,
    /// It never comes.
    pub(crate) silent: bool,
    /// What happens to the process.
    pub(crate) process: Vec<ProcessFault>,
}

/// What a script wants to be done to the process that serves it, which is its
/// owner's to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessFault {
    /// To exit with this status, at once.
    Exit(u8),
    /// To write so many bytes to stderr.
    FloodStderr(usize),
}
