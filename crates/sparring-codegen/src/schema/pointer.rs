//! Places in a schema, as `$ref` names them.

use serde_json::Value;

/// The place below another.
pub(super) fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The pointer that a reference within the same schema means; none where it is
/// a reference to something else.
pub(super) fn local(reference: &str) -> Option<String> {
    let fragment = reference.strip_prefix('#')?;
    (fragment.is_empty() || fragment.starts_with('/')).then(|| decoded(fragment))
}

/// The name that a place is known by: what it is called in `$defs`.
pub(super) fn last(pointer: &str) -> String {
    let last = pointer.rsplit('/').next().unwrap_or_default();
    last.replace("~1", "/").replace("~0", "~")
}

/// The schema at a place. Without recursion, and only through what is there.
pub(super) fn at<'a>(root: &'a Value, pointer: &str) -> Option<&'a Value> {
    root.pointer(pointer)
}

/// A fragment of a URL, with what stands there as `%20`.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, others @ ..] = rest {
        let hex = others.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            (other, _) => {
                bytes.push(*other);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_within_a_schema_are_pointers() {
        assert_eq!(local("#").as_deref(), Some(""));
        assert_eq!(local("#/$defs/a%20b~1c").as_deref(), Some("/$defs/a b~1c"));
        assert_eq!(local("#/a%zz%").as_deref(), Some("/a%zz%"));
        assert_eq!(local("#anchor"), None);
        assert_eq!(local("other.json#/a"), None);
        assert_eq!(last("/$defs/a b~1c"), "a b/c");
        assert_eq!(below("/a", "b/~"), "/a/b~1~0");
    }
}
