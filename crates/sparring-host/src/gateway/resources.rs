//! The resources of all servers. A URI stays as it is if only one server has
//! it. Otherwise each gets a scheme prefix with its server:
//! `mcp+server+file:///a`. So every resource of every server can be requested.
//! A server cannot list a URI of that form itself.

use serde_json::Value;
use sparring_peer::server::Reply;
use sparring_wire::types::{Resource, ResourceTemplate};
use sparring_wire::{ErrorObject, RawJson, Revision};

use super::Located;
use super::item_check::CheckedItem as _;
use super::uri_template::TemplateMatcher;
use crate::manager::{Connection, Manager};
use crate::names::{sanitize, short_digest};
use crate::text::{escape_control, truncate};

/// The maximum number of characters of a URI in a message.
const MAX_URI_CHARS: usize = 200;

/// The location of a resource.
pub(super) struct ResourceLocation {
    pub(super) connection: Connection,
    /// The server's own URI.
    pub(super) uri: String,
}

/// All resources, sorted by server.
pub(super) fn list_resources(manager: &Manager) -> Vec<Resource> {
    let mut all = manager.resources();
    all.retain(|it| !has_gateway_scheme(&it.item.uri) && it.item.problem().is_none());
    let counts = UriCounts::count(all.iter().map(|it| it.item.uri.as_str()));
    let each = all.iter().map(|offered| {
        let mut resource = Resource::clone(&offered.item);
        resource.uri = counts.unique_uri(&offered.server, &offered.item.uri);
        resource
    });
    each.collect()
}

/// All templates, sorted by server.
pub(super) fn list_templates(manager: &Manager) -> Vec<ResourceTemplate> {
    let mut all = manager.templates();
    all.retain(|it| !has_gateway_scheme(&it.item.uri_template) && it.item.problem().is_none());
    let counts = UriCounts::count(all.iter().map(|it| it.item.uri_template.as_str()));
    let each = all.iter().map(|offered| {
        let mut template = ResourceTemplate::clone(&offered.item);
        template.uri_template = counts.unique_uri(&offered.server, &offered.item.uri_template);
        template
    });
    each.collect()
}

/// Finds the server of a URI: the one in the prefix; the only one that lists
/// it; the only one with a matching template; the only one with resources. No
/// other server is asked.
pub(super) fn find_resource(
    manager: &Manager,
    uri: &str,
    revision: Revision,
) -> Result<ResourceLocation, ErrorObject> {
    let connections = manager.connections();
    if let Some((connection, uri)) = find_by_prefix(&connections, uri) {
        return Ok(ResourceLocation { connection: connection.clone(), uri: uri.to_owned() });
    }
    let any = |it: &&Connection| it.capabilities().has("resources");
    let mut owners = listing_servers(&connections, uri);
    // A URI with the prefix of a server is not for another one.
    if owners.is_empty() && !has_gateway_scheme(uri) {
        owners = connections.iter().filter(any).collect();
        if owners.len() != 1 {
            owners.clear();
        }
    }
    match owners[..] {
        [connection] => {
            Ok(ResourceLocation { connection: connection.clone(), uri: uri.to_owned() })
        }
        [] => {
            let message = format!("no resource '{}'", display_uri(uri));
            Err(ErrorObject::new(revision.resource_not_found_code(), message))
        }
        _ => Err(ambiguous_error(uri, &owners)),
    }
}

/// Returns true if a connected server has this URI in a list, as a resource or by
/// a template.
pub(super) fn is_listed(manager: &Manager, uri: &str) -> bool {
    let connections = manager.connections();
    find_by_prefix(&connections, uri).is_some() || !listing_servers(&connections, uri).is_empty()
}

/// Returns true if a server that is not connected yet may have this URI.
pub(super) fn may_have_uri(server: &str, uri: &str) -> bool {
    !has_gateway_scheme(uri) || uri.starts_with(&uri_prefix(server))
}

/// Returns true if a URI or template has the scheme of the gateway's own URIs,
/// `mcp+SERVER+`. A scheme ignores case (RFC 3986, 3.1).
pub(super) fn has_gateway_scheme(uri: &str) -> bool {
    let (scheme, _) = uri.split_once(':').unwrap_or((uri, ""));
    let scheme = scheme.to_ascii_lowercase();
    scheme.strip_prefix("mcp+").is_some_and(|rest| rest.contains('+'))
}

