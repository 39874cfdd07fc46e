//! A borrowed JSON value that can be navigated without building a tree.
//!
//! A view exists only for text that the scanner has accepted, so access never fails;
//! absent values and values of another type are `None`.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::escapes::{to_text, unescape};
use super::node_index::Node;
use super::scanner::{MAX_DEPTH, Scanner};

/// One JSON value, borrowed from a frame or a text, exactly as written.
#[derive(Clone, Copy)]
pub struct Json<'a> {
    /// The text that the nodes refer to; without nodes, the value itself.
    whole: &'a [u8],
    /// The nodes of the value, if the text has an index.
    nodes: &'a [Node],
}

/// The type of a JSON value, with integers as a separate type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number without fraction and exponent.
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
    /// Returns the type's name as in JSON Schema.
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

    /// Wraps a value by its nodes, of which there is at least one.
    pub(crate) fn indexed(whole: &'a [u8], nodes: &'a [Node]) -> Self {
        Json { whole, nodes }
    }

    /// Returns true if the value has an index, so that access is cheap.
    pub(crate) fn is_indexed(self) -> bool {
        !self.nodes.is_empty()
    }

    /// Returns true if no object inside the value can have duplicate names.
    pub(crate) fn has_unique_names(self) -> bool {
        self.nodes.first().is_some_and(|node| node.has_unique_names())
    }

    /// Returns true if the value is neither an object nor an array.
    pub(crate) fn is_scalar(self) -> bool {
        !matches!(self.bytes().first(), Some(b'{' | b'['))
    }

    /// Returns the value's bytes as written.
    pub fn bytes(self) -> &'a [u8] {
        match self.nodes.first() {
            Some(node) => node.text(self.whole),
            None => self.whole,
        }
    }

    /// Returns the value's text as written, with invalid UTF-8 replaced.
    pub fn text(self) -> Cow<'a, str> {
        to_text(self.bytes())
    }

    /// Returns the value's type.
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

    /// Returns true if the value is an object.
    pub fn is_object(self) -> bool {
        self.bytes().first() == Some(&b'{')
    }

    /// Returns the string with escapes resolved; `None` for other types.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let inner = match self.bytes() {
            [b'"', inner @ .., b'"'] => inner,
            _ => return None,
        };
        Some(unescape(inner, inner.contains(&b'\\')))
    }

    /// Returns the boolean; `None` for other types.
    pub fn as_bool(self) -> Option<bool> {
        match self.bytes() {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Returns the integer, if it fits into 64 bits; `None` otherwise.
    pub fn as_i64(self) -> Option<i64> {
        std::str::from_utf8(self.bytes()).ok()?.parse().ok()
    }

    /// Returns the number; `None` for other types.
    pub fn as_f64(self) -> Option<f64> {
        match self.kind() {
            JsonKind::Integer | JsonKind::Number => {
                std::str::from_utf8(self.bytes()).ok()?.parse().ok()
            }
            _ => None,
        }
    }

    /// Returns the members of an object in order, with duplicates; empty for other
    /// types.
    pub fn members(self) -> Members<'a> {
        Members(Elements::new(self, b'{'))
    }

    /// Returns the items of an array; empty for other types.
    pub fn items(self) -> Items<'a> {
        Items(Elements::new(self, b'['))
    }

    /// Returns the member of that name. The last of duplicates counts, as in most
    /// parsers.
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
                found = Some(Json::indexed(self.whole, &rest[1..end]));
                if top.has_unique_names() {
                    break;
                }
            }
            rest = &rest[end..];
        }
        found
    }

    /// Calls [`Json::get`] for several names in turn.
    pub fn get_path(self, path: &[&str]) -> Option<Json<'a>> {
        path.iter().try_fold(self, |json, name| json.get(name))
    }

    /// Deserializes the value; [`parse_value`](super::parse_value) does so into a `Value`.
    ///
    /// # Errors
    /// Fails if the value does not fit the type.
    pub fn deserialize<T: DeserializeOwned>(self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(self.bytes())
    }
}

/// Two values are equal if their texts are equal.
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

/// A member's name as written.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    inner: &'a [u8],
    escapes: bool,
}

impl<'a> Key<'a> {
    pub(crate) fn new(inner: &'a [u8], escapes: bool) -> Self {
        Key { inner, escapes }
    }

