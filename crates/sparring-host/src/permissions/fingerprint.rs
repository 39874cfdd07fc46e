//! Fingerprints of servers, for grants and sessions.

use std::path::Path;
use std::sync::Arc;

use ring::digest::{Context, SHA256};
use sparring_transport::{ChildTarget, Target};

use crate::config::{Scope, ServerConfig};

/// A digest of a server's command with its directory and the names of its variables, or
/// of its URL. For a project's server it includes the path of its file. Values of
/// variables, headers and credentials are left out:
/// they are secrets, and they change while the server stays the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(Arc<str>);

impl Fingerprint {
    /// Computes the fingerprint of a server.
    pub fn from_server(server: &ServerConfig) -> Fingerprint {
        let mut digest = FieldHasher(Context::new(&SHA256));
        match server.origin.scope {
            Scope::User => digest.add("user"),
            Scope::Project => digest.add("project").add_path(Some(&server.origin.file)),
        };
        match &server.target {
            Target::Child(child) => digest.add("child").add_command(child),
            Target::Container(container) => {
                digest.add("container").add(&container.name).add_all(&container.engine);
                digest.add_all(&container.flags).add_command(&container.command)
            }
            #[cfg(unix)]
            Target::Unix(socket) => digest.add("unix").add_path(Some(&socket.path)),
            Target::Http(http) => digest.add("http").add(&http.url),
            // Its `Debug` output hides secrets.
            other => digest.add(&format!("{other:?}")),
        };
        let bytes = digest.0.finish();
        let digits: String = bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Fingerprint(digits.into())
    }

    /// The hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

struct FieldHasher(Context);

impl FieldHasher {
    /// Adds the length before each part, so that parts cannot run together.
    fn add_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    fn add(&mut self, text: &str) -> &mut Self {
        self.add_bytes(text.as_bytes())
    }

    fn add_all<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) -> &mut Self {
        let texts: Vec<_> = texts.into_iter().collect();
        self.add_bytes(&(texts.len() as u64).to_le_bytes());
        texts.into_iter().fold(self, |digest, text| digest.add(text))
    }

    fn add_path(&mut self, path: Option<&Path>) -> &mut Self {
        match path {
            Some(path) => self.add("at").add_bytes(path.as_os_str().as_encoded_bytes()),
            None => self.add("nowhere"),
        }
    }

    fn add_command(&mut self, command: &ChildTarget) -> &mut Self {
        self.add(&command.program).add_all(&command.args).add_path(command.cwd.as_deref());
        self.add_all(command.env.keys())
    }
}
