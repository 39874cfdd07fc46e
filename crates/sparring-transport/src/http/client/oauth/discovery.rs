//! Finds the authorization server of a server: from its challenge or its well-known URLs to the
//! metadata of the authorization server, in the order of the specification (2026-07-28,
//! basic/authorization/authorization-server-discovery; 2025-03-26, basic/authorization, for
//! servers that publish no metadata).

use std::time::Duration;

use http::StatusCode;
use tokio::time::timeout;

use super::super::endpoint::{Endpoint, Origin};
use super::auth_server_client::{AuthServerClient, AuthServerResponse};
use super::bearer_challenge::BearerChallenge;
use super::error::AuthError;
use super::metadata::{Provider, ResourceMetadata, ServerMetadata};

/// The timeout of the whole discovery.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum number of authorization servers that are tried.
const MAX_AUTH_SERVERS: usize = 5;

/// Finds the authorization server of a server.
pub(super) async fn discover(
    web: &AuthServerClient<'_>,
    server: &Endpoint,
    challenge: &BearerChallenge,
) -> Result<Provider, AuthError> {
    let mut tried = Vec::new();
    match timeout(DISCOVERY_TIMEOUT, find_provider(web, server, challenge, &mut tried)).await {
        Ok(found) => found,
        Err(_) => {
            tried.push(format!("and the discovery timed out after {DISCOVERY_TIMEOUT:?}"));
            Err(AuthError::NoMetadata(tried.join(", ")))
        }
    }
}

async fn find_provider(
    web: &AuthServerClient<'_>,
    server: &Endpoint,
    challenge: &BearerChallenge,
    tried: &mut Vec<String>,
) -> Result<Provider, AuthError> {
    let Some((url, resource)) = fetch_resource_metadata(web, server, challenge, tried).await?
    else {
        return guess_from_origin(web, server, tried).await;
    };
    if resource.authorization_servers.is_empty() {
        let why = "it names no authorization server".to_owned();
        return Err(AuthError::InvalidResponse { url, why });
    }
    for issuer in resource.authorization_servers.iter().take(MAX_AUTH_SERVERS) {
        if let Some(metadata) = fetch_server_metadata(web, issuer, tried).await? {
            let (resource, scopes) = (resource.resource, resource.scopes_supported);
            return Ok(Provider { resource, scopes, metadata, guessed: None });
        }
    }
    let named: Vec<_> = resource.authorization_servers.into_iter().take(MAX_AUTH_SERVERS).collect();
    let named = named.join(", ");
    Err(AuthError::NoMetadata(format!("{url} names {named}, but {}", tried.join(", "))))
}

/// Fetches the server's resource metadata; also returns its URL.
async fn fetch_resource_metadata(
    web: &AuthServerClient<'_>,
    server: &Endpoint,
    challenge: &BearerChallenge,
    tried: &mut Vec<String>,
) -> Result<Option<(String, ResourceMetadata)>, AuthError> {
    if let Some(named) = &challenge.resource_metadata {
        let url = server.join(named).map(|url| full_url(&url));
        let url = url.map_err(|error| AuthError::NoMetadata(error.to_string()))?;
        let answer = web.get(&url).await?;
        if answer.status != StatusCode::OK {
            return Err(AuthError::NoMetadata(answer.describe_status()));
        }
        return Ok(Some(parse_resource_metadata(&answer, server)?));
    }
    for url in well_known_urls(server, "oauth-protected-resource") {
        let answer = web.get(&url).await?;
        if answer.status == StatusCode::OK {
            // Some servers answer every path with a page.
            match parse_resource_metadata(&answer, server) {
                Err(error @ AuthError::InvalidResponse { .. }) => tried.push(error.to_string()),
                found => return found.map(Some),
            }
        } else if is_temporary(answer.status) {
            return Err(AuthError::NoMetadata(answer.describe_status()));
        } else {
            tried.push(answer.describe_status());
        }
    }
    Ok(None)
}

