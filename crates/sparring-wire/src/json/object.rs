//! An object that is put together member by member.

use super::raw::RawJson;
use super::scan::write_string;
use super::view::Json;

/// What an object has in addition to the texts of its members, for each of them.
const AROUND: usize = 6;

/// An object in the making. Of which name is in it nothing is remembered: whoever
/// makes it sees to it that none is twice.
#[derive(Debug)]
pub struct ObjectBuilder(Vec<u8>);

impl ObjectBuilder {
    /// One without members, with room for so many bytes.
    pub fn with_room_for(bytes: usize) -> Self {
        let mut text = Vec::with_capacity(bytes + AROUND);
        text.push(b'{');
        ObjectBuilder(text)
    }

    /// Adds a value as it is spelled.
    #[must_use]
    pub fn json(mut self, name: &str, value: Json<'_>) -> Self {
        let value = value.bytes();
        self.name(name, value.len());
        self.0.extend_from_slice(value);
        self
    }

    /// Adds a string.
    #[must_use]
    pub fn string(mut self, name: &str, value: &str) -> Self {
        self.name(name, value.len());
        write_string(value, &mut self.0);
        self
    }

    /// The object.
    pub fn build(mut self) -> RawJson {
        self.0.push(b'}');
        RawJson::trusted(self.0)
    }

    fn name(&mut self, name: &str, value: usize) {
        self.0.reserve(name.len() + value + AROUND);
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        write_string(name, &mut self.0);
        self.0.push(b':');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_in_their_order_and_as_they_were_spelled() {
        let value = RawJson::parse("[1.50, {}]").unwrap();
        let object = ObjectBuilder::with_room_for(0).json("a", value.view()).string("b\"", "\n");
        assert_eq!(object.build().text(), r#"{"a":[1.50, {}],"b\"":"\n"}"#);
        assert_eq!(ObjectBuilder::with_room_for(0).build(), RawJson::empty_object());
    }
}
