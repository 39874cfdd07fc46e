//! Who gives the tokens: from the challenge of a server, or from the places
//! where that is published, to the metadata of an authorization server, in the
//! order of the specification (2026-07-28,
//! basic/authorization/authorization-server-discovery; 2025-03-26,
//! basic/authorization, for servers that publish nothing about themselves).

use std::time::Duration;

use http::StatusCode;
use tokio::time::timeout;

use super::super::endpoint::{Endpoint, Origin};
use super::challenge::Challenge;
use super::denied::Denied;
use super::metadata::{Provider, ResourceMetadata, ServerMetadata};
use super::web::{Answer, Web};

/// How long finding it out may take as a whole.
const LONGEST: Duration = Duration::from_secs(60);

/// How many authorization servers are looked at, of those that a server names.
const MOST: usize = 5;

/// Finds who gives the tokens for a server.
pub(super) async fn discover(
    web: &Web<'_>,
    server: &Endpoint,
    challenge: &Challenge,
) -> Result<Provider, Denied> {
    let mut tried = Vec::new();
    match timeout(LONGEST, find(web, server, challenge, &mut tried)).await {
        Ok(found) => found,
        Err(_) => {
            tried.push(format!("and {LONGEST:?} were over"));
            Err(Denied::NoMetadata(tried.join(", ")))
        }
    }
}

async fn find(
    web: &Web<'_>,
    server: &Endpoint,
    challenge: &Challenge,
    tried: &mut Vec<String>,
) -> Result<Provider, Denied> {
    let Some((url, resource)) = resource(web, server, challenge, tried).await? else {
        return by_origin(web, server, tried).await;
    };
    if resource.authorization_servers.is_empty() {
        let why = "it names no authorization server".to_owned();
        return Err(Denied::Unusable { url, why });
    }
    for issuer in resource.authorization_servers.iter().take(MOST) {
        if let Some(metadata) = server_metadata(web, issuer, tried).await? {
            let (resource, scopes) = (resource.resource, resource.scopes_supported);
            return Ok(Provider { resource, scopes, metadata, guessed: None });
        }
    }
    let named: Vec<_> = resource.authorization_servers.into_iter().take(MOST).collect();
    let named = named.join(", ");
    Err(Denied::NoMetadata(format!("{url} names {named}, but {}", tried.join(", "))))
}

/// What the server publishes about itself, and where.
async fn resource(
    web: &Web<'_>,
    server: &Endpoint,
    challenge: &Challenge,
    tried: &mut Vec<String>,
) -> Result<Option<(String, ResourceMetadata)>, Denied> {
    if let Some(named) = &challenge.resource_metadata {
        let url = server.join(named).map(|url| spelled(&url));
        let url = url.map_err(|error| Denied::NoMetadata(error.to_string()))?;
        let answer = web.get(&url).await?;
        if answer.status != StatusCode::OK {
            return Err(Denied::NoMetadata(answer.status_shown()));
        }
        return Ok(Some(checked(&answer, server)?));
    }
    for url in places(server, "oauth-protected-resource") {
        let answer = web.get(&url).await?;
        if answer.status == StatusCode::OK {
            // Some answer everything, with a page.
            match checked(&answer, server) {
                Err(error @ Denied::Unusable { .. }) => tried.push(error.to_string()),
                found => return found.map(Some),
            }
        } else if is_for_now(answer.status) {
            return Err(Denied::NoMetadata(answer.status_shown()));
        } else {
            tried.push(answer.status_shown());
        }
    }
    Ok(None)
}

