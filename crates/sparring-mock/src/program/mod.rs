//! Programs behind a mock: run for a tool's answer, whatever they say.

mod outcome;

use std::time::Duration;

use sparring_script::Tree;

pub(crate) use outcome::Outcome;

/// The most that a program may say.
pub(crate) const MOST: usize = 8 * 1024 * 1024;

/// How many programs may run at once; more wait, within their time.
pub(crate) const AT_ONCE: usize = 64;

/// A program that a reply runs.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) command: Tree,
    pub(crate) args: Vec<Tree>,
    pub(crate) env: Vec<(String, Tree)>,
    pub(crate) timeout: Duration,
    pub(crate) gives: Gives,
}

/// What a program's output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    /// A text.
    Text,
    /// Structured content, as JSON.
    Structured,
    /// The whole result, as JSON.
    Result,
}
