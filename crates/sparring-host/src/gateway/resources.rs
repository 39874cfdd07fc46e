//! The resources of all servers. A URI is its server's own where no other server
//! has it too; where one has, each is told apart by a scheme in front:
//! `mcp+server+file:///a`. So any resource of a server can be asked for.

use serde_json::Value;
use sparring_peer::server::Reply;
use sparring_wire::types::{Resource, ResourceTemplate};
use sparring_wire::{ErrorObject, RawJson, Revision};

use super::Of;
use super::template::fits;
use crate::manager::{Connection, Manager};
use crate::names::{label, sanitized};
use crate::text::{cut, visible};

/// The most of a URI that a message shows.
const LONGEST_URI: usize = 200;

/// Where a resource is.
pub(super) struct Place {
    pub(super) connection: Connection,
    /// What its server calls it.
    pub(super) uri: String,
}

/// All of them, by server.
pub(super) fn listed(manager: &Manager) -> Vec<Resource> {
    let all = manager.resources();
    let shared = Shared::of(all.iter().map(|it| it.item.uri.as_str()));
    let each = all.iter().map(|offered| {
        let mut resource = Resource::clone(&offered.item);
        resource.uri = shared.name(&offered.server, &offered.item.uri);
        resource
    });
    each.collect()
}

/// All templates, by server.
pub(super) fn templates(manager: &Manager) -> Vec<ResourceTemplate> {
    let all = manager.templates();
    let shared = Shared::of(all.iter().map(|it| it.item.uri_template.as_str()));
    let each = all.iter().map(|offered| {
        let mut template = ResourceTemplate::clone(&offered.item);
        template.uri_template = shared.name(&offered.server, &offered.item.uri_template);
        template
    });
    each.collect()
}

/// Whose resource a URI is: that of the server in front; of the only one that
/// lists it; of the only one with a template that fits; of the only one that has
/// resources at all. Nobody else is asked.
pub(super) fn find(manager: &Manager, uri: &str, revision: Revision) -> Result<Place, ErrorObject> {
    let connections = manager.list();
    if let Some((connection, uri)) = named(&connections, uri) {
        return Ok(Place { connection: connection.clone(), uri: uri.to_owned() });
    }
    let lists = |it: &&Connection| it.resources().items.iter().any(|it| it.uri == uri);
    let templated =
        |it: &&Connection| it.templates().items.iter().any(|it| fits(&it.uri_template, uri));
    let any = |it: &&Connection| it.capabilities().has("resources");
    let mut owners: Vec<&Connection> = connections.iter().filter(lists).collect();
    if owners.is_empty() {
        owners = connections.iter().filter(templated).collect();
    }
    if owners.is_empty() {
        owners = connections.iter().filter(any).collect();
        if owners.len() != 1 {
            owners.clear();
        }
    }
    match owners[..] {
        [connection] => Ok(Place { connection: connection.clone(), uri: uri.to_owned() }),
        [] => {
            let message = format!("there is no resource '{}'", shown(uri));
            Err(ErrorObject::new(revision.resource_not_found_code(), message))
        }
        _ => Err(ambiguous(uri, &owners)),
    }
}

/// Whose template one is, by its name here, and what it is there.
pub(super) fn find_template(manager: &Manager, template: &str) -> Of<String> {
    let connections = manager.list();
    if let Some((connection, template)) = named(&connections, template) {
        return Ok((connection.clone(), template.to_owned()));
    }
    let has = |it: &&Connection| {
        let known = |it: &str| it == template;
        it.templates().items.iter().any(|it| known(&it.uri_template))
            || it.resources().items.iter().any(|it| known(&it.uri))
    };
    let owners: Vec<&Connection> = connections.iter().filter(has).collect();
    match owners[..] {
        [connection] => Ok((connection.clone(), template.to_owned())),
        [] => {
            Err(ErrorObject::invalid_params(format!("there is no template '{}'", shown(template))))
        }
        _ => Err(ambiguous(template, &owners)),
    }
}

/// What was read, called as it was asked for.
pub(super) fn as_asked(reply: Reply, inner: &str, asked: &str) -> Reply {
    if inner == asked {
        return reply;
    }
    let Ok(mut result) = reply.json().to::<Value>() else { return reply };
    let contents = result.get_mut("contents").and_then(Value::as_array_mut);
    for content in contents.into_iter().flatten() {
        if content.get("uri").and_then(Value::as_str) == Some(inner) {
            content["uri"] = asked.into();
        }
    }
    RawJson::from(result).into()
}

/// What stands in front of a server's URIs where they are not its alone. A scheme
/// has no `_` (RFC 3986, 3.1), and case does not count in it.
fn prefix(server: &str) -> String {
    let plain = sanitized(server).replace('_', "-").to_ascii_lowercase();
    match plain == server {
        true => format!("mcp+{plain}+"),
        false => format!("mcp+{plain}-{}+", label(server)),
    }
}

fn named<'a, 'u>(connections: &'a [Connection], uri: &'u str) -> Option<(&'a Connection, &'u str)> {
    let inner = |it: &'a Connection| Some((it, uri.strip_prefix(&prefix(it.server()))?));
    connections.iter().find_map(inner)
}

/// What more than one server has.
struct Shared<'a>(std::collections::HashMap<&'a str, usize>);

impl<'a> Shared<'a> {
    fn of(all: impl Iterator<Item = &'a str>) -> Self {
        let mut counts = std::collections::HashMap::new();
        all.for_each(|uri| *counts.entry(uri).or_default() += 1);
        Shared(counts)
    }

    fn name(&self, server: &str, uri: &str) -> String {
        match self.0.get(uri) {
            Some(count) if *count > 1 => format!("{}{uri}", prefix(server)),
            _ => uri.to_owned(),
        }
    }
}

fn ambiguous(uri: &str, owners: &[&Connection]) -> ErrorObject {
    let each: Vec<String> =
        owners.iter().map(|it| format!("'{}{}'", prefix(it.server()), shown(uri))).collect();
    let message = format!("'{}' is of more than one server: {}", shown(uri), each.join(" or "));
    ErrorObject::invalid_params(message)
}

fn shown(uri: &str) -> String {
    cut(&visible(uri), LONGEST_URI)
}
