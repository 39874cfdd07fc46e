//! A mock written in Rust: the same language, key by key, with methods for what
//! is said most often and `with` for everything else.
//!
//! What is built is read as a script is, so that nothing can be said here that
//! a file could not say, and the other way round. Texts are templates.

mod entry;
#[cfg(feature = "oauth")]
mod issuer;
#[cfg(feature = "llm")]
mod llm;
mod reply;
#[cfg(any(feature = "llm", feature = "oauth"))]
mod start_error;

use std::path::Path;

use serde_json::{Map, Value, json};
use sparring_script::{Problems, Source};

use crate::load::Settings;
use crate::server::MockServer;

pub use entry::{PromptMock, ResourceMock, TemplateMock, ToolMock};
#[cfg(feature = "oauth")]
pub use issuer::IssuerBuilder;
#[cfg(feature = "llm")]
pub use llm::{LlmBuilder, LlmTurn};
pub use reply::Reply;
#[cfg(any(feature = "llm", feature = "oauth"))]
pub use start_error::StartError;

/// A mock to be.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use = "a builder does nothing until it builds"]
pub struct MockBuilder {
    script: Map<String, Value>,
    settings: Settings,
}

impl MockBuilder {
    /// Says who the server is.
    pub fn server(self, name: &str, version: &str) -> Self {
        self.with("server", json!({"name": name, "version": version}))
    }

    /// Adds a tool.
    pub fn tool(self, tool: ToolMock) -> Self {
        self.and("tools", tool.into())
    }

    /// Adds a resource.
    pub fn resource(self, resource: ResourceMock) -> Self {
        self.and("resources", resource.into())
    }

    /// Adds a resource template.
    pub fn template(self, template: TemplateMock) -> Self {
        self.and("templates", template.into())
    }

    /// Adds a prompt.
    pub fn prompt(self, prompt: PromptMock) -> Self {
        self.and("prompts", prompt.into())
    }

    /// Sets any key that a script can have.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.script.insert(key.to_owned(), value.into());
        self
    }

    /// Lets replies run programs.
    pub fn allow_exec(mut self) -> Self {
        self.settings.allow_exec = true;
        self
    }

    /// Says whom to trust when an HTTP server is asked for an answer over TLS.
    #[cfg(feature = "http")]
    pub fn trust(mut self, tls: sparring_transport::http::Tls) -> Self {
        self.settings.tls = tls;
        self
    }

    fn and(mut self, list: &str, entry: Value) -> Self {
        let list = self.script.entry(list).or_insert_with(|| json!([]));
        if let Value::Array(entries) = list {
            entries.push(entry);
        }
        self
    }

    /// Reads what was said, as a script is read; files are looked for from the
    /// folder on in which the program runs.
    ///
    /// # Errors
    /// When something of it is wrong; all that is wrong is told at once, in the
    /// lines of the JSON that was built.
    pub fn build(self) -> Result<MockServer, Problems> {
        let source = Source::new("builder", format!("{:#}", Value::Object(self.script)));
        MockServer::load(&source, Path::new(""), &self.settings)
    }
}
