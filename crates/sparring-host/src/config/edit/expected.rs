//! What a file must say after a change.

use serde_json::{Map, Value, json};
use sparring_script::Node;

use super::{Change, EditError, Keyed, entry};
use crate::config::places::{Format, Place};

/// The keys of an entry that others have as well, and what they call them.
const FOREIGN: [(&str, &str); 7] = [
    ("transport", "type"),
    ("command", "command"),
    ("args", "args"),
    ("env", "env"),
    ("cwd", "cwd"),
    ("url", "url"),
    ("headers", "headers"),
];

/// The same change in the keys of the file's format.
pub(super) fn in_format(change: &Change, node: &Node, place: &Place) -> Result<Keyed, EditError> {
    Ok(match change {
        Change::Remove { name } => Keyed::Remove { name: name.clone() },
        Change::Add { name, entry } => {
            let entry = match place.format {
                Format::Yaml => entry.clone(),
                _ => foreign(entry, place)?,
            };
            Keyed::Add { name: name.clone(), entry }
        }
        Change::Enable { name, enabled } => {
            let has =
                |key| entry(node, name, place.format).is_some_and(|it| it.value.get(key).is_some());
            match place.format != Format::Yaml && !has("enabled") {
                true => Keyed::Set { name: name.clone(), key: "disabled", value: !enabled },
                false => Keyed::Set { name: name.clone(), key: "enabled", value: *enabled },
            }
        }
    })
}

fn foreign(entry: &Value, place: &Place) -> Result<Value, EditError> {
    let mut theirs = Map::new();
    for (key, value) in entry.as_object().into_iter().flatten() {
        match (FOREIGN.iter().find(|(ours, _)| ours == key), &**key) {
            (Some((_, key)), _) => theirs.insert((*key).to_owned(), value.clone()),
            (None, "enabled") => {
                theirs.insert("disabled".to_owned(), json!(*value == json!(false)))
            }
            (None, _) => {
                let (file, key) = (place.file.clone(), key.clone());
                return Err(EditError::NoKey { file, key });
            }
        };
    }
    // VS Code wants to be told.
    if place.format == Format::VsCode && !theirs.contains_key("type") {
        let kind = if theirs.contains_key("url") { "http" } else { "stdio" };
        theirs.insert("type".to_owned(), json!(kind));
    }
    Ok(Value::Object(theirs))
}

/// What the file says, with a map of servers in any case.
pub(super) fn plain(node: &Node, place: &Place) -> Value {
    let mut plain = node.to_json();
    if !plain.is_object() {
        return plain;
    }
    let servers = &mut plain[place.format.servers()];
    if servers.is_null() {
        *servers = json!({});
    }
    plain
}

/// What the file must say.
pub(super) fn after(node: &Node, change: &Keyed, place: &Place) -> Result<Value, EditError> {
    let mut after = plain(node, place);
    let too_hard = || EditError::TooHard { file: place.file.clone() };
    let servers = after.get_mut(place.format.servers()).and_then(Value::as_object_mut);
    let servers = servers.ok_or_else(too_hard)?;
    let missing =
        |name: &String| EditError::NotThere { file: place.file.clone(), name: name.clone() };
    match change {
        Keyed::Add { name, entry } => {
            if servers.contains_key(name) {
                return Err(EditError::There { file: place.file.clone(), name: name.clone() });
            }
            servers.insert(name.clone(), entry.clone());
        }
        Keyed::Remove { name } => {
            servers.shift_remove(name).ok_or_else(|| missing(name))?;
        }
        Keyed::Set { name, key, value } => {
            let entry = servers.get_mut(name).ok_or_else(|| missing(name))?;
            let entry = entry.as_object_mut().ok_or_else(too_hard)?;
            // What is so where nothing is said need not be said.
            let by_default = *key == "enabled";
            if entry.contains_key(*key) || *value != by_default {
                entry.insert((*key).to_owned(), json!(value));
            }
        }
    }
    Ok(after)
}
