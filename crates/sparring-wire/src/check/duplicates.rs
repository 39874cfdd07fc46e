//! Finds keys that stand twice in one object, at any depth, in one pass.
//!
//! JSON parsers disagree on which of the two counts, so a message with such a
//! key can mean different things to different readers.

use super::findings::Findings;
use super::path::Path;
use crate::json::scan::{DEEPEST, Scanner};
use crate::json::{Json, Key};
use crate::violation::Rule;

/// How many keys are compared one by one before a set is made.
const FEW: usize = 16;

/// Adds a finding for every repeated key inside `json`.
pub(super) fn find(json: Json<'_>, path: &Path<'_>, out: &mut Findings<'_>) {
    if json.has_each_name_once() {
        return;
    }
    if json.is_noted() {
        return noted(json, path, out);
    }
    let mut scanner = Scanner::new(json.bytes(), 0, DEEPEST);
    value(json.bytes(), &mut scanner, path, out);
}

/// Where the value has a tape, stepping over members costs next to nothing: a
/// few are told apart by a fingerprint, and compared only where two have the
/// same.
fn noted(json: Json<'_>, path: &Path<'_>, out: &mut Findings<'_>) {
    let mut seen = (json.members().nth(FEW).is_some()).then(Seen::default);
    let mut fingerprints = 0u64;
    for (index, (key, value)) in json.members().enumerate() {
        let here = path.key(key);
        let fingerprint = key.fingerprint();
        let new = match &mut seen {
            Some(seen) => seen.add(key),
            None if fingerprints & fingerprint == 0 => true,
            None => !json.members().take(index).any(|(known, _)| known.same_as(key)),
        };
        fingerprints |= fingerprint;
        if !new {
            repeated(key, &here, out);
        }
        if !value.is_scalar() {
            noted(value, &here, out);
        }
    }
    for (index, item) in json.items().enumerate() {
        if !item.is_scalar() {
            noted(item, &path.index(index), out);
        }
    }
}

fn repeated(key: Key<'_>, path: &Path<'_>, out: &mut Findings<'_>) {
    out.add(Rule::DuplicateKey, path, || format!("the key {:?} stands more than once", key.name()));
}

/// Takes one value. `None` cannot come from text that the scanner accepted,
/// and only ends the search.
fn value<'a>(
    bytes: &'a [u8],
    scanner: &mut Scanner<'a>,
    path: &Path<'_>,
    out: &mut Findings<'_>,
) -> Option<()> {
    match scanner.peek()? {
        b'{' => object(bytes, scanner, path, out),
        b'[' => array(bytes, scanner, path, out),
        _ => scanner.value().ok().map(|_| ()),
    }
}

fn object<'a>(
    bytes: &'a [u8],
    scanner: &mut Scanner<'a>,
    path: &Path<'_>,
    out: &mut Findings<'_>,
) -> Option<()> {
    scanner.expect(b'{').ok()?;
    if scanner.peek()? == b'}' {
        return scanner.expect(b'}').ok();
    }
    let mut seen = Seen::default();
    loop {
        let (inner, escapes) = scanner.string().ok()?;
        let key = Key::new(&bytes[inner], escapes);
        let here = path.key(key);
        if !seen.add(key) {
            repeated(key, &here, out);
        }
        scanner.expect(b':').ok()?;
        value(bytes, scanner, &here, out)?;
        if scanner.peek()? == b'}' {
            return scanner.expect(b'}').ok();
        }
        scanner.expect(b',').ok()?;
    }
}

fn array<'a>(
    bytes: &'a [u8],
    scanner: &mut Scanner<'a>,
    path: &Path<'_>,
    out: &mut Findings<'_>,
) -> Option<()> {
    scanner.expect(b'[').ok()?;
    if scanner.peek()? == b']' {
        return scanner.expect(b']').ok();
    }
    let mut index = 0;
    loop {
        value(bytes, scanner, &path.index(index), out)?;
        if scanner.peek()? == b']' {
            return scanner.expect(b']').ok();
        }
        scanner.expect(b',').ok()?;
        index += 1;
    }
}

/// The keys of one object: few are compared one by one without allocation,
/// many go into a set, so that no object takes quadratic time.
#[derive(Default)]
struct Seen<'a> {
    few: [Option<Key<'a>>; FEW],
    count: usize,
    many: std::collections::HashSet<std::borrow::Cow<'a, str>>,
}

impl<'a> Seen<'a> {
    /// Whether the key is new.
    fn add(&mut self, key: Key<'a>) -> bool {
        let few = self.few.iter().take(self.count).flatten();
        if few.into_iter().any(|known| known.same_as(key)) {
            return false;
        }
        match self.few.get_mut(self.count) {
            Some(slot) => {
                *slot = Some(key);
                self.count += 1;
                true
            }
            None => self.many.insert(key.name()),
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
            let mut out = Findings::new("", "");
            find(json, &Path::new("$"), &mut out);
            let paths: Vec<_> = out.done().into_iter().map(|it| it.path).collect();
            assert_eq!(paths, expected, "{text}");
        }
    }

    #[test]
    fn finds_repeated_keys_at_any_depth() {
        check(r#"{"a":1,"b":{"a":2},"c":[{"a":3}]}"#, &[]);
        check(r#"{"a":1,"a":2}"#, &["$.a"]);
        check(r#"{"x":[1,{"a":1,"b":[],"a":2}],"y":{},"z":[]}"#, &["$.x[1].a"]);
        check(r#"{"a":1,"\u0061":2}"#, &["$.a"]);
        check(r#"{"a":1,"a":{"b":1,"b":1},"a":3}"#, &["$.a", "$.a.b", "$.a"]);
        check("7", &[]);
    }

    #[test]
    fn finds_repeated_keys_among_very_many() {
        let keys: Vec<_> = (0..1000).map(|it| format!("\"k{it}\":0")).collect();
        check(&format!("{{{}}}", keys.join(",")), &[]);
        check(&format!("{{{},\"k900\":1,\"k3\":1}}", keys.join(",")), &["$.k900", "$.k3"]);
    }
}
