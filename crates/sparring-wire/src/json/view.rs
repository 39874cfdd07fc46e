//! A borrowed JSON value that can be looked into without building a tree.
//!
//! A view only exists over text that the scanner has accepted, so looking
//! never fails; what is absent or of another type is `None`.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::escapes::{lossy, unescape};
use super::scan::{DEEPEST, Scanner};
use super::tape::Node;

/// One JSON value, borrowed from the frame or text it stands in, in its exact
/// spelling.
#[derive(Clone, Copy)]
pub struct Json<'a> {
    /// The whole text that the nodes count from; without nodes, the value.
    whole: &'a [u8],
    /// The value and what is inside it, where the text has a tape.
    nodes: &'a [Node],
}

/// The type of a JSON value; integers are told apart from other numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number spelled without fraction and exponent.
    Integer,
    /// Any other number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonKind {
    /// The type's name as JSON Schema has it.
    pub fn name(self) -> &'static str {
        match self {
            JsonKind::Null => "null",
            JsonKind::Boolean => "boolean",
            JsonKind::Integer => "integer",
            JsonKind::Number => "number",
            JsonKind::String => "string",
            JsonKind::Array => "array",
            JsonKind::Object => "object",
        }
    }
}

impl<'a> Json<'a> {
    /// `{}`
    pub const EMPTY_OBJECT: Json<'static> = Json { whole: b"{}", nodes: &[] };

    /// Wraps bytes that the scanner has accepted as exactly one value.
    pub(crate) fn trusted(bytes: &'a [u8]) -> Self {
        Json { whole: bytes, nodes: &[] }
    }

    /// Wraps the value of a text that these nodes of its tape stand for; there
    /// is at least one.
    pub(crate) fn noted(whole: &'a [u8], nodes: &'a [Node]) -> Self {
        Json { whole, nodes }
    }

    /// Whether the value has a tape, so that looking into it is cheap.
    pub(crate) fn is_noted(self) -> bool {
        !self.nodes.is_empty()
    }

    /// Whether it is known that no object inside the value has a name twice.
    pub(crate) fn has_each_name_once(self) -> bool {
        self.nodes.first().is_some_and(|node| node.has_each_name_once())
    }

    /// Whether nothing is inside the value.
    pub(crate) fn is_scalar(self) -> bool {
        !matches!(self.bytes().first(), Some(b'{' | b'['))
    }

