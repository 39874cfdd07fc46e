//! What a script says about the server as a whole.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Map, Value};
use sparring_script::{Node, casing, duration};
use sparring_wire::Revision;
use sparring_wire::types::Implementation;

use super::{one_or_many, text};
use crate::model::Cache;

pub(super) fn info(node: &Node) -> Implementation {
    let Some(server) = node.get("server") else {
        return Implementation::new("mock", env!("CARGO_PKG_VERSION"));
    };
    let name = text(server, "name").unwrap_or_default();
    let version = text(server, "version").unwrap_or_else(|| "0.0.0".to_owned());
    let mut info = Implementation::new(name, version);
    info.title = text(server, "title");
    for key in ["description", "website_url", "icons"] {
        if let Some(value) = server.get(key) {
            info.rest.insert(casing::camel(key), wire(value));
        }
    }
    info
}

pub(super) fn revisions(node: &Node) -> Vec<Revision> {
    let named = node.get("protocol").map(one_or_many).unwrap_or_default();
    let named: Vec<Revision> =
        named.iter().filter_map(|name| Revision::from_name(name.as_str()?)).collect();
    if named.is_empty() { Revision::ALL.to_vec() } else { named }
}

pub(super) fn page_size(node: &Node) -> Option<usize> {
    node.get("page_size").and_then(Node::as_u64).and_then(|size| usize::try_from(size).ok())
}

/// The caching hint of a script or an entry.
pub(super) fn cache(node: &Node) -> Option<Cache> {
    let cache = node.get("cache")?;
    let ttl = cache.get("ttl").and_then(Node::as_str).and_then(|text| duration(text).ok())?;
    let public = cache.get("scope").and_then(Node::as_str) == Some("public");
    Some(Cache { ttl, public })
}

/// What takes effect only when a mock starts, as digests: there may be secrets
/// in it, and it is only asked whether it has changed.
pub(super) fn fixed(node: &Node) -> [(&'static str, u64); 3] {
    ["protocol", "paths", "auth"].map(|key| {
        let mut hasher = DefaultHasher::new();
        node.get(key).map(|node| node.to_json().to_string()).hash(&mut hasher);
        (key, hasher.finish())
    })
}

/// A value in the names of the wire.
pub(super) fn wire(node: &Node) -> Value {
    let mut node = node.clone();
    casing::to_wire(&mut node);
    node.to_json()
}

/// The keys that are passed on as they are, in the names of the wire.
pub(super) fn listed(node: &Node, keys: &[&str]) -> Map<String, Value> {
    let mut listed = Map::new();
    for key in keys {
        if let Some(value) = node.get(key) {
            let own = casing::is_passed_through(key);
            let value = if own { value.to_json() } else { wire(value) };
            listed.insert(casing::camel(key), value);
        }
    }
    listed
}
