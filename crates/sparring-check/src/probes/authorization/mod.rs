//! Authorization over HTTP: the refusal of requests without a valid token, its challenge, and
//! the metadata that leads a client to the authorization server.
//!
//! Most rules are judged without a token, also if the server refuses every connection without
//! one.

mod access;
mod bearer_challenge;
mod documents;
mod metadata;
mod scopes;
mod tokens;
mod web_url;

use sparring_transport::http::HttpTransport;
use sparring_wire::{Revision, Rule};

use self::access::{Attempt, Given};
use self::metadata::Metadata;
use self::web_url::WebUrl;
use super::{Probe, probe};
use crate::context::{Context, ProbeResult};
use crate::http::{HttpServer, streamable};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[
    probe!(
        [
            Unauthorized,
            InvalidToken,
            TokenInQuery,
            MissingChallenge,
            MissingMetadataUrl,
            MissingResourceMetadata,
            MissingAuthorizationServers,
            InvalidResource,
            InsecureAuthorization,
            MissingScope,
            OfflineAccess,
            MissingServerMetadata,
            MissingPkce,
        ],
        authorization
    ),
    probe!([ScopeChallenge], scopes::insufficient_scope),
];

/// The rules of the first probe.
const RULES: &[Rule] = PROBES[0].rules;

/// The server's responses about authorization.
struct Evidence {
    given: Given,
    /// The answer to a request without a token.
    without_token: Attempt,
    /// True if the server refused a later request than the first one.
    opens_for_anyone: bool,
    /// The answers to requests with invalid tokens.
    invalid: Vec<Attempt>,
    metadata: Metadata,
}

/// Returns true if the server refuses a client without a token.
pub(crate) async fn refuses_without_token(context: &Context) -> bool {
    let Some(server) = context.http() else { return false };
    if server.target().transport == HttpTransport::Sse {
        return false;
    }
    let attempt = access::without_token(server, access::OPENING, server.opening_request());
    match attempt.await {
        Ok(attempt) => !attempt.is_accepted() && attempt.asks_for_credentials(),
        Err(_) => false,
    }
}

async fn authorization(context: &Context) -> ProbeResult {
    let Some(server) = http_server(context, RULES).await else { return Ok(()) };
    let given = Given::of(server.target());
    if matches!(given, Given::Other) {
        leave_out(context, RULES, "the server is given other credentials than a token");
        return Ok(());
    }
    let (without_token, opens_for_anyone) = access::first_refusal(context, server).await?;
    let url = without_token.challenge();
    let url = url.as_ref().and_then(|it| it.parameter("resource_metadata"));
    let metadata = Metadata::fetch(server, url, !without_token.is_accepted()).await;
    let mut evidence =
        Evidence { given, without_token, opens_for_anyone, invalid: Vec::new(), metadata };
    if !evidence.shows_authorization() {
        leave_out(context, RULES, "the server does not require authorization");
        return Ok(());
    }
    if evidence.is_unclear() && context.is_connected() {
        // Some servers have only one session, and refuse another one with any token.
        let opening = server.send(&server.opening_request()).await?;
        if !access::is_accepted(&opening) {
            leave_out(context, RULES, "the server refuses another session");
            return Ok(());
        }
    }
    let tokens = access::invalid_tokens(&evidence.given, evidence.metadata.resource());
    for (fault, token) in tokens {
        let name = format!("{} with {fault}", access::OPENING);
        let request = server.opening_request();
        evidence.invalid.push(access::with_token(server, name, request, &token).await?);
    }
    tokens::judge(context, server, &evidence).await?;
    if evidence.requires_token() {
        judge_challenge(context, &evidence);
        documents::judge_location(context, server, &evidence);
    } else {
        let rules = [
            Rule::MissingChallenge,
            Rule::MissingMetadataUrl,
            Rule::MissingResourceMetadata,
            Rule::MissingScope,
        ];
        leave_out(context, &rules, "the server refused no request with status 401");
    }
    documents::judge_contents(context, server, &evidence);
    Ok(())
}