    /// The value's bytes, as they were spelled.
    pub fn bytes(self) -> &'a [u8] {
        match self.nodes.first() {
            Some(node) => node.text(self.whole),
            None => self.whole,
        }
    }

    /// The value's text, as it was spelled; invalid UTF-8 is replaced.
    pub fn text(self) -> Cow<'a, str> {
        lossy(self.bytes())
    }

    /// The value's type.
    pub fn kind(self) -> JsonKind {
        match self.bytes().first() {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            Some(b'"') => JsonKind::String,
            Some(b't' | b'f') => JsonKind::Boolean,
            Some(b'n') | None => JsonKind::Null,
            Some(_) if self.bytes().iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => {
                JsonKind::Number
            }
            Some(_) => JsonKind::Integer,
        }
    }

    /// Whether this is an object.
    pub fn is_object(self) -> bool {
        self.bytes().first() == Some(&b'{')
    }

    /// The string's content with escapes resolved; `None` for other types.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let inner = match self.bytes() {
            [b'"', inner @ .., b'"'] => inner,
            _ => return None,
        };
        Some(unescape(inner, inner.contains(&b'\\')))
    }

    /// The boolean; `None` for other types.
    pub fn as_bool(self) -> Option<bool> {
        match self.bytes() {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// The integer, where it is one that fits; `None` otherwise.
    pub fn as_i64(self) -> Option<i64> {
        std::str::from_utf8(self.bytes()).ok()?.parse().ok()
    }

    /// The number; `None` for other types.
    pub fn as_f64(self) -> Option<f64> {
        match self.kind() {
            JsonKind::Integer | JsonKind::Number => {
                std::str::from_utf8(self.bytes()).ok()?.parse().ok()
            }
            _ => None,
        }
    }

    /// The members of an object, in their order, duplicates included; none for
    /// other types.
    pub fn members(self) -> Members<'a> {
        Members(Walk::over(self, b'{'))
    }

    /// The items of an array; none for other types.
    pub fn items(self) -> Items<'a> {
        Items(Walk::over(self, b'['))
    }

    /// The object's member of that name; of duplicates the last, as most
    /// parsers have it.
    pub fn get(self, name: &str) -> Option<Json<'a>> {
        let Some((top, mut rest)) = self.nodes.split_first() else {
            return self.members().filter(|(key, _)| key.is(name)).last().map(|(_, value)| value);
        };
        if !self.is_object() {
            return None;
        }
        let mut found = None;
        while let [key, value, ..] = rest {
            let end = 1 + value.size();
            if Key::new(key.text(self.whole), key.has_escapes()).is(name) {
                found = Some(Json::noted(self.whole, &rest[1..end]));
                if top.has_each_name_once() {
                    break;
                }
            }
            rest = &rest[end..];
        }
        found
    }

    /// Follows `get` along several names.
    pub fn at(self, path: &[&str]) -> Option<Json<'a>> {
        path.iter().try_fold(self, |json, name| json.get(name))
    }

    /// Reads the value into a type of the caller's; [`tree`](super::tree) reads it
    /// into a `Value`.
    ///
    /// # Errors
    /// When the value does not fit the type.
    pub fn to<T: DeserializeOwned>(self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(self.bytes())
    }
}

/// Two values are equal when they are spelled alike.
impl PartialEq for Json<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Json<'_> {}

impl std::fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

impl std::fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

/// A member's name, still as it was spelled.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    inner: &'a [u8],
    escapes: bool,
}

impl<'a> Key<'a> {
    pub(crate) fn new(inner: &'a [u8], escapes: bool) -> Self {
        Key { inner, escapes }
    }

    /// Whether this is that name.
    #[inline]
    pub fn is(self, name: &str) -> bool {
        match self.escapes {
            false => self.inner == name.as_bytes(),
            true => self.name() == name,
        }
    }

    /// Whether both are the same name, however they are spelled.
    pub fn same_as(self, other: Key<'_>) -> bool {
        match self.escapes || other.escapes {
            false => self.inner == other.inner,
            true => self.name() == other.name(),
        }
    }

    /// One bit of 64: different ones tell different names. Names with escapes
    /// have all of them, since they may be any.
    pub(crate) fn fingerprint(self) -> u64 {
        match (self.inner, self.escapes) {
            (_, true) => u64::MAX,
            ([], _) => 1,
            ([first, .., last] | [first @ last], _) => {
                let mixed =
                    self.inner.len() * 7 + usize::from(*first) * 2 + usize::from(*last) * 31;
                1 << (mixed % 64)
            }
        }
    }

    /// The name with escapes resolved.
    pub fn name(self) -> Cow<'a, str> {
        unescape(self.inner, self.escapes)
    }
}

impl std::fmt::Debug for Key<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// The members of an object; see [`Json::members`].
#[derive(Debug, Clone)]
pub struct Members<'a>(Walk<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Key<'a>, Json<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Walk::Noted { whole, rest } => {
                let (name, following) = rest.split_first()?;
                let (value, following) = following.split_at(following.first()?.size());
                *rest = following;
                Some((Key::new(name.text(whole), name.has_escapes()), Json::noted(whole, value)))
            }
            Walk::Scanned(scan) => scan.member(),
        }
    }
}

/// The items of an array; see [`Json::items`].
#[derive(Debug, Clone)]
pub struct Items<'a>(Walk<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = Json<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Walk::Noted { whole, rest } => {
                let (value, following) = rest.split_at(rest.first()?.size());
                *rest = following;
                Some(Json::noted(whole, value))
            }
            Walk::Scanned(scan) => scan.item(),
        }
    }
}

