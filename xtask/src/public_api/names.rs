//! Finds the public paths of items, and the paths of their definitions. Rustdoc's JSON
//! does not follow re-exports into other crates, so this module does.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// Maps each public path to the path of the definition.
pub(super) type PublicPaths = BTreeMap<String, String>;

/// Rustdoc's JSON of several crates, by crate name.
pub(super) struct RustdocCrates(HashMap<String, Value>);

impl RustdocCrates {
    /// Loads the JSON of these crates.
    pub(super) fn load(folder: &Path, crates: &[&str]) -> Result<Self> {
        let read = |name: &&str| {
            let name = name.replace('-', "_");
            let path = folder.join(format!("{name}.json"));
            let text = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            let json = serde_json::from_slice(&text);
            Ok((name, json.with_context(|| format!("reading {}", path.display()))?))
        };
        Ok(RustdocCrates(crates.iter().map(read).collect::<Result<_>>()?))
    }

    /// Returns all public paths of a crate.
    pub(super) fn public_paths(&self, name: &str) -> PublicPaths {
        let mut paths = PublicPaths::new();
        if let Some(json) = self.0.get(name) {
            self.collect_module(json, &key(&json["root"]), name, &mut paths);
        }
        paths
    }

    /// Adds the items of a module, with this path of the module.
    fn collect_module(&self, json: &Value, module: &str, path: &str, paths: &mut PublicPaths) {
        let items = json["index"][module]["inner"]["module"]["items"].as_array();
        for id in items.into_iter().flatten().map(key) {
            let item = &json["index"][&id];
            let used = &item["inner"]["use"];
            match used.is_object() {
                false => self.collect_item(json, &id, item["name"].as_str(), path, paths),
                true if used["is_glob"] == true => {
                    self.collect_module(json, &key(&used["id"]), path, paths);
                }
                true => {
                    let (id, name) = (key(&used["id"]), used["name"].as_str());
                    self.collect_item(json, &id, name, path, paths);
                }
            }
        }
    }

    fn collect_item(
        &self,
        json: &Value,
        id: &str,
        name: Option<&str>,
        path: &str,
        paths: &mut PublicPaths,
    ) {
        // An item without a name is an `impl`.
        let Some(name) = name else { return };
        let path = format!("{path}::{name}");
        let defined = json["paths"][id]["path"]
            .as_array()
            .map(|parts| parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("::"));
        let defined = defined.unwrap_or_else(|| path.clone());
        if paths.insert(path.clone(), defined.clone()).is_some() {
            return;
        }
        if json["index"].get(id).is_some() {
            return self.collect_module(json, id, &path, paths);
        }
        // Another crate defines the item and everything in it.
        let there = self.public_paths(defined.split("::").next().unwrap_or_default());
        let reached: Vec<&String> =
            there.iter().filter(|(_, it)| **it == defined).map(|(path, _)| path).collect();
        for (inner, defined) in &there {
            let rest = reached.iter().find_map(|top| inner.strip_prefix(&format!("{top}::")));
            if let Some(rest) = rest {
                paths.insert(format!("{path}::{rest}"), defined.clone());
            }
        }
    }
}

/// Returns an id as a key of the index.
fn key(id: &Value) -> String {
    id.to_string()
}
