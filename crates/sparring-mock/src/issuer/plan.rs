//! What an issuer is told in advance, as plain data.

use std::collections::VecDeque;
use std::time::Duration;

use super::client::Client;

/// How an issuer is.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Its path at its origin: nothing, or one without a slash at its end.
    pub(crate) path: String,
    /// The scopes that there are; where none are named, any.
    pub(crate) scopes: Vec<String>,
    /// The clients that it knows.
    pub(crate) clients: Vec<Client>,
    /// Whether clients may register themselves.
    pub(crate) registration: bool,
    /// The paths at its own origin that its tokens are for; if none are named,
    /// they are for whatever is asked for.
    pub(crate) resources: Vec<String>,
    pub(crate) ways: Ways,
}

/// What can be changed while it serves.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    /// How long its tokens are good.
    pub(crate) lifetime: Duration,
    pub(crate) refresh: Refresh,
    pub(crate) login: Turns<Login>,
    /// What token requests are refused with.
    pub(crate) refuse: Turns<String>,
    pub(crate) wrong: Turns<Wrong>,
}

impl Default for Ways {
    fn default() -> Self {
        Ways {
            lifetime: Duration::from_secs(3600),
            refresh: Refresh::Rotate,
            login: Turns::default(),
            refuse: Turns::default(),
            wrong: Turns::default(),
        }
    }
}

/// What becomes of a refresh token that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refresh {
    /// Another one takes its place.
    Rotate,
    /// It stays.
    Keep,
    /// There are none.
    Never,
}

/// What comes of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Login {
    Approve,
    Deny,
}

/// What is wrong with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrong {
    /// Nothing.
    Nothing,
    /// It is signed by a key that nobody knows.
    Signature,
    /// It is for somebody else.
    Audience,
    /// It says that somebody else gave it.
    Issuer,
    /// It has expired.
    Expired,
    /// It has no scopes.
    Scope,
}

/// Something that is done each time, or at some times and then no more.
#[derive(Debug, Clone)]
pub(crate) struct Turns<T> {
    pub(crate) always: Option<T>,
    pub(crate) next: VecDeque<T>,
}

impl<T: Clone> Turns<T> {
    pub(crate) fn take(&mut self) -> Option<T> {
        self.next.pop_front().or_else(|| self.always.clone())
    }
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Turns { always: None, next: VecDeque::new() }
    }
}
