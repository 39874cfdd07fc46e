//! Loads the settings of the server as a whole: info, revisions, caching and capabilities.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Map, Value};
use sparring_script::{Node, casing, parse_duration};
use sparring_wire::Revision;
use sparring_wire::types::{Implementation, ServerCapabilities};

use super::{Loader, one_or_many, text};
use crate::model::Cache;

pub(super) fn server_info(node: &Node) -> Implementation {
    let Some(server) = node.get("server") else {
        return Implementation::new("mock", env!("CARGO_PKG_VERSION"));
    };
    let name = text(server, "name").unwrap_or_default();
    let version = text(server, "version").unwrap_or_else(|| "0.0.0".to_owned());
    let mut info = Implementation::new(name, version);
    info.title = text(server, "title");
    for key in ["description", "website_url", "icons"] {
        if let Some(value) = server.get(key) {
            info.rest.insert(casing::to_camel_case(key), to_wire(value));
        }
    }
    info
}

pub(super) fn revisions(node: &Node) -> Vec<Revision> {
    let names = node.get("protocol").map(one_or_many).unwrap_or_default();
    let names: Vec<Revision> =
        names.iter().filter_map(|name| Revision::from_name(name.as_str()?)).collect();
    if names.is_empty() { Revision::ALL.to_vec() } else { names }
}

pub(super) fn page_size(node: &Node) -> Option<usize> {
    node.get("page_size").and_then(Node::as_u64).and_then(|size| usize::try_from(size).ok())
}

impl Loader<'_> {
    /// Loads the caching hint of a script or an entry.
    pub(super) fn load_cache(&mut self, node: &Node) -> Option<Cache> {
        let cache = node.get("cache")?;
        if !self.revisions.iter().any(|it| it.is_modern()) {
            let message = "no revision of `protocol` has caching hints";
            self.problems.add(cache.span, message);
        }
        let ttl = cache.get("ttl").and_then(Node::as_str);
        let ttl = ttl.and_then(|text| parse_duration(text).ok())?;
        let public = cache.get("scope").and_then(Node::as_str) == Some("public");
        Some(Cache { ttl, public })
    }
}

/// Returns digests of the keys that take effect only on a restart. Values may be secret, and
/// only a change matters.
pub(super) fn restart_only_digests(node: &Node) -> [(&'static str, u64); 3] {
    ["protocol", "paths", "auth"].map(|key| {
        let mut hasher = DefaultHasher::new();
        node.get(key).map(|node| node.to_json().to_string()).hash(&mut hasher);
        (key, hasher.finish())
    })
}

/// Converts a value to the keys of the wire.
pub(super) fn to_wire(node: &Node) -> Value {
    let mut node = node.clone();
    casing::rename_keys_to_wire(&mut node);
    node.to_json()
}

/// Copies these keys with the names of the wire.
pub(super) fn copy_keys(node: &Node, keys: &[&str]) -> Map<String, Value> {
    let mut copied = Map::new();
    for key in keys {
        if let Some(value) = node.get(key) {
            let is_user_defined = casing::is_user_data_key(key);
            let value = if is_user_defined { value.to_json() } else { to_wire(value) };
            copied.insert(casing::to_camel_case(key), value);
        }
    }
    copied
}

/// Returns the declared capabilities: those that follow from the script, changed by its
/// `capabilities`.
pub(super) fn capabilities(node: &Node, logs: bool, interactions: bool) -> ServerCapabilities {
    let has = |key: &str| node.get(key).is_some();
    let mut all = ServerCapabilities::none();
    if has("tools") || interactions {
        all = all.tools();
    }
    if has("resources") || has("templates") {
        all = all.resources();
    }
    if has("prompts") {
        all = all.prompts();
    }
    if has("completions") {
        all = all.completions();
    }
    if logs {
        all = all.logging();
    }
    for entry in node.get("capabilities").map(Node::entries).unwrap_or_default() {
        match to_wire(&entry.value) {
            Value::Bool(false) => {
                all.0.shift_remove(&entry.key);
            }
            Value::Bool(true) => {
                all.0.entry(&*entry.key).or_insert_with(|| Value::Object(Map::new()));
            }
            value => merge(all.0.entry(&*entry.key).or_insert(Value::Null), value),
        }
    }
    all
}

/// Merges one value into another, maps key by key.
fn merge(base: &mut Value, overlay: Value) {
    match (base, overlay) {
        (Value::Object(base), Value::Object(overlay)) => {
            for (key, value) in overlay {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, overlay) => *base = overlay,
    }
}
