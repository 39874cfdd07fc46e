//! Tools, resources, templates and prompts, written in Rust.

use serde_json::{Map, Value, json};

use super::Reply;

/// An entry of one kind, with what all kinds can say.
macro_rules! entry {
    ($(#[$about:meta])* $name:ident, $key:literal) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        #[must_use = "an entry does nothing until it is given to a mock"]
        pub struct $name(Map<String, Value>);

        impl $name {
            #[doc = concat!("One with this `", $key, "`, and no reply yet.")]
            pub fn new(id: impl Into<String>) -> Self {
                $name(Map::from_iter([($key.to_owned(), Value::String(id.into()))]))
            }

            /// Says what it is.
            pub fn described(self, description: impl Into<String>) -> Self {
                self.with("description", description.into())
            }

            /// Adds a reply; the first that fits is given.
            pub fn reply(mut self, reply: Reply) -> Self {
                let list = self.0.entry("replies").or_insert_with(|| json!([]));
                if let Value::Array(replies) = list {
                    replies.push(reply.into());
                }
                self
            }

            /// Sets any key that it can have.
            pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
                self.0.insert(key.to_owned(), value.into());
                self
            }
        }

        impl From<$name> for Value {
            fn from(entry: $name) -> Self {
                Value::Object(entry.0)
            }
        }
    };
}

entry! {
    /// A tool.
    ToolMock, "name"
}

entry! {
    /// A resource.
    ResourceMock, "uri"
}

entry! {
    /// A resource template.
    TemplateMock, "uri_template"
}

entry! {
    /// A prompt.
    PromptMock, "name"
}

impl ToolMock {
    /// Says what arguments it takes, in short: `{"city": "string"}`.
    pub fn input(self, arguments: impl Into<Value>) -> Self {
        self.with("input", arguments)
    }
}
