//! Names as a person writes them, `mime_type`, and as the wire has them,
//! `mimeType`.
//!
//! What a user passes through is not ours to rename, so nothing below certain
//! keys is touched.

use std::borrow::Cow;

use crate::node::{Kind, Node};

/// Below these, names are the user's own; so they are below any `*_schema`.
const PASSED_THROUGH: [&str; 7] =
    ["arguments", "data", "json", "structured", "structured_content", "with", "_meta"];

/// `snake_case` as `camelCase`. A leading underscore stays.
pub fn camel(name: &str) -> String {
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

/// `camelCase` as `snake_case`.
pub fn snake(name: &str) -> Cow<'_, str> {
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

/// Whether names below this key are the user's own.
pub fn is_passed_through(key: &str) -> bool {
    let key = snake(key);
    PASSED_THROUGH.contains(&&*key) || key.ends_with("_schema")
}

/// Renames the keys of a value to those of the wire, as deep as they are ours.
pub fn to_wire(node: &mut Node) {
    match &mut node.kind {
        Kind::List(items) => items.iter_mut().for_each(to_wire),
        Kind::Map(entries) => {
            for entry in entries {
                if !is_passed_through(&entry.key) {
                    to_wire(&mut entry.value);
                }
                entry.key = camel(&entry.key);
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
    fn names_go_both_ways() {
        for (one, other) in [("mime_type", "mimeType"), ("uri", "uri"), ("a_b_c", "aBC")] {
            assert_eq!(camel(one), other);
            assert_eq!(snake(other), one);
        }
        assert_eq!(camel("_meta"), "_meta");
        assert_eq!(camel("mimeType"), "mimeType");
    }

    #[test]
    fn what_is_passed_through_keeps_its_names() {
        let text = "mime_type: a\nannotations: {last_modified: x}\n_meta: {a_b: 1}\n\
                    structured_content: {a_b: 1}\nrequested_schema: {a_b: 1}\n\
                    list: [{is_error: true, data: {a_b: 1}}]";
        let mut node = Node::parse(&Source::new("a", text)).unwrap();
        to_wire(&mut node);
        let expected = json!({
            "mimeType": "a", "annotations": {"lastModified": "x"}, "_meta": {"a_b": 1},
            "structuredContent": {"a_b": 1}, "requestedSchema": {"a_b": 1},
            "list": [{"isError": true, "data": {"a_b": 1}}],
        });
        assert_eq!(node.to_json(), expected);
    }
}