/// Whether that may be other the next time, and so says nothing about what is
/// published there.
fn is_for_now(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

fn checked(answer: &Answer, server: &Endpoint) -> Result<(String, ResourceMetadata), Denied> {
    let found: ResourceMetadata = answer.read()?;
    let names_it = Endpoint::parse(&found.resource).is_ok_and(|(named, _)| covers(&named, server));
    match names_it && !found.resource.contains('#') {
        true => Ok((answer.url.clone(), found)),
        false => Err(Denied::WrongResource {
            url: answer.url.clone(),
            said: found.resource,
            expected: server.to_string(),
        }),
    }
}

/// Whether one is the other, or a folder above it.
fn covers(resource: &Endpoint, server: &Endpoint) -> bool {
    let (above, path) = (resource.path.path().trim_end_matches('/'), server.path.path());
    let below = path.strip_prefix(above);
    resource.origin == server.origin
        && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What an authorization server publishes about itself.
async fn server_metadata(
    web: &Web<'_>,
    issuer: &str,
    tried: &mut Vec<String>,
) -> Result<Option<ServerMetadata>, Denied> {
    let (endpoint, _) = Endpoint::parse(issuer)
        .map_err(|error| Denied::Unusable { url: issuer.to_owned(), why: error.to_string() })?;
    for url in metadata_places(&endpoint) {
        let answer = web.get(&url).await?;
        if is_for_now(answer.status) {
            return Err(Denied::Down(answer.status_shown()));
        }
        if answer.status != StatusCode::OK {
            tried.push(answer.status_shown());
            continue;
        }
        let found: ServerMetadata = match answer.read() {
            Ok(found) => found,
            Err(error) => {
                tried.push(error.to_string());
                continue;
            }
        };
        // With nothing but a slash at the end it is still the same place.
        let bare = |issuer: &str| match endpoint.path.path() {
            "/" => issuer.strip_suffix('/').unwrap_or(issuer).to_owned(),
            _ => issuer.to_owned(),
        };
        if bare(&found.issuer) != bare(issuer) {
            let (url, expected) = (answer.url, issuer.to_owned());
            return Err(Denied::WrongIssuer { url, said: found.issuer, expected });
        }
        return Ok(Some(found));
    }
    Ok(None)
}

/// For a server that publishes nothing about itself: the authorization server
/// is at the same origin, and if that publishes nothing either, its endpoints
/// have the names of 2025-03-26.
async fn by_origin(
    web: &Web<'_>,
    server: &Endpoint,
    tried: &mut Vec<String>,
) -> Result<Provider, Denied> {
    if matches!(server.origin, Origin::Unix(_)) {
        return Err(Denied::NoMetadata(tried.join(", ")));
    }
    let origin = server.origin.to_string();
    let resource = spelled(&Endpoint { origin: server.origin.clone(), path: server.path.clone() });
    let scopes = Vec::new();
    if let Some(metadata) = server_metadata(web, &origin, tried).await? {
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

/// The well-known places of something at that address, the most special first.
fn places(at: &Endpoint, name: &str) -> Vec<String> {
    let (origin, path) = (&at.origin, at.path.path().trim_end_matches('/'));
    let root = format!("{origin}/.well-known/{name}");
    match path {
        "" => vec![root],
        path => vec![format!("{root}{path}"), root],
    }
}

/// The places where the metadata of an issuer may be.
fn metadata_places(issuer: &Endpoint) -> Vec<String> {
    let (origin, path) = (&issuer.origin, issuer.path.path().trim_end_matches('/'));
    let inserted = |name: &str| format!("{origin}/.well-known/{name}{path}");
    let mut places = vec![inserted("oauth-authorization-server"), inserted("openid-configuration")];
    if !path.is_empty() {
        places.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    places
}

/// An address with everything that belongs to it, which may not be shown.
pub(super) fn spelled(endpoint: &Endpoint) -> String {
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
    fn places_are_tried_in_the_order_of_the_specification() {
        assert_eq!(
            places(&endpoint("https://a/public/mcp"), "oauth-protected-resource"),
            [
                "https://a/.well-known/oauth-protected-resource/public/mcp",
                "https://a/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(places(&endpoint("https://a/"), "x"), ["https://a/.well-known/x"]);
        assert_eq!(
            metadata_places(&endpoint("https://a/tenant1")),
            [
                "https://a/.well-known/oauth-authorization-server/tenant1",
                "https://a/.well-known/openid-configuration/tenant1",
                "https://a/tenant1/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            metadata_places(&endpoint("https://a")),
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
