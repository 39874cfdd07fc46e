//! What a child may only stand for: a process elsewhere, that the signals to the
//! child do not reach.

use std::process::ExitStatus;

use futures_util::future::BoxFuture;

use super::stderr::Stderr;

/// What is behind a child that only carries bytes. Each of these has a deadline
/// of its own.
pub(crate) trait Behind: Send + Sync + 'static {
    /// Called before the end of the input, while it most likely still runs.
    fn look(&self);

    /// Asks all of it to end.
    fn terminate(&self) -> BoxFuture<'_, ()>;

    /// Ends all of it.
    fn kill(&self) -> BoxFuture<'_, ()>;

    /// Ends what can be ended without waiting for anybody.
    fn kill_now(&self);

    /// Ends what is left of it although the child is gone. One that ended by
    /// itself tells that the process it stood for has ended; one that had to be
    /// killed tells nothing.
    fn end_rest(&self, by_itself: bool) -> BoxFuture<'_, ()>;

    /// What is to be said of the child's exit.
    fn told<'a>(&'a self, status: ExitStatus, stderr: &'a Stderr) -> BoxFuture<'a, Told>;
}

/// What is to be said of an exit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "containers"),
    expect(dead_code, reason = "only what is in a container is told of")
)]
pub(crate) enum Told {
    /// What ran has ended.
    Ended(String),
    /// It did not even start.
    NotStarted(String),
}
