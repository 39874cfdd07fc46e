//! Changes to JSON. The parser keeps every comment and every space.

use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::Value;

use super::Keyed;
use crate::config::places::Format;
use crate::config::read::json_options;

/// The text with the change in it, if the parser can make it.
pub(super) fn changed(text: &str, change: &Keyed, format: Format) -> Option<String> {
    let (mark, rest) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let root = CstRootNode::parse(rest, &json_options()).ok()?;
    let servers = root.object_value_or_create()?.object_value_or_create(format.servers())?;
    match change {
        Keyed::Add { name, entry } => drop(servers.append(name, input(entry))),
        Keyed::Remove { name } => servers.get(name)?.remove(),
        Keyed::Set { name, key, value } => {
            let entry = servers.object_value(name)?;
            match entry.get(key) {
                Some(property) => property.set_value(CstInputValue::Bool(*value)),
                None => drop(entry.append(key, CstInputValue::Bool(*value))),
            }
        }
    }
    Some(format!("{mark}{root}"))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            let pair = |(key, value): (&String, &Value)| (key.clone(), input(value));
            CstInputValue::Object(map.iter().map(pair).collect())
        }
    }
}