/// The servers that list a URI, or else those with a matching template.
fn listing_servers<'a>(connections: &'a [Connection], uri: &str) -> Vec<&'a Connection> {
    if has_gateway_scheme(uri) {
        return Vec::new();
    }
    let lists = |it: &&Connection| it.resources().items.iter().any(|it| it.uri == uri);
    let mut matcher = TemplateMatcher::new(uri);
    let templated =
        |it: &&Connection| it.templates().items.iter().any(|it| matcher.matches(&it.uri_template));
    let owners: Vec<&Connection> = connections.iter().filter(lists).collect();
    match owners.is_empty() {
        true => connections.iter().filter(templated).collect(),
        false => owners,
    }
}

/// Finds a template by its name here; returns its server's name for it.
pub(super) fn find_template(manager: &Manager, template: &str) -> Located<String> {
    let connections = manager.connections();
    if let Some((connection, template)) = find_by_prefix(&connections, template) {
        return Ok((connection.clone(), template.to_owned()));
    }
    let has = |it: &&Connection| {
        let known = |it: &str| it == template;
        it.templates().items.iter().any(|it| known(&it.uri_template))
            || it.resources().items.iter().any(|it| known(&it.uri))
    };
    let owners: Vec<&Connection> = match has_gateway_scheme(template) {
        true => Vec::new(),
        false => connections.iter().filter(has).collect(),
    };
    match owners[..] {
        [connection] => Ok((connection.clone(), template.to_owned())),
        [] => Err(ErrorObject::invalid_params(format!(
            "no resource template '{}'",
            display_uri(template)
        ))),
        _ => Err(ambiguous_error(template, &owners)),
    }
}

/// Replaces the server's URI in the result with the requested one.
pub(super) fn restore_uri(reply: Reply, inner: &str, asked: &str) -> Reply {
    if inner == asked {
        return reply;
    }
    let Ok(mut result) = reply.json().deserialize::<Value>() else { return reply };
    let contents = result.get_mut("contents").and_then(Value::as_array_mut);
    for content in contents.into_iter().flatten() {
        if content.get("uri").and_then(Value::as_str) == Some(inner) {
            content["uri"] = asked.into();
        }
    }
    RawJson::from(result).into()
}

/// The prefix of a server's URIs that other servers have too. A scheme has no
/// `_` and ignores case (RFC 3986, 3.1).
fn uri_prefix(server: &str) -> String {
    let plain = sanitize(server).replace('_', "-").to_ascii_lowercase();
    match plain == server {
        true => format!("mcp+{plain}+"),
        false => format!("mcp+{plain}-{}+", short_digest(server)),
    }
}

fn find_by_prefix<'a, 'u>(
    connections: &'a [Connection],
    uri: &'u str,
) -> Option<(&'a Connection, &'u str)> {
    let inner = |it: &'a Connection| Some((it, uri.strip_prefix(&uri_prefix(it.server()))?));
    connections.iter().find_map(inner)
}

/// Counts how many servers have each URI.
struct UriCounts<'a>(std::collections::HashMap<&'a str, usize>);

impl<'a> UriCounts<'a> {
    fn count(all: impl Iterator<Item = &'a str>) -> Self {
        let mut counts = std::collections::HashMap::new();
        all.for_each(|uri| *counts.entry(uri).or_default() += 1);
        UriCounts(counts)
    }

    fn unique_uri(&self, server: &str, uri: &str) -> String {
        match self.0.get(uri) {
            Some(count) if *count > 1 => format!("{}{uri}", uri_prefix(server)),
            _ => uri.to_owned(),
        }
    }
}

fn ambiguous_error(uri: &str, owners: &[&Connection]) -> ErrorObject {
    let each: Vec<String> = owners
        .iter()
        .map(|it| format!("'{}{}'", uri_prefix(it.server()), display_uri(uri)))
        .collect();
    let message = format!("'{}' is ambiguous; use {}", display_uri(uri), each.join(" or "));
    ErrorObject::invalid_params(message)
}

fn display_uri(uri: &str) -> String {
    truncate(&escape_control(uri), MAX_URI_CHARS)
}
