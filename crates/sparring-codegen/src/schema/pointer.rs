//! JSON pointers into a schema, as `$ref` uses them.

/// Appends a name to a pointer.
pub(super) fn join(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Parses a reference within the same schema. Returns `None` for any other reference.
pub(super) fn parse_local_reference(reference: &str) -> Option<String> {
    let fragment = reference.strip_prefix('#')?;
    (fragment.is_empty() || fragment.starts_with('/')).then(|| percent_decode(fragment))
}

/// Returns the last segment of a pointer, which is the name of a definition in `$defs`.
pub(super) fn last_segment(pointer: &str) -> String {
    let last = pointer.rsplit('/').next().unwrap_or_default();
    last.replace("~1", "/").replace("~0", "~")
}

/// Decodes the percent-encoding of a URL fragment.
fn percent_decode(fragment: &str) -> String {
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
        assert_eq!(parse_local_reference("#").as_deref(), Some(""));
        assert_eq!(parse_local_reference("#/$defs/a%20b~1c").as_deref(), Some("/$defs/a b~1c"));
        assert_eq!(parse_local_reference("#/a%zz%").as_deref(), Some("/a%zz%"));
        assert_eq!(parse_local_reference("#anchor"), None);
        assert_eq!(parse_local_reference("other.json#/a"), None);
        assert_eq!(last_segment("/$defs/a b~1c"), "a b/c");
        assert_eq!(join("/a", "b/~"), "/a/b~1~0");
    }
}
