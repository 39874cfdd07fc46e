//! Finds duplicate keys of objects at any depth, in one pass.
//!
//! JSON parsers disagree on which of two equal keys counts, so such a message can
//! mean different things to different readers.

use super::json_path::JsonPath;
use super::violation_collector::ViolationCollector;
use crate::json::scanner::{MAX_DEPTH, Scanner};
use crate::json::{Json, Key};
use crate::rule::Rule;

/// The number of keys that are compared one by one; more keys go into a set.
const LINEAR_SEARCH_LIMIT: usize = 16;

/// Reports every duplicate key inside `json`.
pub(super) fn report_duplicate_keys(
    json: Json<'_>,
    path: &JsonPath<'_>,
    out: &mut ViolationCollector<'_>,
) {
    if json.has_unique_names() {
        return;
    }
    if json.is_indexed() {
        return check_indexed(json, path, out);
    }
    let mut scanner = Scanner::new(json.bytes(), 0, MAX_DEPTH);
    scan_value(json.bytes(), &mut scanner, path, out);
}

/// Checks a value with an index, which makes stepping over members cheap. A small
/// object compares two keys only if their fingerprints are equal.
fn check_indexed(json: Json<'_>, path: &JsonPath<'_>, out: &mut ViolationCollector<'_>) {
    let is_large = json.members().nth(LINEAR_SEARCH_LIMIT).is_some();
    let mut seen = is_large.then(SeenKeys::default);
    let mut fingerprints = 0u64;
    for (index, (key, value)) in json.members().enumerate() {
        let here = path.key(key);
        let fingerprint = key.fingerprint();
        let is_new = match &mut seen {
            Some(seen) => seen.add(key),
            None if fingerprints & fingerprint == 0 => true,
            None => !json.members().take(index).any(|(known, _)| known.is_same_name(key)),
        };
        fingerprints |= fingerprint;
        if !is_new {
            report_duplicate(key, &here, out);
        }
        if !value.is_scalar() {
            check_indexed(value, &here, out);
        }
    }
    for (index, item) in json.items().enumerate() {
        if !item.is_scalar() {
            check_indexed(item, &path.index(index), out);
        }
    }
}

fn report_duplicate(key: Key<'_>, path: &JsonPath<'_>, out: &mut ViolationCollector<'_>) {
    out.add(Rule::DuplicateKey, path, || format!("duplicate key {:?}", key.name()));
}

/// Scans one value. `None` cannot come from text that the scanner accepted before;
/// it ends the search.
fn scan_value<'a>(
    bytes: &'a [u8],
    scanner: &mut Scanner<'a>,
    path: &JsonPath<'_>,
    out: &mut ViolationCollector<'_>,
) -> Option<()> {
    match scanner.peek()? {
        b'{' => scan_object(bytes, scanner, path, out),
        b'[' => scan_array(bytes, scanner, path, out),
        _ => scanner.value().ok().map(|_| ()),
    }
}

fn scan_object<'a>(
    bytes: &'a [u8],
    scanner: &mut Scanner<'a>,
    path: &JsonPath<'_>,
    out: &mut ViolationCollector<'_>,
) -> Option<()> {
    scanner.expect(b'{').ok()?;
    if scanner.peek()? == b'}' {
        return scanner.expect(b'}').ok();
    }
    let mut seen = SeenKeys::default();
    loop {
        let (inner, escapes) = scanner.string().ok()?;
        let key = Key::new(&bytes[inner], escapes);
        let here = path.key(key);
        if !seen.add(key) {
            report_duplicate(key, &here, out);
        }
        scanner.expect(b':').ok()?;
        scan_value(bytes, scanner, &here, out)?;
        if scanner.peek()? == b'}' {
            return scanner.expect(b'}').ok();
        }
        scanner.expect(b',').ok()?;
    }
}

fn scan_array<'a>(
    bytes: &'a [u8],
    scanner: &mut Scanner<'a>,
    path: &JsonPath<'_>,
    out: &mut ViolationCollector<'_>,
) -> Option<()> {
    scanner.expect(b'[').ok()?;
    if scanner.peek()? == b']' {
        return scanner.expect(b']').ok();
    }
    let mut index = 0;
    loop {
        scan_value(bytes, scanner, &path.index(index), out)?;
        if scanner.peek()? == b']' {
            return scanner.expect(b']').ok();
        }
        scanner.expect(b',').ok()?;
        index += 1;
    }
}

/// The keys of one object. The first ones are compared one by one without
/// allocation; the others go into a set, so that no object takes quadratic time.
#[derive(Default)]
struct SeenKeys<'a> {
    first: [Option<Key<'a>>; LINEAR_SEARCH_LIMIT],
    count: usize,
    others: std::collections::HashSet<std::borrow::Cow<'a, str>>,
}

impl<'a> SeenKeys<'a> {
    /// Adds a key; returns true if it is new.
    fn add(&mut self, key: Key<'a>) -> bool {
        let first = self.first.iter().take(self.count).flatten();
        if first.into_iter().any(|known| known.is_same_name(key)) {
            return false;
        }
        match self.first.get_mut(self.count) {
            Some(slot) => {
                *slot = Some(key);
                self.count += 1;
                true
            }
            None => self.others.insert(key.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let raw = crate::json::RawJson::parse(text).unwrap();
        let frame = crate::Frame::notification("x", Some(&raw));
        for json in [raw.view(), frame.params().unwrap()] {
            let mut out = ViolationCollector::new("", "");
            report_duplicate_keys(json, &JsonPath::new("$"), &mut out);
            let paths: Vec<_> = out.into_violations().into_iter().map(|it| it.path).collect();
            assert_eq!(paths, expected, "{text}");
        }
    }

    #[test]
    fn finds_duplicate_keys_at_any_depth() {
        check(r#"{"a":1,"b":{"a":2},"c":[{"a":3}]}"#, &[]);
        check(r#"{"a":1,"a":2}"#, &["$.a"]);
        check(r#"{"x":[1,{"a":1,"b":[],"a":2}],"y":{},"z":[]}"#, &["$.x[1].a"]);
        check(r#"{"a":1,"\u0061":2}"#, &["$.a"]);
        check(r#"{"a":1,"a":{"b":1,"b":1},"a":3}"#, &["$.a", "$.a.b", "$.a"]);
        check("7", &[]);
    }

    #[test]
    fn finds_duplicate_keys_among_many() {
        let keys: Vec<_> = (0..1000).map(|it| format!("\"k{it}\":0")).collect();
        check(&format!("{{{}}}", keys.join(",")), &[]);
        check(&format!("{{{},\"k900\":1,\"k3\":1}}", keys.join(",")), &["$.k900", "$.k3"]);
    }
}
