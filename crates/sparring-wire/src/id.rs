//! Request ids: integers of any size, and strings.

use crate::json::{Json, JsonKind, RawJson};

/// The id of a request. `1` and `"1"` are different ids.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// An integer that fits into 64 bits.
    Integer(i64),
    /// A larger integer, as decimal digits.
    BigInteger(Box<str>),
    /// A string.
    String(Box<str>),
}

impl Id {
    /// Reads an id from JSON; returns `None` for a value that cannot be an id.
    pub fn from_json(json: Json<'_>) -> Option<Id> {
        if let Some(number) = json.as_i64() {
            return Some(Id::Integer(number));
        }
        match json.kind() {
            JsonKind::String => json.as_str().map(|text| Id::String(text.into())),
            JsonKind::Integer => Some(Id::BigInteger(json.text().into())),
            _ => None,
        }
    }

    /// Returns true if the other id has the same characters but another type, such as
    /// `1` and `"1"`.
    pub fn differs_only_in_type(&self, other: &Id) -> bool {
        self != other && self.characters() == other.characters()
    }

    /// Appends the id's JSON.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Id::Integer(number) => {
                out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes());
            }
            Id::BigInteger(digits) => out.extend_from_slice(digits.as_bytes()),
            Id::String(text) => crate::json::scanner::write_string(text, out),
        }
    }

    fn characters(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Id::Integer(number) => number.to_string().into(),
            Id::BigInteger(text) | Id::String(text) => (&**text).into(),
        }
    }
}

/// Writes the id's JSON, so that `1` and `"1"` look different.
impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = Vec::new();
        self.write_json(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

impl From<&Id> for RawJson {
    fn from(id: &Id) -> Self {
        let mut out = Vec::new();
        id.write_json(&mut out);
        RawJson::trusted(out)
    }
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Id::Integer(number)
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Id::String(text.into())
    }
}

/// Generates unique ids.
#[derive(Debug, Clone)]
pub struct IdSequence {
    next: i64,
}

impl IdSequence {
    /// Returns the next id.
    pub fn next_id(&mut self) -> Id {
        let id = self.next;
        self.next += 1;
        Id::Integer(id)
    }

    /// Returns true if this sequence has generated that id.
    pub fn has_generated(&self, id: &Id) -> bool {
        matches!(id, Id::Integer(number) if (1..self.next).contains(number))
    }
}

impl Default for IdSequence {
    fn default() -> Self {
        IdSequence { next: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Id> {
        Id::from_json(Json::trusted(text.as_bytes()))
    }

    #[test]
    fn a_number_and_its_string_are_different_ids() {
        let (number, string) = (read("1").unwrap(), read("\"1\"").unwrap());
        assert_ne!(number, string);
        assert!(number.differs_only_in_type(&string));
        assert!(!number.differs_only_in_type(&read("2").unwrap()));
        assert!(!number.differs_only_in_type(&number));
    }

    #[test]
    fn integers_of_any_size_keep_their_digits() {
        let big = read("123456789012345678901234567890").unwrap();
        assert_eq!(big.to_string(), "123456789012345678901234567890");
        assert_eq!(read("-9").unwrap(), Id::Integer(-9));
    }

    #[test]
    fn other_types_are_not_ids() {
        for text in ["1.5", "1.0", "1e3", "null", "true", "[1]", "{}"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_sequence_recognizes_its_ids() {
        let mut ids = IdSequence::default();
        let (first, second) = (ids.next_id(), ids.next_id());
        assert_ne!(first, second);
        assert!(ids.has_generated(&second));
        assert!(!ids.has_generated(&Id::Integer(3)));
        assert!(!ids.has_generated(&Id::from("1")));
    }
}