/// A position between the elements of a container: on its tape, or in its text.
#[derive(Debug, Clone)]
enum Walk<'a> {
    Noted { whole: &'a [u8], rest: &'a [Node] },
    Scanned(Scan<'a>),
}

impl<'a> Walk<'a> {
    fn over(json: Json<'a>, open: u8) -> Self {
        let fits = json.bytes().first() == Some(&open);
        if let Some((_, inside)) = json.nodes.split_first() {
            return Walk::Noted { whole: json.whole, rest: if fits { inside } else { &[] } };
        }
        let bytes = json.whole;
        let scanner = fits.then(|| Scanner::new(bytes, 0, DEEPEST));
        Walk::Scanned(Scan { bytes, scanner })
    }
}

#[derive(Debug, Clone)]
struct Scan<'a> {
    bytes: &'a [u8],
    scanner: Option<Scanner<'a>>,
}

impl<'a> Scan<'a> {
    fn member(&mut self) -> Option<(Key<'a>, Json<'a>)> {
        let (bytes, scanner) = self.step()?;
        let (key, escapes) = scanner.string().ok()?;
        scanner.expect(b':').ok()?;
        let value = scanner.skip().ok()?;
        Some((Key::new(&bytes[key], escapes), Json::trusted(&bytes[value])))
    }

    fn item(&mut self) -> Option<Json<'a>> {
        let (bytes, scanner) = self.step()?;
        scanner.skip().ok().map(|value| Json::trusted(&bytes[value]))
    }

    /// Steps over the bracket or comma before the next element, if there is one.
    fn step(&mut self) -> Option<(&'a [u8], &mut Scanner<'a>)> {
        let scanner = self.scanner.as_mut()?;
        let open = scanner.pos() == 0;
        let separator = scanner.peek()?;
        if !open && separator != b',' {
            self.scanner = None;
            return None;
        }
        scanner.expect(separator).ok()?;
        if open && matches!(scanner.peek(), Some(b'}' | b']')) {
            self.scanner = None;
            return None;
        }
        self.scanner.as_mut().map(|scanner| (self.bytes, scanner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a check on a view by scanning and on one by tape.
    fn both_ways(text: &[u8], check: impl Fn(Json<'_>)) {
        check(Json::trusted(text));
        let tape = crate::json::tape::Tape::of(text, 0..text.len());
        check(Json::noted(text, tape.at(0)));
    }

    #[test]
    fn looks_into_nested_values() {
        both_ways(br#"{"a":{"b":[1, 2.50, "x"]},"a2":true}"#, looks_into);
    }

    fn looks_into(json: Json<'_>) {
        let items: Vec<_> = json.at(&["a", "b"]).unwrap().items().collect();
        assert_eq!(items.len(), 3);
        assert_eq!(items[0].as_i64(), Some(1));
        assert_eq!(items[1].text(), "2.50");
        assert_eq!(items[1].kind(), JsonKind::Number);
        assert_eq!(items[2].as_str().unwrap(), "x");
        assert_eq!(json.get("a2").unwrap().as_bool(), Some(true));
        assert!(json.get("c").is_none());
    }

    #[test]
    fn empty_containers_have_no_elements() {
        for text in ["{ }", "[]", "1", "\"x\""] {
            both_ways(text.as_bytes(), |json| {
                assert_eq!((json.members().count(), json.items().count()), (0, 0));
            });
        }
        both_ways(br#"{"a":1}"#, |json| assert_eq!(json.items().count(), 0));
        both_ways(b"[1]", |json| assert_eq!(json.members().count(), 0));
    }

    #[test]
    fn the_last_of_duplicate_members_counts() {
        both_ways(br#"{"a":1,"b":0,"a":2}"#, |json| {
            assert_eq!(json.get("a").unwrap().as_i64(), Some(2));
        });
    }
}
