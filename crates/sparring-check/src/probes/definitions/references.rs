//! References of schemas: to parts that are missing, and to other documents.

use serde_json::Value;
use sparring_wire::Rule;

use super::subschemas::Subschema;

/// Returns the part of a schema that a reference names.
pub(in crate::probes) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    let pointer = decode_percent(fragment);
    root.pointer(&pointer)
}

/// Returns the broken rule if a reference of a schema does not name a part of the same schema.
pub(super) fn problem(subschemas: &[Subschema<'_>], reference: &str) -> Option<(Rule, String)> {
    let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    if !document.is_empty() {
        return (!is_embedded(subschemas, document) && !is_meta_schema(document)).then(|| {
            let expected = "expected references within the schema";
            (Rule::ExternalReference, format!("{expected}; `$ref` names {reference:?}"))
        });
    }
    // A reference within an embedded schema with its own `$id` starts there.
    let roots = subschemas.iter().filter(|it| it.is_root() || it.schema.get("$id").is_some());
    let resolves = |root: &Value| match fragment.is_empty() || fragment.starts_with('/') {
        true => resolve(root, reference).is_some(),
        false => false,
    };
    let found = roots.map(|it| it.schema).any(resolves) || has_anchor(subschemas, fragment);
    (!found).then(|| {
        let expected = "expected references to parts of the schema";
        (Rule::UnresolvedReference, format!("{expected}; `$ref` names {reference:?}"))
    })
}

fn is_embedded(subschemas: &[Subschema<'_>], document: &str) -> bool {
    let ids = subschemas.iter().filter_map(|it| it.schema["$id"].as_str());
    let mut ids = ids.map(|id| id.trim_end_matches('#'));
    let end = format!("/{}", document.trim_start_matches('/'));
    ids.any(|id| id == document || id.ends_with(&end))
}

fn is_meta_schema(document: &str) -> bool {
    let host = document.trim_start_matches("https://").trim_start_matches("http://");
    host.starts_with("json-schema.org/")
}

fn has_anchor(subschemas: &[Subschema<'_>], name: &str) -> bool {
    subschemas.iter().any(|it| {
        let is = |key: &str| it.schema[key].as_str() == Some(name);
        let id = it.schema["$id"].as_str().and_then(|id| id.strip_prefix('#'));
        is("$anchor") || is("$dynamicAnchor") || id == Some(name)
    })
}

fn decode_percent(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        match code.and_then(|it| u8::from_str_radix(it, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
