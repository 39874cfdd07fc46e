//! Builders of tools, resources, templates, prompts and their replies.

use serde_json::{Map, Value, json};

/// Defines the builder of one kind of entry.
macro_rules! entry {
    ($(#[$about:meta])* $name:ident, $key:literal) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        #[must_use = "an entry does nothing until it is given to a mock"]
        pub struct $name(Map<String, Value>);

        impl $name {
            #[doc = concat!("Creates one with this `", $key, "` and no replies.")]
            pub fn new(id: impl Into<String>) -> Self {
                $name(Map::from_iter([($key.to_owned(), Value::String(id.into()))]))
            }

            /// Sets the description.
            pub fn description(self, description: impl Into<String>) -> Self {
                self.with("description", description.into())
            }

            /// Adds a reply. A request gets the first reply that matches.
            pub fn reply(mut self, reply: Reply) -> Self {
                let list = self.0.entry("replies").or_insert_with(|| json!([]));
                if let Value::Array(replies) = list {
                    replies.push(reply.into());
                }
                self
            }

            /// Sets any key of the entry.
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
    /// Sets its arguments in short form: `{"city": "string"}`.
    pub fn input(self, arguments: impl Into<Value>) -> Self {
        self.with("input", arguments)
    }
}

/// A reply of a tool, a resource or a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use = "a reply does nothing until it is given to an entry"]
pub struct Reply(Map<String, Value>);

impl Reply {
    /// Replies with a text, which is a template.
    pub fn text(text: impl Into<String>) -> Self {
        Reply::default().with("text", text.into())
    }

    /// Replies with a value as JSON text.
    pub fn json(value: impl Into<Value>) -> Self {
        Reply::default().with("json", value)
    }

    /// Replies with structured content, and the same as JSON text.
    pub fn structured(value: impl Into<Value>) -> Self {
        Reply::default().with("structured", value)
    }

    /// Replies with a JSON-RPC error.
    pub fn error(code: i64, message: impl Into<String>) -> Self {
        Reply::default().with("error", json!({"code": code, "message": message.into()}))
    }

    /// Replies with a text and `isError`.
    pub fn failure(text: impl Into<String>) -> Self {
        Reply::text(text).with("is_error", true)
    }

    /// Gives the reply only if the arguments match.
    pub fn when_args(mut self, matcher: impl Into<Value>) -> Self {
        let when = self.0.entry("when").or_insert_with(|| json!({}));
        when["args"] = matcher.into();
        self
    }

    /// Limits the number of times that the reply is given.
    pub fn times(self, times: u64) -> Self {
        self.with("times", times)
    }

    /// Sets any key of a reply.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }
}

impl From<Reply> for Value {
    fn from(reply: Reply) -> Self {
        Value::Object(reply.0)
    }
}
