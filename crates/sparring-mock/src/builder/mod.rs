//! Builds a mock in Rust with the keys of a script: methods for the common keys, `with` for all
//! others.
//!
//! The result is loaded like a script, so builder and file have the same features. Texts are
//! templates.

mod entry;
#[cfg(feature = "oauth")]
mod issuer;
#[cfg(feature = "llm")]
mod llm;

use std::path::Path;

use serde_json::{Map, Value, json};
use sparring_script::{Problems, Source};

use crate::load::Settings;
use crate::server::MockServer;

pub use entry::{PromptMock, Reply, ResourceMock, TemplateMock, ToolMock};
#[cfg(feature = "oauth")]
pub use issuer::IssuerBuilder;
#[cfg(feature = "llm")]
pub use llm::{LlmBuilder, LlmTurn};

/// Builds a [`MockServer`].
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use = "a builder does nothing until it builds"]
pub struct MockBuilder {
    script: Map<String, Value>,
    settings: Settings,
}

impl MockBuilder {
    /// Sets name and version of the server.
    pub fn server(self, name: &str, version: &str) -> Self {
        self.with("server", json!({"name": name, "version": version}))
    }

    /// Adds a tool.
    pub fn tool(self, tool: ToolMock) -> Self {
        self.push("tools", tool.into())
    }

    /// Adds a resource.
    pub fn resource(self, resource: ResourceMock) -> Self {
        self.push("resources", resource.into())
    }

    /// Adds a resource template.
    pub fn template(self, template: TemplateMock) -> Self {
        self.push("templates", template.into())
    }

    /// Adds a prompt.
    pub fn prompt(self, prompt: PromptMock) -> Self {
        self.push("prompts", prompt.into())
    }

    /// Sets any key of a script.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.script.insert(key.to_owned(), value.into());
        self
    }

    /// Allows replies to run programs.
    pub fn allow_exec(mut self) -> Self {
        self.settings.allow_exec = true;
        self
    }

    /// Sets the TLS options for requests to HTTP servers.
    #[cfg(feature = "http")]
    pub fn trust(mut self, tls: sparring_transport::http::Tls) -> Self {
        self.settings.tls = tls;
        self
    }

    fn push(mut self, list: &str, entry: Value) -> Self {
        let list = self.script.entry(list).or_insert_with(|| json!([]));
        if let Value::Array(entries) = list {
            entries.push(entry);
        }
        self
    }

    /// Loads the mock. Paths are relative to the current folder.
    ///
    /// # Errors
    /// If something is wrong, with all problems at once. Positions are those in the generated
    /// JSON.
    pub fn build(self) -> Result<MockServer, Problems> {
        let source = Source::new("builder", format!("{:#}", Value::Object(self.script)));
        MockServer::load(&source, Path::new(""), &self.settings)
    }
}

/// An issuer or LLM endpoint could not be started.
#[cfg(any(feature = "llm", feature = "oauth"))]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A value is wrong.
    #[error("{0}")]
    Script(#[from] Problems),
    /// Cannot listen on the address.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// The error of the operating system.
        error: std::io::Error,
    },
}
