//! Compares the response to a changed request with the one that a rule requires.

use std::fmt::Display;

use sparring_transport::http::RawRequest;
use sparring_wire::Rule;

use super::exchange::Exchange;
use super::server::HttpServer;
use crate::context::{Context, Stopped};
use crate::verdict::Finding;

/// The refusal that a rule requires.
#[derive(Clone, Copy)]
pub(crate) struct Refusal<'a> {
    /// The allowed statuses; empty if any error status will do.
    pub(crate) statuses: &'a [u16],
    /// The allowed codes of the JSON-RPC error; empty if none is needed.
    pub(crate) codes: &'a [i64],
}

impl<'a> Refusal<'a> {
    /// Any error status.
    pub(crate) const ANY: Refusal<'static> = Refusal { statuses: &[], codes: &[] };

    /// One of these statuses.
    pub(crate) const fn status(statuses: &'a [u16]) -> Self {
        Refusal { statuses, codes: &[] }
    }

    fn fits(&self, exchange: &Exchange) -> bool {
        let status_fits = match self.statuses.is_empty() {
            true => exchange.status >= 400,
            false => self.statuses.contains(&exchange.status),
        };
        let code = exchange.error_code();
        status_fits && (self.codes.is_empty() || code.is_some_and(|it| self.codes.contains(&it)))
    }
}

/// Sends a request that the server must refuse, and reports the outcome. `expected` completes
/// the sentence "expected …".
pub(crate) async fn require_refusal(
    context: &Context,
    server: &HttpServer,
    rule: Rule,
    request: &RawRequest,
    refusal: Refusal<'_>,
    expected: impl Display,
) {
    let expected = format!("expected {expected}");
    match server.send(request).await {
        Ok(exchange) if refusal.fits(&exchange) => context.pass(rule),
        Ok(exchange) if exchange.is_unrelated_refusal() => {
            context.undecided(rule, exchange.describe());
        }
        Ok(exchange) => context.fail(rule, exchange.finding(expected)),
        Err(silence) => report_silence(context, server, rule, &expected, silence).await,
    }
}

/// Sends a request that must have the same outcome as an earlier one, and reports the outcome.
pub(crate) async fn require_same(
    context: &Context,
    server: &HttpServer,
    rule: Rule,
    earlier: &Exchange,
    request: &RawRequest,
    expected: impl Display,
) {
    let expected = format!("expected {expected}");
    match server.send(request).await {
        Ok(exchange) => report_same(context, rule, earlier, &exchange, &expected),
        Err(silence) => report_silence(context, server, rule, &expected, silence).await,
    }
}

/// Reports whether a response has the same outcome as an earlier one.
pub(crate) fn report_same(
    context: &Context,
    rule: Rule,
    earlier: &Exchange,
    exchange: &Exchange,
    expected: &str,
) {
    if is_same_outcome(earlier, exchange) {
        context.pass(rule);
    } else if exchange.is_unrelated_refusal() {
        context.undecided(rule, exchange.describe());
    } else {
        context.fail(rule, exchange.finding(expected));
    }
}

/// Returns true if the server has handled two requests in the same way.
pub(crate) fn is_same_outcome(one: &Exchange, other: &Exchange) -> bool {
    one.status == other.status
        && one.has_result() == other.has_result()
        && one.error_code() == other.error_code()
}

/// A request without any response breaks the rule, unless the server is gone.
async fn report_silence(
    context: &Context,
    server: &HttpServer,
    rule: Rule,
    expected: &str,
    Stopped(reason): Stopped,
) {
    match server.is_alive().await {
        true => context.fail(rule, Finding::new(format!("{expected}; {reason}"))),
        false => context.undecided(rule, reason),
    }
}
