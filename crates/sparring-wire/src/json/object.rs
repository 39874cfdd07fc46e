//! Builds JSON objects, and adds members to existing ones without changing the rest of
//! their text.

use super::raw::RawJson;
use super::scanner::write_string;
use super::view::Json;

/// The bytes of punctuation per member.
const MEMBER_OVERHEAD: usize = 6;

/// Builds an object member by member. It does not check names: the caller must not add
/// a name twice.
#[derive(Debug)]
pub struct ObjectBuilder(Vec<u8>);

impl ObjectBuilder {
    /// Creates a builder with room for `bytes` bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        let mut text = Vec::with_capacity(bytes + MEMBER_OVERHEAD);
        text.push(b'{');
        ObjectBuilder(text)
    }

    /// Adds a value as written.
    #[must_use]
    pub fn json(mut self, name: &str, value: Json<'_>) -> Self {
        let value = value.bytes();
        self.write_name(name, value.len());
        self.0.extend_from_slice(value);
        self
    }

    /// Adds a string.
    #[must_use]
    pub fn string(mut self, name: &str, value: &str) -> Self {
        self.write_name(name, value.len());
        write_string(value, &mut self.0);
        self
    }

    /// Returns the object.
    pub fn build(mut self) -> RawJson {
        self.0.push(b'}');
        RawJson::trusted(self.0)
    }

    fn write_name(&mut self, name: &str, value_length: usize) {
        self.0.reserve(name.len() + value_length + MEMBER_OVERHEAD);
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        write_string(name, &mut self.0);
        self.0.push(b':');
    }
}

impl RawJson {
    /// Returns the object with those of the given members added at its end that it
    /// lacks. A value that is not an object is returned unchanged.
    #[must_use]
    pub fn with_defaults(&self, defaults: &[(&str, Json<'_>)]) -> RawJson {
        let view = self.view();
        if !view.is_object() || defaults.is_empty() {
            return self.clone();
        }
        if let Some((first, rest)) =
            defaults.split_at_checked(64).filter(|(_, rest)| !rest.is_empty())
        {
            return self.with_defaults(first).with_defaults(rest);
        }
        // One bit per default, set if the object lacks it.
        let mut missing = u64::MAX >> (64 - defaults.len());
        for (key, _) in view.members() {
            if let Some(index) = defaults.iter().position(|(name, _)| key.is(name)) {
                missing &= !(1 << index);
            }
        }
        let added = defaults.iter().enumerate().filter(|(index, _)| missing & (1 << index) != 0);
        self.with_members(added.map(|(_, member)| *member))
    }

    /// Returns the object with these members added at its end. The object must not have
    /// them already. A value that is not an object is returned unchanged.
    #[must_use]
    pub fn with_members<'m>(
        &self,
        members: impl Iterator<Item = (&'m str, Json<'m>)> + Clone,
    ) -> RawJson {
        let mut text = Vec::with_capacity(self.text().len() + added_length(members.clone()));
        text.extend_from_slice(self.text().as_bytes());
        add_members(&mut text, 0, members);
        RawJson::trusted(text)
    }

    /// Returns the object with one member added or replaced.
    #[must_use]
    pub fn with_member(&self, name: &str, value: Json<'_>) -> RawJson {
        let mut text = vec![b'{'];
        let kept = self.view().members().filter(|(key, _)| !key.is(name));
        for (key, json) in kept {
            write_string(&key.name(), &mut text);
            text.push(b':');
            text.extend_from_slice(json.bytes());
            text.push(b',');
        }
        write_string(name, &mut text);
        text.push(b':');
        text.extend_from_slice(value.bytes());
        text.push(b'}');
        RawJson::trusted(text)
    }
}

/// Returns the number of bytes that these members add to an object.
pub(crate) fn added_length<'m>(members: impl Iterator<Item = (&'m str, Json<'m>)>) -> usize {
    members.map(|(name, json)| name.len() + json.bytes().len() + 4).sum()
}

/// Adds members to the object that starts at `start` and ends the text. The object must
/// not have them already. A value that is not an object stays unchanged.
pub(crate) fn add_members<'m>(
    text: &mut Vec<u8>,
    start: usize,
    members: impl Iterator<Item = (&'m str, Json<'m>)>,
) {
    if text.pop_if(|last| *last == b'}').is_none() {
        return;
    }
    let mut empty = text[start..].trim_ascii_end() == b"{";
    for (name, json) in members {
        if !std::mem::replace(&mut empty, false) {
            text.push(b',');
        }
        write_string(name, text);
        text.push(b':');
        text.extend_from_slice(json.bytes());
    }
    text.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_their_text() {
        let value = RawJson::parse("[1.50, {}]").unwrap();
        let object = ObjectBuilder::with_capacity(0).json("a", value.view()).string("b\"", "\n");
        assert_eq!(object.build().text(), r#"{"a":[1.50, {}],"b\"":"\n"}"#);
        assert_eq!(ObjectBuilder::with_capacity(0).build(), RawJson::empty_object());
    }

    fn check(object: &str, defaults: &[(&str, &str)], expected: &str) {
        let object = RawJson::parse(object).unwrap();
        let texts: Vec<_> =
            defaults.iter().map(|(name, text)| (*name, RawJson::parse(text).unwrap())).collect();
        let views: Vec<_> = texts.iter().map(|(name, raw)| (*name, raw.view())).collect();
        assert_eq!(object.with_defaults(&views).text(), expected);
    }

    #[test]
    fn adds_only_missing_members_and_keeps_the_text_of_the_others() {
        check("{}", &[("a", "1")], r#"{"a":1}"#);
        check("{ }", &[("a", "1")], r#"{ "a":1}"#);
        check(r#"{"b": 1.50}"#, &[("a", "1"), ("c", "{}")], r#"{"b": 1.50,"a":1,"c":{}}"#);
        check(r#"{"a":2}"#, &[("a", "1")], r#"{"a":2}"#);
        check(r#"{"a":2}"#, &[("a", "1"), ("b", "[]")], r#"{"a":2,"b":[]}"#);
        check(r#"{"a":2}"#, &[], r#"{"a":2}"#);
        check("[1]", &[("a", "1")], "[1]");
    }

    #[test]
    fn adds_any_number_of_members() {
        let one = RawJson::parse("1").unwrap();
        let names: Vec<String> = (0..200).map(|index| format!("k{index}")).collect();
        let defaults: Vec<_> = names.iter().map(|name| (&**name, one.view())).collect();
        let object = RawJson::parse(r#"{"k150":0}"#).unwrap().with_defaults(&defaults);
        let members: Vec<_> = object.view().members().collect();
        assert_eq!(members.len(), 200);
        assert_eq!(object.view().get("k150").unwrap().as_i64(), Some(0));
    }

    #[test]
    fn replaces_a_member_of_the_same_name() {
        let object = RawJson::parse(r#"{"a":1,"b":{"c":2.0}}"#).unwrap();
        let value = RawJson::parse("true").unwrap();
        assert_eq!(object.with_member("a", value.view()).text(), r#"{"b":{"c":2.0},"a":true}"#);
        assert_eq!(RawJson::empty_object().with_member("x", value.view()).text(), r#"{"x":true}"#);
    }
}
