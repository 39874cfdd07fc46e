//! Converts keys between the spelling in files, `mime_type`, and on the wire, `mimeType`.
//!
//! Keys inside a user's own data, such as the arguments of a tool, are never renamed.

use std::borrow::Cow;

use crate::node::{Node, NodeKind};

/// The keys whose values are the user's own data. So are the values of any `*_schema`.
const USER_DATA_KEYS: [&str; 7] =
    ["arguments", "data", "json", "structured", "structured_content", "with", "_meta"];

/// Converts `snake_case` to `camelCase`. A leading underscore stays.
pub fn to_camel_case(name: &str) -> String {
    let body = name.trim_start_matches('_');
    let mut out = name[..name.len() - body.len()].to_owned();
    let mut upper = false;
    for c in body.chars() {
        match c {
            '_' => upper = true,
            c if upper => {
                out.extend(c.to_uppercase());
                upper = false;
            }
            c => out.push(c),
        }
    }
    out
}

/// Converts `camelCase` to `snake_case`.
pub fn to_snake_case(name: &str) -> Cow<'_, str> {
    if !name.contains(char::is_uppercase) {
        return name.into();
    }
    let mut out = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out.into()
}

/// Returns true if the value of this key is the user's own data, whose keys are not renamed.
pub fn is_user_data_key(key: &str) -> bool {
    let key = to_snake_case(key);
    USER_DATA_KEYS.contains(&&*key) || key.ends_with("_schema")
}

/// Renames the keys of a value to those of the wire, except inside the user's own data.
pub fn rename_keys_to_wire(node: &mut Node) {
    match &mut node.kind {
        NodeKind::List(items) => items.iter_mut().for_each(rename_keys_to_wire),
        NodeKind::Map(entries) => {
            for entry in entries {
                if !is_user_data_key(&entry.key) {
                    rename_keys_to_wire(&mut entry.value);
                }
                entry.key = to_camel_case(&entry.key);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Source;

    #[test]
    fn converts_names_both_ways() {
        for (one, other) in [("mime_type", "mimeType"), ("uri", "uri"), ("a_b_c", "aBC")] {
            assert_eq!(to_camel_case(one), other);
            assert_eq!(to_snake_case(other), one);
        }
        assert_eq!(to_camel_case("_meta"), "_meta");
        assert_eq!(to_camel_case("mimeType"), "mimeType");
    }

    #[test]
    fn arguments_pass_through_unchanged_at_any_depth() {
        let text = "tool_calls: [{tool_name: a, arguments: {user_name: {first_name: Ada}, \
                    mime_type: x, list_of: [{is_error: 1}]}}]";
        let mut node = Node::parse(&Source::new("a", text)).unwrap();
        rename_keys_to_wire(&mut node);
        let arguments = json!({
            "user_name": {"first_name": "Ada"}, "mime_type": "x", "list_of": [{"is_error": 1}],
        });
        assert_eq!(
            node.to_json(),
            json!({"toolCalls": [{"toolName": "a", "arguments": arguments}]})
        );
    }

    #[test]
    fn keys_of_user_data_are_not_renamed() {
        let text = "mime_type: a\nannotations: {last_modified: x}\n_meta: {a_b: 1}\n\
                    structured_content: {a_b: 1}\nrequested_schema: {a_b: 1}\n\
                    list: [{is_error: true, data: {a_b: 1}}]";
        let mut node = Node::parse(&Source::new("a", text)).unwrap();
        rename_keys_to_wire(&mut node);
        let expected = json!({
            "mimeType": "a", "annotations": {"lastModified": "x"}, "_meta": {"a_b": 1},
            "structuredContent": {"a_b": 1}, "requestedSchema": {"a_b": 1},
            "list": [{"isError": true, "data": {"a_b": 1}}],
        });
        assert_eq!(node.to_json(), expected);
    }
}