/// Returns the HTTP side of the server. Without a connection it is not known whether the server
/// speaks Streamable HTTP; its answers show it.
async fn http_server<'a>(context: &'a Context, rules: &[Rule]) -> Option<&'a HttpServer> {
    match context.is_connected() {
        true => streamable(context, rules).await,
        false => context.http(),
    }
}

fn leave_out(context: &Context, rules: &[Rule], reason: &str) {
    rules.iter().for_each(|rule| context.not_applicable(*rule, reason));
}

impl Evidence {
    /// Returns true if the server seems to be protected: it refuses a request without a token,
    /// or it was given a token, or it publishes the metadata of a protected resource.
    fn shows_authorization(&self) -> bool {
        let attempt = &self.without_token;
        !attempt.is_accepted() && attempt.asks_for_credentials()
            || self.given.is_token()
            || self.metadata.resource().is_some()
    }

    /// Returns true if the server refused the request without a token for an unknown reason.
    fn is_unclear(&self) -> bool {
        !self.without_token.is_accepted() && !self.without_token.asks_for_credentials()
    }

    /// Returns true if the server refuses requests that have no valid token.
    fn requires_token(&self) -> bool {
        self.unauthorized().next().is_some()
    }

    /// Returns the attempts that the server refused with status 401.
    fn unauthorized(&self) -> impl Iterator<Item = &Attempt> {
        let attempts = std::iter::once(&self.without_token).chain(&self.invalid);
        attempts.filter(|it| it.is_unauthorized())
    }
}

/// Judges the challenges of all responses with status 401.
fn judge_challenge(context: &Context, evidence: &Evidence) {
    for attempt in evidence.unauthorized() {
        let name = &attempt.name;
        let Some(challenge) = attempt.challenge() else {
            let expected = format!(
                "expected the header WWW-Authenticate with the scheme Bearer in the response to \
                 {name}"
            );
            context.fail(Rule::MissingChallenge, finding(attempt, expected));
            continue;
        };
        context.pass(Rule::MissingChallenge);
        if context.revision.is_modern() && challenge.scopes().any(|it| it == "offline_access") {
            let expected = "expected a challenge without the scope offline_access";
            context.fail(Rule::OfflineAccess, finding(attempt, expected));
        }
    }
    let challenges = evidence.unauthorized().filter_map(Attempt::challenge);
    let challenges: Vec<_> = challenges.collect();
    if challenges.is_empty() {
        leave_out(context, &[Rule::MissingScope], "the server sends no challenge");
        return;
    }
    let scopes = evidence.metadata.resource().map(|it| &it["scopes_supported"]);
    let has_scopes = scopes.is_none_or(|it| it.as_array().is_some_and(|all| !all.is_empty()));
    // The challenge to a request without a token comes first.
    let first = evidence.unauthorized().find(|it| it.challenge().is_some());
    match first.filter(|it| it.challenge().is_some_and(|it| it.parameter("scope").is_none())) {
        None => context.pass(Rule::MissingScope),
        Some(_) if !has_scopes => {
            let reason = "the protected-resource metadata names no scopes";
            context.not_applicable(Rule::MissingScope, reason);
        }
        Some(attempt) => {
            let expected = "expected the parameter `scope` in the challenge";
            context.fail(Rule::MissingScope, finding(attempt, expected));
        }
    }
}

/// Creates a finding with the request, the response and its challenge.
fn finding(attempt: &Attempt, expected: impl std::fmt::Display) -> Finding {
    attempt.exchange.finding(expected)
}

/// Returns the URL of the server under check.
fn own_url(server: &HttpServer) -> Option<WebUrl> {
    WebUrl::parse(&server.target().url)
}

/// Returns true in the revision whose metadata is at the origin of the server.
fn has_default_endpoints(revision: Revision) -> bool {
    revision == Revision::V2025_03_26
}
