//! Judges the metadata of the protected resource and of its authorization servers.

use serde_json::Value;
use sparring_wire::{Revision, Rule};

use super::access::Attempt;
use super::metadata::{Fetched, Metadata};
use super::web_url::WebUrl;
use super::{Evidence, finding, has_default_endpoints, leave_out, own_url};
use crate::context::Context;
use crate::http::HttpServer;
use crate::verdict::Finding;

/// Judges where a client finds the metadata of the protected resource.
pub(super) fn judge_location(context: &Context, server: &HttpServer, evidence: &Evidence) {
    if Rule::MissingMetadataUrl.applies_in(context.revision) {
        judge_metadata_url(context, evidence);
    }
    let rule = Rule::MissingResourceMetadata;
    let challenge = evidence.without_token.challenge();
    let url = challenge.as_ref().and_then(|it| it.parameter("resource_metadata"));
    let Metadata { named, well_known, .. } = &evidence.metadata;
    match (url, named) {
        (Some(url), Some(fetched)) => judge_named(context, server, evidence, url, fetched),
        (Some(url), None) => {
            let expected = "expected an absolute URL as `resource_metadata` in the challenge";
            let message = format!("{expected}; found {url:?}");
            let shown = evidence.without_token.exchange.shown();
            context.fail(rule, Finding::new(message).with_frames(shown));
        }
        (None, _) if well_known.document.is_some() => judge_media_type(context, well_known),
        (None, _) => {
            let expected = "expected protected-resource metadata at a well-known path, since the \
                            challenge names no URL";
            report_missing(context, well_known, expected);
        }
    }
}

/// In 2025-06-18 every response with status 401 names the URL.
fn judge_metadata_url(context: &Context, evidence: &Evidence) {
    let rule = Rule::MissingMetadataUrl;
    let has_url = |attempt: &&Attempt| {
        let challenge = attempt.challenge();
        let url = challenge.as_ref().and_then(|it| it.parameter("resource_metadata"));
        url.is_some_and(|url| WebUrl::parse(url).is_some())
    };
    match evidence.unauthorized().find(|it| !has_url(it)) {
        None => context.pass(rule),
        // Later revisions do not require it, and without a token nothing shows whether the
        // server speaks this one.
        Some(_) if !context.is_connected() && context.options.revisions.len() > 1 => {
            let reason = "the challenge has no `resource_metadata`, which is required in \
                          2025-06-18; without a token it is not known whether the server speaks \
                          this revision";
            context.not_applicable(rule, reason);
        }
        Some(attempt) => {
            let expected = "expected the URL of the metadata as `resource_metadata` in the \
                            challenge";
            context.fail(rule, finding(attempt, expected));
        }
    }
}

fn judge_named(
    context: &Context,
    server: &HttpServer,
    evidence: &Evidence,
    url: &str,
    fetched: &Fetched,
) {
    let rule = Rule::MissingResourceMetadata;
    if fetched.document.is_some() {
        return judge_media_type(context, fetched);
    }
    let is_own = |own: WebUrl| WebUrl::parse(url).is_some_and(|it| it.origin() == own.origin());
    let is_elsewhere = !own_url(server).is_some_and(is_own);
    if is_elsewhere && fetched.response.is_err() && evidence.metadata.well_known.document.is_some()
    {
        // The public address of a server may not be reachable from here.
        return context.pass(rule);
    }
    let expected =
        format!("expected protected-resource metadata at the URL of the challenge, {url}");
    report_missing(context, fetched, &expected);
}

fn report_missing(context: &Context, fetched: &Fetched, expected: &str) {
    let rule = Rule::MissingResourceMetadata;
    match &fetched.response {
        Ok(exchange) => context.fail(rule, exchange.finding(expected)),
        Err(reason) => context.fail(rule, Finding::new(format!("{expected}; {reason}"))),
    }
}

/// The metadata has the media type of JSON (RFC 9728, 3.2).
fn judge_media_type(context: &Context, fetched: &Fetched) {
    let rule = Rule::MissingResourceMetadata;
    let Ok(exchange) = &fetched.response else { return };
    match exchange.content_type().to_ascii_lowercase().as_str() {
        "application/json" => context.pass(rule),
        other => {
            let expected = "expected protected-resource metadata with the media type \
                            application/json";
            let message = format!("{expected}; the server sent {other:?}");
            context.fail(rule, Finding::new(message).with_frames(exchange.shown()));
        }
    }
}

