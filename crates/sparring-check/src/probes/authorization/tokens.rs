//! Judges how the server treats requests without a token, with an invalid one, and with a token
//! in the query.

use sparring_transport::http::RawCredentials;
use sparring_wire::Rule;

use super::access::{self, Attempt, Conversation, Given, is_accepted};
use super::{Evidence, finding};
use crate::context::{Context, ProbeResult, Stopped};
use crate::http::{HttpServer, RequestExt as _};

pub(super) async fn judge(
    context: &Context,
    server: &HttpServer,
    evidence: &Evidence,
) -> ProbeResult {
    judge_missing_token(context, evidence);
    judge_invalid_tokens(context, evidence);
    judge_query(context, server, evidence).await?;
    // Later requests of an authorized session need a token as well.
    if context.is_connected()
        && evidence.without_token.is_unauthorized()
        && evidence.given.is_token()
    {
        judge_later_requests(context, server).await?;
    }
    Ok(())
}

fn judge_missing_token(context: &Context, evidence: &Evidence) {
    let rule = Rule::Unauthorized;
    let attempt = &evidence.without_token;
    let name = &attempt.name;
    if attempt.is_unauthorized() {
        return context.pass(rule);
    }
    if attempt.is_unrelated() {
        return context.undecided(rule, attempt.exchange.describe());
    }
    if !attempt.is_accepted() {
        let expected = format!("expected the status 401 in the response to {name}");
        return context.fail(rule, finding(attempt, expected));
    }
    // Some servers serve both: anyone, and more to those with a token. A server is only judged
    // if its user gives it a token, and if it looks at the token at all.
    if evidence.given.is_token() && evidence.invalid.iter().any(Attempt::is_unauthorized) {
        let expected = format!(
            "expected the status 401 in the response to {name}, as in the response to an invalid \
             token"
        );
        return context.fail(rule, finding(attempt, expected));
    }
    context.not_applicable(rule, "the server answers requests without a token");
}

fn judge_invalid_tokens(context: &Context, evidence: &Evidence) {
    let rule = Rule::InvalidToken;
    let is_protected = !evidence.without_token.is_accepted()
        || evidence.metadata.resource().is_some()
        || evidence.invalid.iter().any(Attempt::is_unauthorized);
    if !is_protected {
        return context.not_applicable(rule, "the server answers requests without a token");
    }
    for attempt in &evidence.invalid {
        if attempt.is_unauthorized() {
            context.pass(rule);
        } else if attempt.is_unrelated() {
            // A server may limit the number of attempts.
            if !evidence.invalid.iter().any(Attempt::is_unauthorized) {
                context.undecided(rule, attempt.exchange.describe());
            }
        } else {
            let expected = format!("expected the status 401 in the response to {}", attempt.name);
            // The other tokens show the same.
            return context.fail(rule, finding(attempt, expected));
        }
    }
}

/// Sends the given token in the query instead of the header.
async fn judge_query(context: &Context, server: &HttpServer, evidence: &Evidence) -> ProbeResult {
    let rule = Rule::TokenInQuery;
    let Given::Token(token) = &evidence.given else {
        let reason = match evidence.given {
            Given::OAuth => "the token is not known to the check",
            _ => "no token was given",
        };
        context.not_applicable(rule, reason);
        return Ok(());
    };
    if evidence.without_token.is_accepted() {
        context.not_applicable(rule, "the server answers requests without a token");
        return Ok(());
    }
    let url = server.target().url.split('#').next().unwrap_or_default();
    let url = url.split_once('?').map(|(_, query)| query.to_owned());
    // A server may let anyone open a session. Then the token belongs to a later request.
    let refused = match evidence.opens_for_anyone {
        true => {
            let conversation = Conversation::open(server).await?;
            conversation.request(server, access::later_method(context))
        }
        false => server.opening_request(),
    };
    for name in ["access_token", "token"] {
        let own = url.as_ref().map(|query| format!("{query}&")).unwrap_or_default();
        let query = format!("?{own}{name}={}", percent_encode(token));
        let mut request = refused.clone().to(&query);
        request.credentials = RawCredentials::Nothing;
        let exchange = server.send(&request).await?;
        if is_accepted(&exchange) {
            let message = format!(
                "expected the status 401 in the response to a token in `{name}` of the query"
            );
            context.fail(rule, exchange.finding(message));
        } else {
            context.pass(rule);
        }
    }
    Ok(())
}

/// Sends later requests of an authorized session without a token, and with an invalid one.
async fn judge_later_requests(context: &Context, server: &HttpServer) -> ProbeResult {
    let conversation = Conversation::open(server).await?;
    let method = access::later_method(context);
    let request = conversation.request(server, method);
    let name = match conversation {
        Conversation::Session(_) => format!("`{method}` in an authorized session"),
        Conversation::Requests => format!("`{method}`"),
    };
    let attempt = access::without_token(server, &name, request.clone()).await?;
    judge_later(context, Rule::Unauthorized, &attempt);
    let [(fault, token), ..] = &access::invalid_tokens(&Given::Nothing, None)[..] else {
        return Ok(());
    };
    let name = format!("{name} with {fault}");
    let attempt = access::with_token(server, name, request, token).await?;
    judge_later(context, Rule::InvalidToken, &attempt);
    if let Conversation::Session(session) = &conversation {
        judge_stream(context, server, session).await?;
        let name = "a DELETE request for an authorized session";
        let attempt = access::without_token(server, name, session.delete()).await?;
        judge_later(context, Rule::Unauthorized, &attempt);
        if !attempt.exchange.is_success() {
            server.send(&session.delete()).await?;
        }
    }
    Ok(())
}

/// The order of the checks of a server is its own: it may refuse the request for another reason
/// first. But it must not accept it.
fn judge_later(context: &Context, rule: Rule, attempt: &Attempt) {
    if attempt.is_accepted() {
        let expected = format!("expected the status 401 in the response to {}", attempt.name);
        context.fail(rule, finding(attempt, expected));
    }
}

async fn judge_stream(
    context: &Context,
    server: &HttpServer,
    session: &crate::http::Session,
) -> Result<(), Stopped> {
    let mut request = session.get();
    request.credentials = RawCredentials::Nothing;
    let stream = server.start(&request).await?;
    let exchange = stream.exchange();
    if exchange.is_success() && exchange.is_stream() {
        let expected = "expected the status 401 in the response to a GET request for an \
                        authorized session without a token";
        context.fail(Rule::Unauthorized, exchange.finding(expected));
    }
    Ok(())
}

/// Encodes a token for a query.
fn percent_encode(token: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    token.bytes().map(encode).collect()
}
