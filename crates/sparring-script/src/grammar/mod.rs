//! The grammar of a file as data: its keys, the shapes of their values, and their
//! descriptions.
//!
//! The check of a file, the JSON Schema for editors and the key reference all use the
//! same grammar, so they always know the same keys.

mod check;
mod json_schema;
mod key_reference;

pub use check::check_node;
pub use json_schema::json_schema;
pub use key_reference::render_key_reference;

use crate::casing::to_snake_case;
use crate::matcher::Subject;
use crate::suggestion::nearest_names;

/// The allowed shape of a value.
#[derive(Debug)]
pub enum Shape {
    /// Any value.
    Any,
    /// A string.
    String,
    /// One of these strings.
    Keyword(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// An integer of at least this.
    Integer(i64),
    /// A number.
    Number,
    /// A duration such as `200ms`.
    Duration,
    /// A list whose items have one shape.
    List(&'static Shape),
    /// One value of a shape, or a list of one or more such values.
    OneOrMany(&'static Shape),
    /// One value of a shape, or a list of such values, which may be empty.
    AnyNumber(&'static Shape),
    /// A list or a map that is not empty.
    NonEmpty(&'static Shape),
    /// A map with the user's own keys, whose values have one shape.
    Map(&'static Shape),
    /// A map with known keys.
    Object(&'static Object),
    /// A value of one of these shapes.
    AnyOf(&'static [Shape]),
    /// A value of a shape, or a string with a template.
    OrTemplate(&'static Shape),
    /// A matcher of values of this kind.
    Matcher(&'static Subject),
}

/// A map with known keys.
#[derive(Debug)]
pub struct Object {
    /// The name of the object with its article: `a tool`.
    pub name: &'static str,
    /// The keys, in groups that several objects may share.
    pub keys: &'static [&'static [Key]],
}

/// A key of an object.
#[derive(Debug)]
pub struct Key {
    /// The name in snake_case. Files may also use the camelCase of the wire.
    pub name: &'static str,
    /// The shape of the value.
    pub shape: &'static Shape,
    /// True if the key is required.
    pub required: bool,
    /// The description, in one sentence.
    pub about: &'static str,
    /// Unknown names, in snake_case, for which a message suggests this key.
    pub synonyms: &'static [&'static str],
}

impl Key {
    /// Creates an optional key.
    pub const fn new(name: &'static str, shape: &'static Shape, about: &'static str) -> Self {
        Key { name, shape, required: false, about, synonyms: &[] }
    }

    /// Adds names for which a message suggests this key.
    #[must_use]
    pub const fn synonyms(self, synonyms: &'static [&'static str]) -> Self {
        Key { synonyms, ..self }
    }

    /// Makes the key required.
    #[must_use]
    pub const fn required(self) -> Self {
        Key { required: true, ..self }
    }
}

impl Object {
    /// Returns true if the object has a key of this name.
    pub fn has_key(&self, name: &str) -> bool {
        self.all_keys().any(|key| key.name == name)
    }

    /// Returns the keys that an unknown name most probably stands for: synonyms first, then
    /// similar names.
    pub fn nearest_keys(&self, name: &str) -> Vec<&'static str> {
        let written = to_snake_case(name);
        let is_synonym = |key: &&Key| key.synonyms.contains(&&*written);
        let meant: Vec<&str> = self.all_keys().filter(is_synonym).map(|key| key.name).collect();
        match meant.is_empty() {
            false => meant,
            true => nearest_names(name, self.all_keys().map(|key| key.name)),
        }
    }

    /// Returns the keys of all groups.
    pub fn all_keys(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().flat_map(|group| group.iter())
    }
}

impl Shape {
    /// Describes the shape with its article: `a list`.
    fn describe(&self) -> String {
        match self {
            Shape::Any | Shape::Matcher(_) => "any value".to_owned(),
            Shape::String => "a string".to_owned(),
            Shape::Keyword(words) => format!("one of {}", words.join(", ")),
            Shape::Bool => "true or false".to_owned(),
            Shape::Integer(least) => format!("an integer of at least {least}"),
            Shape::Number => "a number".to_owned(),
            Shape::Duration => "a duration such as 200ms".to_owned(),
            Shape::List(_) => "a list".to_owned(),
            Shape::OneOrMany(item) | Shape::AnyNumber(item) => {
                format!("{} or a list", item.describe())
            }
            Shape::NonEmpty(shape) | Shape::OrTemplate(shape) => shape.describe(),
            Shape::Map(_) => "a map".to_owned(),
            Shape::Object(object) => format!("{} (a map)", object.name),
            Shape::AnyOf(shapes) => {
                shapes.iter().map(Shape::describe).collect::<Vec<_>>().join(", or ")
            }
        }
    }
}