/// Judges the metadata, as far as there is any.
pub(super) fn judge_contents(context: &Context, server: &HttpServer, evidence: &Evidence) {
    let metadata = &evidence.metadata;
    match metadata.resource() {
        Some(resource) => judge_resource(context, server, metadata, resource),
        None => {
            let rules =
                [Rule::MissingAuthorizationServers, Rule::InvalidResource, Rule::OfflineAccess];
            leave_out(context, &rules, "the server publishes no protected-resource metadata");
        }
    }
    judge_endpoints(context, server, evidence);
    judge_server_metadata(context, server, evidence);
    judge_pkce(context, metadata);
}

fn judge_resource(context: &Context, server: &HttpServer, metadata: &Metadata, resource: &Value) {
    let fail = |rule: Rule, message: String| {
        let answer = metadata.resource_answer().and_then(|it| it.response.as_ref().ok());
        let finding = Finding::new(message);
        context.fail(
            rule,
            match answer {
                Some(exchange) => finding.with_frames(exchange.shown()),
                None => finding,
            },
        );
    };
    let servers = resource["authorization_servers"].as_array();
    let is_url = |it: &Value| it.as_str().is_some_and(|url| WebUrl::parse(url).is_some());
    match servers {
        Some(servers) if !servers.is_empty() && servers.iter().all(is_url) => {
            context.pass(Rule::MissingAuthorizationServers);
        }
        _ => {
            let expected = "expected a list of one or more URLs as `authorization_servers`";
            let message = format!("{expected}; found {}", resource["authorization_servers"]);
            fail(Rule::MissingAuthorizationServers, message);
        }
    }
    match resource_problem(&resource["resource"], own_url(server)) {
        None => context.pass(Rule::InvalidResource),
        Some(expected) => {
            let message =
                format!("expected {expected} as `resource`; found {}", resource["resource"]);
            fail(Rule::InvalidResource, message);
        }
    }
    let scopes = resource["scopes_supported"].as_array();
    match scopes.is_some_and(|all| all.iter().any(|it| it == "offline_access")) {
        false => context.pass(Rule::OfflineAccess),
        true => {
            let message = "expected no offline_access among `scopes_supported`".to_owned();
            fail(Rule::OfflineAccess, message);
        }
    }
}

/// Returns what was expected instead of this resource. A client refuses metadata of another
/// server (RFC 9728, 3.3).
fn resource_problem(resource: &Value, own: Option<WebUrl>) -> Option<String> {
    let Some(url) = resource.as_str().and_then(WebUrl::parse) else {
        return Some("an absolute URL".to_owned());
    };
    if url.has_fragment {
        return Some("a URL without a fragment".to_owned());
    }
    let own = own.filter(|own| !url.covers(own))?;
    Some(format!("the URL of this server, {}{}", own.origin(), own.path()))
}

/// Every endpoint of an authorization server uses HTTPS.
fn judge_endpoints(context: &Context, server: &HttpServer, evidence: &Evidence) {
    let rule = Rule::InsecureAuthorization;
    let metadata = &evidence.metadata;
    let mut endpoints: Vec<(String, String)> = Vec::new();
    for named in &metadata.authorization_servers {
        endpoints.push(("`authorization_servers`".to_owned(), named.issuer.clone()));
    }
    let answers = metadata.authorization_servers.iter().filter_map(|it| it.answer.as_ref());
    let answers = answers.chain(Some(&metadata.own_server));
    for document in
        answers.filter(|it| it.is_authorization_server()).filter_map(|it| it.document.as_ref())
    {
        for (name, value) in document.as_object().into_iter().flatten() {
            let is_endpoint = name.ends_with("_endpoint") || name == "issuer" || name == "jwks_uri";
            if let Some(url) = value.as_str().filter(|_| is_endpoint) {
                endpoints.push((format!("`{name}`"), url.to_owned()));
            }
        }
    }
    let is_default = has_default_endpoints(context.revision) && evidence.requires_token();
    if endpoints.is_empty() && is_default {
        endpoints.push(("the URL of the server".to_owned(), server.target().redacted_url()));
    }
    if endpoints.is_empty() {
        let reason = "the server names no authorization server";
        return context.not_applicable(rule, reason);
    }
    for (name, url) in endpoints {
        match WebUrl::parse(&url) {
            Some(url) if !url.is_secure() => {
                let origin = url.origin();
                let message = format!("expected HTTPS in {name}; found {origin}{}", url.path());
                context.fail(rule, Finding::new(message));
            }
            _ => context.pass(rule),
        }
    }
}

