//! How much a request is worth to a server that wants to know who asks.

/// What may be done for a request to be let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Anything: somebody may have to log in.
    Full,
    /// What needs nobody, unless the server never let us in.
    Quiet,
    /// Nothing, once the server has said no.
    None,
}