    /// Returns true if the name is `name`.
    #[inline]
    pub fn is(self, name: &str) -> bool {
        match self.escapes {
            false => self.inner == name.as_bytes(),
            true => self.name() == name,
        }
    }

    /// Returns true if both names are equal after resolving escapes.
    pub fn is_same_name(self, other: Key<'_>) -> bool {
        match self.escapes || other.escapes {
            false => self.inner == other.inner,
            true => self.name() == other.name(),
        }
    }

    /// Returns one bit of 64. Names with different bits are different. A name with
    /// escapes has all bits, because it can be any name.
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

    /// Returns the name with escapes resolved.
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
pub struct Members<'a>(Elements<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Key<'a>, Json<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Elements::Indexed { whole, rest } => {
                let (name, following) = rest.split_first()?;
                let (value, following) = following.split_at(following.first()?.size());
                *rest = following;
                Some((Key::new(name.text(whole), name.has_escapes()), Json::indexed(whole, value)))
            }
            Elements::Scanned(scanner) => scanner.next_member(),
        }
    }
}

/// The items of an array; see [`Json::items`].
#[derive(Debug, Clone)]
pub struct Items<'a>(Elements<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = Json<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Elements::Indexed { whole, rest } => {
                let (value, following) = rest.split_at(rest.first()?.size());
                *rest = following;
                Some(Json::indexed(whole, value))
            }
            Elements::Scanned(scanner) => scanner.next_item(),
        }
    }
}

/// An iterator over a container: over its nodes, or over its text.
#[derive(Debug, Clone)]
enum Elements<'a> {
    Indexed { whole: &'a [u8], rest: &'a [Node] },
    Scanned(ElementScanner<'a>),
}

impl<'a> Elements<'a> {
    fn new(json: Json<'a>, open: u8) -> Self {
        let fits = json.bytes().first() == Some(&open);
        if let Some((_, inside)) = json.nodes.split_first() {
            return Elements::Indexed { whole: json.whole, rest: if fits { inside } else { &[] } };
        }
        let bytes = json.whole;
        let scanner = fits.then(|| Scanner::new(bytes, 0, MAX_DEPTH));
        Elements::Scanned(ElementScanner { bytes, scanner })
    }
}

#[derive(Debug, Clone)]
struct ElementScanner<'a> {
    bytes: &'a [u8],
    scanner: Option<Scanner<'a>>,
}

impl<'a> ElementScanner<'a> {
    fn next_member(&mut self) -> Option<(Key<'a>, Json<'a>)> {
        let (bytes, scanner) = self.skip_separator()?;
        let (key, escapes) = scanner.string().ok()?;
        scanner.expect(b':').ok()?;
        let value = scanner.skip().ok()?;
        Some((Key::new(&bytes[key], escapes), Json::trusted(&bytes[value])))
    }

    fn next_item(&mut self) -> Option<Json<'a>> {
        let (bytes, scanner) = self.skip_separator()?;
        scanner.skip().ok().map(|value| Json::trusted(&bytes[value]))
    }

    /// Skips the bracket or comma before the next element; returns `None` at the end.
    fn skip_separator(&mut self) -> Option<(&'a [u8], &mut Scanner<'a>)> {
        let scanner = self.scanner.as_mut()?;
        let is_start = scanner.pos() == 0;
        let separator = scanner.peek()?;
        if !is_start && separator != b',' {
            self.scanner = None;
            return None;
        }
        scanner.expect(separator).ok()?;
        if is_start && matches!(scanner.peek(), Some(b'}' | b']')) {
            self.scanner = None;
            return None;
        }
        self.scanner.as_mut().map(|scanner| (self.bytes, scanner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a check on a view without an index and on one with an index.
    fn both_ways(text: &[u8], check: impl Fn(Json<'_>)) {
        check(Json::trusted(text));
        let index = crate::json::node_index::NodeIndex::build(text, 0..text.len());
        check(Json::indexed(text, index.nodes_at(0)));
    }

    #[test]
    fn navigates_nested_values() {
        both_ways(br#"{"a":{"b":[1, 2.50, "x"]},"a2":true}"#, check_nested_values);
    }

    fn check_nested_values(json: Json<'_>) {
        let items: Vec<_> = json.get_path(&["a", "b"]).unwrap().items().collect();
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