/// A client finds the endpoints of the authorization server in its metadata. Only in 2025-03-26
/// the server may have default endpoints instead.
fn judge_server_metadata(context: &Context, server: &HttpServer, evidence: &Evidence) {
    let rule = Rule::MissingServerMetadata;
    let metadata = &evidence.metadata;
    let answers = || metadata.authorization_servers.iter().filter_map(|it| it.answer.as_ref());
    let is_found = |it: &Fetched| it.is_authorization_server();
    let at_origin = has_default_endpoints(context.revision);
    if answers().any(is_found) || at_origin && is_found(&metadata.own_server) {
        return context.pass(rule);
    }
    if at_origin && !evidence.requires_token() {
        return context.not_applicable(rule, "the server refused no request with status 401");
    }
    if at_origin && (context.is_connected() || context.options.revisions.len() == 1) {
        return judge_default_endpoints(context, metadata);
    }
    let mut missing = answers().filter_map(|it| it.response.as_ref().ok().map(|found| (it, found)));
    match missing.next_back() {
        Some((fetched, exchange)) => {
            let expected = "expected the metadata of the authorization server at a well-known path";
            let found = format!("{expected}, such as {}", without_port(server, &fetched.from));
            context.fail(rule, exchange.finding(found));
        }
        None => context.not_applicable(rule, "no authorization server was found to ask"),
    }
}

/// Returns the URL without an origin that is the server's own, so that the message is the same
/// in each run.
fn without_port<'a>(server: &HttpServer, url: &'a str) -> &'a str {
    let own = own_url(server).map(|it| it.origin()).unwrap_or_default();
    url.strip_prefix(&own).unwrap_or(url)
}

fn judge_default_endpoints(context: &Context, metadata: &Metadata) {
    let rule = Rule::MissingServerMetadata;
    for fetched in &metadata.default_endpoints {
        let path = &fetched.from;
        match &fetched.response {
            Ok(exchange) if matches!(exchange.status, 404 | 410 | 501) => {
                let expected = format!(
                    "expected the endpoint {path}, since the server has no authorization server \
                     metadata"
                );
                context.fail(rule, exchange.finding(expected));
            }
            Ok(_) => context.pass(rule),
            Err(reason) => context.undecided(rule, reason),
        }
    }
}

/// A client refuses an authorization server that does not say that it supports PKCE.
fn judge_pkce(context: &Context, metadata: &Metadata) {
    let rule = Rule::MissingPkce;
    if context.revision < Revision::V2025_11_25 {
        return;
    }
    let answers = metadata.authorization_servers.iter().filter_map(|it| it.answer.as_ref());
    let answers = answers.filter(|it| it.is_authorization_server());
    let mut is_judged = false;
    for fetched in answers {
        let Some(document) = &fetched.document else { continue };
        let grants = document["grant_types_supported"].as_array();
        let has_codes = document.get("authorization_endpoint").is_some()
            && grants.is_none_or(|all| all.iter().any(|it| it == "authorization_code"));
        if !has_codes {
            continue;
        }
        is_judged = true;
        let methods = document["code_challenge_methods_supported"].as_array();
        match methods.is_some_and(|all| !all.is_empty()) {
            true => context.pass(rule),
            false => {
                let expected = "expected `code_challenge_methods_supported` in the metadata of \
                                the authorization server";
                let found = &document["code_challenge_methods_supported"];
                let finding = Finding::new(format!("{expected}; found {found}"));
                context.fail(
                    rule,
                    match &fetched.response {
                        Ok(exchange) => finding.with_frames(exchange.shown()),
                        Err(_) => finding,
                    },
                );
            }
        }
    }
    if !is_judged {
        context.not_applicable(rule, "no authorization server with authorization codes was found");
    }
}
