//! The merged configuration of all files, and its problems.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use sparring_script::{Problems, Source, Span, did_you_mean};

use super::config_context::ConfigContext;
use super::locations::ConfigLocations;
use super::merge;
use super::read::File;
use super::server_config::{Origin, Rules, Scope, ServerConfig};

/// The merged configuration of all files.
#[derive(Debug)]
pub struct Config {
    /// The servers, by name.
    pub servers: BTreeMap<String, ConfiguredServer>,
    /// Entries that are not used, because another entry has the same name.
    pub unused: Vec<UnusedEntry>,
    /// The rules of files for the tools of all servers.
    pub rules: Vec<FileRules>,
    /// The folders that trusted files give servers to work in.
    pub roots: Vec<PathBuf>,
    /// Problems of files outside of their entries.
    pub faults: Vec<FileProblem>,
    /// Notes, each with its position.
    pub notes: Vec<String>,
    /// All searched files, including those that do not exist.
    pub files: Vec<File>,
    /// The positions of all patterns of rules.
    pub(super) patterns: Vec<LocatedPattern>,
}

/// A pattern of a rule with its position.
#[derive(Debug)]
pub(super) struct LocatedPattern {
    /// The server whose entry contains it.
    pub(super) server: Option<String>,
    pub(super) pattern: String,
    pub(super) source: Source,
    pub(super) span: Span,
}

/// An entry that is used.
#[derive(Debug)]
pub struct ConfiguredServer {
    /// The position of the entry.
    pub origin: Origin,
    /// The transport: `stdio`, `http`, `sse`, or `?` if it is unknown.
    pub transport: &'static str,
    /// Its command line or URL as written in the file, with unexpanded
    /// variables.
    pub spelled: String,
    /// The entry with the keys of `mcp.yaml`. Stars replace literal secrets, and variables are
    /// not expanded.
    pub entry: Value,
    /// True if it may be connected.
    pub enabled: bool,
    /// The usability of the entry.
    pub state: EntryState,
}

/// The usability of an entry.
#[derive(Debug)]
pub enum EntryState {
    /// It can be connected, if it is enabled.
    Ready(Box<ServerConfig>),
    /// Its file is not trusted.
    Untrusted(UntrustedServer),
    /// It is invalid.
    Invalid(Problems),
}

/// A server of an untrusted file, which is not started without consent.
#[derive(Debug)]
pub struct UntrustedServer(pub(super) Box<ServerConfig>);

/// An entry that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedEntry {
    /// Its name.
    pub name: String,
    /// The position of the entry.
    pub origin: Origin,
    /// The transport, as in [`ConfiguredServer::transport`].
    pub transport: &'static str,
    /// Its command line or URL as written in the file.
    pub spelled: String,
    /// The reason.
    pub why: UnusedReason,
}

/// Why an entry is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnusedReason {
    /// A file with higher precedence has an entry of the same name.
    Overridden,
    /// Its file is not trusted, so it does not override a trusted entry.
    Untrusted,
}

/// The rules of a file for the tools of all servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRules {
    /// The file.
    pub file: PathBuf,
    /// The scope of the file.
    pub scope: Scope,
    /// The rules. An untrusted file cannot allow anything.
    pub rules: Rules,
}

/// A problem of a file outside of its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileProblem {
    /// The file cannot be read.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason.
        why: String,
    },
    /// The contents are invalid.
    Invalid(Problems),
}

/// Why a server cannot be selected by name.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// No server has this name.
    #[error("no server named `{name}`{help}")]
    Unknown {
        /// The name.
        name: String,
        /// The configured names, with a suggestion.
        help: String,
    },
    /// The server is disabled.
    #[error("server `{name}` is disabled in {}", origin.file.display())]
    Disabled {
        /// The name.
        name: String,
        /// The position of the entry.
        origin: Origin,
    },
    /// Its entry is invalid.
    #[error("{0}")]
    Invalid(Problems),
}

impl Config {
    /// Reads all files.
    ///
    /// An invalid file or entry is not an error here: its problems are part of
    /// the result.
    pub fn read(locations: &ConfigLocations, config_context: &ConfigContext) -> Config {
        merge::read_all(locations, config_context)
    }

    /// The servers that can be connected: trusted, enabled and valid.
    pub fn ready(&self) -> impl Iterator<Item = &ServerConfig> {
        self.servers.values().filter_map(|configured| match &configured.state {
            EntryState::Ready(server) if server.enabled => Some(&**server),
            _ => None,
        })
    }

    /// The server that the user named, which counts as consent to its entry for
    /// this run.
    ///
    /// # Errors
    /// If there is no such server, or it cannot be used.
    pub fn server_by_name(&self, name: &str) -> Result<&ServerConfig, LookupError> {
        let Some(configured) = self.servers.get(name) else {
            return Err(LookupError::Unknown {
                name: name.to_owned(),
                help: self.suggestions(name),
            });
        };
        let server = match &configured.state {
            EntryState::Ready(server) | EntryState::Untrusted(UntrustedServer(server)) => server,
            EntryState::Invalid(problems) => return Err(LookupError::Invalid(problems.clone())),
        };
        match server.enabled {
            true => Ok(server),
            false => {
                let origin = configured.origin.clone();
                Err(LookupError::Disabled { name: name.to_owned(), origin })
            }
        }
    }

    /// Returns true if there are no problems.
    pub fn is_valid(&self) -> bool {
        let is_broken = |it: &ConfiguredServer| matches!(it.state, EntryState::Invalid(_));
        self.faults.is_empty() && !self.servers.values().any(is_broken)
    }

    /// A problem of a pattern for each of its positions: in the entry of a
    /// server, or outside of all entries.
    pub fn pattern_problems(
        &self,
        server: Option<&str>,
        pattern: &str,
        message: &str,
    ) -> Vec<Problems> {
        let is_same =
            |it: &&LocatedPattern| it.server.as_deref() == server && it.pattern == pattern;
        let problems = self.patterns.iter().filter(is_same).map(|it| {
            let mut problems = Problems::new(&it.source);
            problems.add(it.span, message);
            problems
        });
        problems.collect()
    }

    fn suggestions(&self, name: &str) -> String {
        if self.servers.is_empty() {
            return "; no servers are configured".to_owned();
        }
        let names = || self.servers.keys().map(String::as_str);
        let meant = did_you_mean(name, names()).map(|meant| format!("; {meant}"));
        let all: Vec<&str> = names().collect();
        format!("; configured: {}{}", all.join(", "), meant.unwrap_or_default())
    }
}

impl std::fmt::Display for FileProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FileProblem::Unreadable { file, why } => {
                write!(f, "cannot read {}: {why}", file.display())
            }
            FileProblem::Invalid(problems) => write!(f, "{problems}"),
        }
    }
}
