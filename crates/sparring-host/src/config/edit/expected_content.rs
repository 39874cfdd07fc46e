//! Computes the expected contents of a file after a change.

use serde_json::{Map, Value, json};
use sparring_script::Node;

use super::{Change, EditError, FormatChange, entry};
use crate::config::locations::{ConfigLocation, Format};

/// The keys of an entry that other formats have too, with their names there.
const FOREIGN_KEYS: [(&str, &str); 8] = [
    ("transport", "type"),
    ("command", "command"),
    ("args", "args"),
    ("env", "env"),
    ("env_file", "envFile"),
    ("cwd", "cwd"),
    ("url", "url"),
    ("headers", "headers"),
];

/// Translates a change to the keys of the file's format.
pub(super) fn to_format(
    change: &Change,
    node: &Node,
    location: &ConfigLocation,
) -> Result<FormatChange, EditError> {
    Ok(match change {
        Change::Remove { name } => FormatChange::Remove { name: name.clone() },
        Change::Add { name, entry } => {
            let entry = match location.format {
                Format::Yaml => entry.clone(),
                _ => to_foreign_entry(entry, location)?,
            };
            FormatChange::Add { name: name.clone(), entry }
        }
        Change::Enable { name, enabled } => {
            let has = |key| {
                entry(node, name, location.format).is_some_and(|it| it.value.get(key).is_some())
            };
            match location.format != Format::Yaml && !has("enabled") {
                true => FormatChange::Set { name: name.clone(), key: "disabled", value: !enabled },
                false => FormatChange::Set { name: name.clone(), key: "enabled", value: *enabled },
            }
        }
    })
}

fn to_foreign_entry(entry: &Value, location: &ConfigLocation) -> Result<Value, EditError> {
    let mut theirs = Map::new();
    for (key, value) in entry.as_object().into_iter().flatten() {
        match (FOREIGN_KEYS.iter().find(|(ours, _)| ours == key), &**key) {
            (Some((_, key)), _) => theirs.insert((*key).to_owned(), value.clone()),
            (None, "enabled") => {
                theirs.insert("disabled".to_owned(), json!(*value == json!(false)))
            }
            (None, _) => {
                let (file, key) = (location.file.clone(), key.clone());
                return Err(EditError::NoKey { file, key });
            }
        };
    }
    // VS Code requires a `type`.
    if location.format == Format::VsCode && !theirs.contains_key("type") {
        let kind = if theirs.contains_key("url") { "http" } else { "stdio" };
        theirs.insert("type".to_owned(), json!(kind));
    }
    Ok(Value::Object(theirs))
}

/// The contents of the file as JSON, always with a map of servers.
pub(super) fn to_json(node: &Node, location: &ConfigLocation) -> Value {
    let mut plain = node.to_json();
    if !plain.is_object() {
        return plain;
    }
    let servers = &mut plain[location.format.servers_key()];
    if servers.is_null() {
        *servers = json!({});
    }
    plain
}

/// The expected contents of the file after the change.
pub(super) fn apply(
    node: &Node,
    change: &FormatChange,
    location: &ConfigLocation,
) -> Result<Value, EditError> {
    let mut after = to_json(node, location);
    let unsupported = || EditError::Unsupported { file: location.file.clone() };
    let servers = after.get_mut(location.format.servers_key()).and_then(Value::as_object_mut);
    let servers = servers.ok_or_else(unsupported)?;
    let missing =
        |name: &String| EditError::NoServer { file: location.file.clone(), name: name.clone() };
    match change {
        FormatChange::Add { name, entry } => {
            if servers.contains_key(name) {
                return Err(EditError::Exists { file: location.file.clone(), name: name.clone() });
            }
            servers.insert(name.clone(), entry.clone());
        }
        FormatChange::Remove { name } => {
            servers.shift_remove(name).ok_or_else(|| missing(name))?;
        }
        FormatChange::Set { name, key, value } => {
            let entry = servers.get_mut(name).ok_or_else(|| missing(name))?;
            let entry = entry.as_object_mut().ok_or_else(unsupported)?;
            // A default value is not written.
            let by_default = *key == "enabled";
            if entry.contains_key(*key) || *value != by_default {
                entry.insert((*key).to_owned(), json!(value));
            }
        }
    }
    Ok(after)
}