/// Returns true if a status is temporary, so that it does not show that the document is
/// missing.
fn is_temporary(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

fn parse_resource_metadata(
    answer: &AuthServerResponse,
    server: &Endpoint,
) -> Result<(String, ResourceMetadata), AuthError> {
    let found: ResourceMetadata = answer.parse()?;
    let names_it = Endpoint::parse(&found.resource).is_ok_and(|(named, _)| covers(&named, server));
    match names_it && !found.resource.contains('#') {
        true => Ok((answer.url.clone(), found)),
        false => Err(AuthError::WrongResource {
            url: answer.url.clone(),
            found: found.resource,
            expected: server.to_string(),
        }),
    }
}

/// Returns true if the resource is the server or a folder above it.
fn covers(resource: &Endpoint, server: &Endpoint) -> bool {
    let (above, path) = (resource.path.path().trim_end_matches('/'), server.path.path());
    let below = path.strip_prefix(above);
    resource.origin == server.origin
        && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Fetches the metadata of an authorization server.
async fn fetch_server_metadata(
    web: &AuthServerClient<'_>,
    issuer: &str,
    tried: &mut Vec<String>,
) -> Result<Option<ServerMetadata>, AuthError> {
    let (endpoint, _) = Endpoint::parse(issuer).map_err(|error| AuthError::InvalidResponse {
        url: issuer.to_owned(),
        why: error.to_string(),
    })?;
    for url in metadata_urls(&endpoint) {
        let answer = web.get(&url).await?;
        if is_temporary(answer.status) {
            return Err(AuthError::Unavailable(answer.describe_status()));
        }
        if answer.status != StatusCode::OK {
            tried.push(answer.describe_status());
            continue;
        }
        let found: ServerMetadata = match answer.parse() {
            Ok(found) => found,
            Err(error) => {
                tried.push(error.to_string());
                continue;
            }
        };
        // A root URL is the same with and without its slash.
        let bare = |issuer: &str| match endpoint.path.path() {
            "/" => issuer.strip_suffix('/').unwrap_or(issuer).to_owned(),
            _ => issuer.to_owned(),
        };
        if bare(&found.issuer) != bare(issuer) {
            let (url, expected) = (answer.url, issuer.to_owned());
            return Err(AuthError::WrongIssuer { url, found: found.issuer, expected });
        }
        return Ok(Some(found));
    }
    Ok(None)
}

/// For a server without metadata: the authorization server is at the same origin. If that has
/// no metadata either, its endpoints have the default names of 2025-03-26.
async fn guess_from_origin(
    web: &AuthServerClient<'_>,
    server: &Endpoint,
    tried: &mut Vec<String>,
) -> Result<Provider, AuthError> {
    if matches!(server.origin, Origin::Unix(_)) {
        return Err(AuthError::NoMetadata(tried.join(", ")));
    }
    let origin = server.origin.to_string();
    let resource = full_url(&Endpoint { origin: server.origin.clone(), path: server.path.clone() });
    let scopes = Vec::new();
    if let Some(metadata) = fetch_server_metadata(web, &origin, tried).await? {
        return Ok(Provider { resource, scopes, metadata, guessed: None });
    }
    let metadata = ServerMetadata {
        authorization_endpoint: Some(format!("{origin}/authorize")),
        token_endpoint: format!("{origin}/token"),
        registration_endpoint: Some(format!("{origin}/register")),
        issuer: origin,
        ..ServerMetadata::default()
    };
    Ok(Provider { resource, scopes, metadata, guessed: Some(tried.join(", ")) })
}

/// Returns the well-known URLs for an endpoint, the most specific first.
fn well_known_urls(at: &Endpoint, name: &str) -> Vec<String> {
    let (origin, path) = (&at.origin, at.path.path().trim_end_matches('/'));
    let root = format!("{origin}/.well-known/{name}");
    match path {
        "" => vec![root],
        path => vec![format!("{root}{path}"), root],
    }
}

/// Returns the possible URLs of an issuer's metadata.
fn metadata_urls(issuer: &Endpoint) -> Vec<String> {
    let (origin, path) = (&issuer.origin, issuer.path.path().trim_end_matches('/'));
    let inserted = |name: &str| format!("{origin}/.well-known/{name}{path}");
    let mut urls = vec![inserted("oauth-authorization-server"), inserted("openid-configuration")];
    if !path.is_empty() {
        urls.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    urls
}

/// Returns the URL with all its parts, which must not be shown.
pub(super) fn full_url(endpoint: &Endpoint) -> String {
    match endpoint.path.as_str() {
        "/" => endpoint.origin.to_string(),
        path => format!("{}{path}", endpoint.origin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint::parse(url).expect("a URL").0
    }

    #[test]
    fn tries_urls_in_the_order_of_the_specification() {
        assert_eq!(
            well_known_urls(&endpoint("https://a/public/mcp"), "oauth-protected-resource"),
            [
                "https://a/.well-known/oauth-protected-resource/public/mcp",
                "https://a/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(well_known_urls(&endpoint("https://a/"), "x"), ["https://a/.well-known/x"]);
        assert_eq!(
            metadata_urls(&endpoint("https://a/tenant1")),
            [
                "https://a/.well-known/oauth-authorization-server/tenant1",
                "https://a/.well-known/openid-configuration/tenant1",
                "https://a/tenant1/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            metadata_urls(&endpoint("https://a")),
            [
                "https://a/.well-known/oauth-authorization-server",
                "https://a/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn a_resource_is_the_server_or_a_folder_above_it() {
        let covered = |resource, server| covers(&endpoint(resource), &endpoint(server));
        assert!(covered("http://a/mcp", "http://a/mcp"));
        assert!(covered("http://a/", "http://a/mcp"));
        assert!(covered("http://a", "http://a/mcp?x=1"));
        assert!(covered("http://a/x/", "http://a/x/mcp"));
        assert!(!covered("http://a/m", "http://a/mcp"));
        assert!(!covered("http://a:81/mcp", "http://a/mcp"));
        assert!(!covered("https://a/mcp", "http://a/mcp"));
    }
}
