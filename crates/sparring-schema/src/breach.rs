//! Where and how a value breaks a schema.

/// One place where a value is not as a schema wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// Where, as a JSON Pointer.
    pub pointer: String,
    /// The same, step by step.
    pub steps: Vec<Step>,
    /// What is wrong there. Long values are shortened in it.
    pub message: String,
    /// What sort of breach it is, as far as somebody may want to tell it apart.
    pub kind: Kind,
    /// How much of the message is the value that it begins with.
    pub(crate) subject: usize,
}

/// A sort of breach.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The object lacks a member.
    Missing(String),
    /// The object has members that it may not have.
    Unknown(Vec<String>),
    /// It could not be found out whether there is one.
    Unsure,
    /// Anything else.
    Other,
}

/// A step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To a member of an object.
    Name(String),
    /// To an item of an array.
    Index(usize),
}

impl Breach {
    /// The message with a word in the place of the value, where it begins with
    /// the value: `it is not of type "string"`.
    pub fn message_about(&self, subject: &str) -> String {
        match self.subject {
            0 => self.message.clone(),
            length => format!("{subject}{}", &self.message[length..]),
        }
    }
}

/// Adds a step to a JSON Pointer.
pub(crate) fn descend(pointer: &mut String, name: &str) {
    pointer.push('/');
    for character in name.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}
