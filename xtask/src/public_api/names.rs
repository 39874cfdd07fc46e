//! What things are called: by those who use a crate, and where they are defined.
//! Rustdoc's JSON follows no re-export into another crate, so this does.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// Everything by the paths at which it can be used, with the path at which it is
/// defined.
pub(super) type Names = BTreeMap<String, String>;

/// Crates as rustdoc describes them, by their names in paths.
pub(super) struct Described(HashMap<String, Value>);

impl Described {
    /// Reads the descriptions of these crates.
    pub(super) fn read(folder: &Path, crates: &[&str]) -> Result<Self> {
        let read = |name: &&str| {
            let name = name.replace('-', "_");
            let path = folder.join(format!("{name}.json"));
            let text = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            let json = serde_json::from_slice(&text);
            Ok((name, json.with_context(|| format!("reading {}", path.display()))?))
        };
        Ok(Described(crates.iter().map(read).collect::<Result<_>>()?))
    }

    /// All names in a crate.
    pub(super) fn names(&self, name: &str) -> Names {
        let mut names = Names::new();
        if let Some(json) = self.0.get(name) {
            self.walk(json, &key(&json["root"]), name, &mut names);
        }
        names
    }

    /// Adds what a module has, under the path by which it was reached.
    fn walk(&self, json: &Value, module: &str, path: &str, names: &mut Names) {
        let items = json["index"][module]["inner"]["module"]["items"].as_array();
        for id in items.into_iter().flatten().map(key) {
            let item = &json["index"][&id];
            let used = &item["inner"]["use"];
            match used.is_object() {
                false => self.add(json, &id, item["name"].as_str(), path, names),
                true if used["is_glob"] == true => self.walk(json, &key(&used["id"]), path, names),
                true => self.add(json, &key(&used["id"]), used["name"].as_str(), path, names),
            }
        }
    }

    fn add(&self, json: &Value, id: &str, name: Option<&str>, path: &str, names: &mut Names) {
        // What has no name is an `impl`.
        let Some(name) = name else { return };
        let path = format!("{path}::{name}");
        let defined = json["paths"][id]["path"]
            .as_array()
            .map(|parts| parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("::"));
        let defined = defined.unwrap_or_else(|| path.clone());
        if names.insert(path.clone(), defined.clone()).is_some() {
            return;
        }
        if json["index"].get(id).is_some() {
            return self.walk(json, id, &path, names);
        }
        // It is another crate's, and so is all that is in it.
        let there = self.names(defined.split("::").next().unwrap_or_default());
        let reached: Vec<&String> =
            there.iter().filter(|(_, it)| **it == defined).map(|(path, _)| path).collect();
        for (inner, defined) in &there {
            let rest = reached.iter().find_map(|top| inner.strip_prefix(&format!("{top}::")));
            if let Some(rest) = rest {
                names.insert(format!("{path}::{rest}"), defined.clone());
            }
        }
    }
}

/// An id as a key of the index.
fn key(id: &Value) -> String {
    id.to_string()
}
