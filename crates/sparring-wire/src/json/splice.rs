//! Adds members to an object that is otherwise left in its own spelling.

use super::raw::RawJson;
use super::scan::write_string;
use super::view::Json;

impl RawJson {
    /// The object with those members added, at its end, that it lacks. What is
    /// no object stays as it is.
    #[must_use]
    pub fn with_defaults(&self, defaults: &[(&str, Json<'_>)]) -> RawJson {
        let view = self.view();
        if !view.is_object() || defaults.is_empty() {
            return self.clone();
        }
        if let Some((some, rest)) =
            defaults.split_at_checked(64).filter(|(_, rest)| !rest.is_empty())
        {
            return self.with_defaults(some).with_defaults(rest);
        }
        // One bit a default: whether the object lacks it.
        let mut lacking = u64::MAX >> (64 - defaults.len());
        for (key, _) in view.members() {
            if let Some(index) = defaults.iter().position(|(name, _)| key.is(name)) {
                lacking &= !(1 << index);
            }
        }
        let lacked = defaults.iter().enumerate().filter(|(index, _)| lacking & (1 << index) != 0);
        self.with_more(lacked.map(|(_, member)| *member))
    }

    /// The object with those members added, at its end, which the caller knows
    /// that it lacks. What is no object stays as it is.
    #[must_use]
    pub fn with_more<'m>(
        &self,
        members: impl Iterator<Item = (&'m str, Json<'m>)> + Clone,
    ) -> RawJson {
        let mut text = Vec::with_capacity(self.text().len() + added_length(members.clone()));
        text.extend_from_slice(self.text().as_bytes());
        add_members(&mut text, 0, members);
        RawJson::trusted(text)
    }

    /// The object with one member set, in place of one of that name.
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

/// How many bytes these members add to an object.
pub(crate) fn added_length<'m>(members: impl Iterator<Item = (&'m str, Json<'m>)>) -> usize {
    members.map(|(name, json)| name.len() + json.bytes().len() + 4).sum()
}

/// Adds members, which it lacks, to the object that a text ends with and that
/// begins at `start`. What is no object stays as it is.
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

    fn check(object: &str, defaults: &[(&str, &str)], expected: &str) {
        let object = RawJson::parse(object).unwrap();
        let texts: Vec<_> =
            defaults.iter().map(|(name, text)| (*name, RawJson::parse(text).unwrap())).collect();
        let views: Vec<_> = texts.iter().map(|(name, raw)| (*name, raw.view())).collect();
        assert_eq!(object.with_defaults(&views).text(), expected);
    }

    #[test]
    fn adds_only_what_is_missing_and_leaves_the_rest_as_spelled() {
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
    fn sets_a_member_in_place_of_another() {
        let object = RawJson::parse(r#"{"a":1,"b":{"c":2.0}}"#).unwrap();
        let value = RawJson::parse("true").unwrap();
        assert_eq!(object.with_member("a", value.view()).text(), r#"{"b":{"c":2.0},"a":true}"#);
        assert_eq!(RawJson::empty_object().with_member("x", value.view()).text(), r#"{"x":true}"#);
    }
}
