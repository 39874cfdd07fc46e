//! Requests that a server has to refuse.

use sparring_peer::Cause;
use sparring_peer::client::Error;
use sparring_wire::Rule;

use crate::connection::Reply;
use crate::context::Context;

/// The answer to a request that a server has to refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The server refused it, with an error or an HTTP status.
    Refused,
    /// The server answered with a result.
    Accepted,
    /// There is no usable answer.
    Unknown,
}

impl Refusal {
    /// Classifies a reply. A result with `isError` refuses a request too.
    pub(super) fn of(reply: &Reply) -> Refusal {
        match reply.outcome() {
            _ if reply.error().is_some() || reply.is_tool_error() => Refusal::Refused,
            Err(Error::Closed { cause: Cause::Http { .. }, .. }) => Refusal::Refused,
            _ if reply.is_success() => Refusal::Accepted,
            _ => Refusal::Unknown,
        }
    }
}

/// Requires that a request was refused, with any error.
pub(super) fn require_refusal(context: &Context, rule: Rule, reply: &Reply, request: &str) {
    match Refusal::of(reply) {
        Refusal::Refused => context.pass(rule),
        Refusal::Accepted => {
            context.fail(rule, reply.finding(format!("expected an error for {request}")));
        }
        Refusal::Unknown => context.undecided(rule, reply.describe()),
    }
}

/// Requires that a request got an error with this code.
pub(super) fn require_code(context: &Context, rule: Rule, reply: &Reply, code: i64, request: &str) {
    match (reply.error_code(), Refusal::of(reply)) {
        (Some(found), _) if found == code => context.pass(rule),
        (None, Refusal::Unknown) => context.undecided(rule, reply.describe()),
        // The refusal is an HTTP response without an error.
        (None, Refusal::Refused) if !reply.is_tool_error() => {
            context.not_applicable(rule, reply.describe());
        }
        _ => {
            let expected = format!("expected the error {code} for {request}");
            context.fail(rule, reply.finding(expected));
        }
    }
}

/// Reports that rules do not apply because the server lacks a capability. Returns true if so.
pub(super) fn lacks_capability(context: &Context, capability: &str, rules: &[Rule]) -> bool {
    if context.facts().declares(capability) {
        return false;
    }
    for rule in rules {
        context.not_applicable(*rule, format!("the server does not declare `{capability}`"));
    }
    true
}
