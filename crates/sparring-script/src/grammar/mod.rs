//! What a file may say, as data: which keys there are, what stands below them,
//! and what they are for.
//!
//! From the same data a file is checked, a JSON Schema for editors is made and
//! the page of all keys, so none of them can know a key that the others do not.

mod check;
mod page;
mod schema;

pub use check::check;
pub use page::page;
pub use schema::schema;

/// What a value must look like.
#[derive(Debug)]
pub enum Shape {
    /// Anything.
    Any,
    /// A text.
    Text,
    /// One of these texts.
    Word(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// A whole number of at least this.
    Integer(i64),
    /// A number.
    Number,
    /// A time, as `200ms`.
    Duration,
    /// Values of one shape.
    List(&'static Shape),
    /// One value of a shape, or a list of them.
    OneOrMany(&'static Shape),
    /// Values of one shape under names of the user's.
    Map(&'static Shape),
    /// A map with known keys.
    Object(&'static Object),
    /// One of these.
    Either(&'static [Shape]),
}

/// A map with known keys.
#[derive(Debug)]
pub struct Object {
    /// What it is, with its article: `a tool`.
    pub name: &'static str,
    /// Its keys, in groups that several objects may share.
    pub keys: &'static [&'static [Key]],
}

/// A key and what stands below it.
#[derive(Debug)]
pub struct Key {
    /// Its name, in snake_case; the wire's camelCase is accepted too.
    pub name: &'static str,
    /// What stands below it.
    pub shape: &'static Shape,
    /// Whether it must be there.
    pub required: bool,
    /// What it is for, in one sentence.
    pub about: &'static str,
}

impl Key {
    /// A key that may be left out.
    pub const fn new(name: &'static str, shape: &'static Shape, about: &'static str) -> Self {
        Key { name, shape, required: false, about }
    }

    /// The same key, which must be there.
    #[must_use]
    pub const fn required(self) -> Self {
        Key { required: true, ..self }
    }
}

impl Object {
    /// Whether there is such a key.
    pub fn has(&self, name: &str) -> bool {
        self.all_keys().any(|key| key.name == name)
    }

    /// All of its keys.
    pub fn all_keys(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().flat_map(|group| group.iter())
    }
}

impl Shape {
    /// What it is, in words: `a list`.
    fn what(&self) -> String {
        match self {
            Shape::Any => "anything".to_owned(),
            Shape::Text => "a text".to_owned(),
            Shape::Word(words) => format!("one of {}", words.join(", ")),
            Shape::Bool => "true or false".to_owned(),
            Shape::Integer(least) => format!("a whole number of at least {least}"),
            Shape::Number => "a number".to_owned(),
            Shape::Duration => "a time such as 200ms".to_owned(),
            Shape::List(_) => "a list".to_owned(),
            Shape::OneOrMany(item) => format!("{} or a list", item.what()),
            Shape::Map(_) => "a map".to_owned(),
            Shape::Object(object) => format!("{}, which is a map", object.name),
            Shape::Either(shapes) => {
                shapes.iter().map(Shape::what).collect::<Vec<_>>().join(", or ")
            }
        }
    }
}
