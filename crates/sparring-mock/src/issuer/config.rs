//! Configuration of an issuer, as plain data.

use std::collections::VecDeque;
use std::time::Duration;

use super::client::Client;

/// Configuration of an issuer.
#[derive(Debug, Clone)]
pub(crate) struct IssuerConfig {
    /// Its path below its origin, without a slash at the end; may be empty.
    pub(crate) path: String,
    /// The scopes that it knows; empty allows any.
    pub(crate) scopes: Vec<String>,
    /// The clients of the script.
    pub(crate) clients: Vec<Client>,
    /// True if clients may register themselves.
    pub(crate) registration: bool,
    /// The paths at its origin that its tokens are for; empty allows any audience.
    pub(crate) resources: Vec<String>,
    pub(crate) behavior: IssuerBehavior,
}

/// The part of the configuration that can be changed while it serves.
#[derive(Debug, Clone)]
pub(crate) struct IssuerBehavior {
    /// The lifetime of its tokens.
    pub(crate) lifetime: Duration,
    pub(crate) refresh: RefreshPolicy,
    pub(crate) login: ScriptedValue<LoginOutcome>,
    /// The errors that token requests get.
    pub(crate) refuse: ScriptedValue<String>,
    pub(crate) wrong: ScriptedValue<TokenFault>,
}

impl Default for IssuerBehavior {
    fn default() -> Self {
        IssuerBehavior {
            lifetime: Duration::from_secs(3600),
            refresh: RefreshPolicy::Rotate,
            login: ScriptedValue::default(),
            refuse: ScriptedValue::default(),
            wrong: ScriptedValue::default(),
        }
    }
}

/// The handling of refresh tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefreshPolicy {
    /// Each use replaces it by a new one.
    Rotate,
    /// It can be used again.
    Keep,
    /// None are issued.
    Never,
}

/// The outcome of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoginOutcome {
    Approve,
    Deny,
}

/// A fault of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenFault {
    /// It is valid.
    None,
    /// An unknown key signed it.
    Signature,
    /// Its audience is another server.
    Audience,
    /// Its issuer is another one.
    Issuer,
    /// It has expired.
    Expired,
    /// It has no scopes.
    Scope,
}

/// A value for every request, or values for the next requests.
#[derive(Debug, Clone)]
pub(crate) struct ScriptedValue<T> {
    pub(crate) always: Option<T>,
    pub(crate) next: VecDeque<T>,
}

impl<T: Clone> ScriptedValue<T> {
    pub(crate) fn take(&mut self) -> Option<T> {
        self.next.pop_front().or_else(|| self.always.clone())
    }
}

impl<T> Default for ScriptedValue<T> {
    fn default() -> Self {
        ScriptedValue { always: None, next: VecDeque::new() }
    }
}
