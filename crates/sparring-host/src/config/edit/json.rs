//! Changes JSON text. The parser keeps all comments and spaces.

use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::Value;

use super::FormatChange;
use crate::config::locations::Format;
use crate::config::read::json_options;

/// The text with the change, if the parser can apply it.
pub(super) fn apply_change(text: &str, change: &FormatChange, format: Format) -> Option<String> {
    let (mark, rest) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let root = CstRootNode::parse(rest, &json_options()).ok()?;
    let servers = root.object_value_or_create()?.object_value_or_create(format.servers_key())?;
    match change {
        FormatChange::Add { name, entry } => drop(servers.append(name, to_cst(entry))),
        FormatChange::Remove { name } => servers.get(name)?.remove(),
        FormatChange::Set { name, key, value } => {
            let entry = servers.object_value(name)?;
            match entry.get(key) {
                Some(property) => property.set_value(CstInputValue::Bool(*value)),
                None => drop(entry.append(key, CstInputValue::Bool(*value))),
            }
        }
    }
    Some(format!("{mark}{root}"))
}

fn to_cst(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(to_cst).collect()),
        Value::Object(map) => {
            let pair = |(key, value): (&String, &Value)| (key.clone(), to_cst(value));
            CstInputValue::Object(map.iter().map(pair).collect())
        }
    }
}
