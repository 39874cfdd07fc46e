//! What the server declares: what follows from the script, and what the script
//! says of it.

use serde_json::Value;
use sparring_script::Node;
use sparring_wire::types::ServerCapabilities;

use super::settings::wire;

pub(super) fn of(node: &Node, logs: bool, interactions: bool) -> ServerCapabilities {
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
        match wire(&entry.value) {
            Value::Bool(false) => {
                all.0.shift_remove(&entry.key);
            }
            Value::Bool(true) => {
                all.0.entry(&*entry.key).or_insert_with(|| Value::Object(serde_json::Map::new()));
            }
            said => merge(all.0.entry(&*entry.key).or_insert(Value::Null), said),
        }
    }
    all
}

/// Puts one value over another; maps member by member.
fn merge(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                merge(under.entry(key).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}
