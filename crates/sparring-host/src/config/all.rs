//! All that is configured, and what is wrong with it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sparring_script::{Problems, Source, Span, did_you_mean};

use super::merge;
use super::places::Places;
use super::read::File;
use super::server::{Origin, Rules, Scope, ServerConfig};
use super::surroundings::Surroundings;

/// All that the files say together.
#[derive(Debug)]
pub struct Config {
    /// The servers, by name.
    pub servers: BTreeMap<String, Configured>,
    /// Entries in whose place others are.
    pub unused: Vec<Unused>,
    /// What files say of the tools of all servers.
    pub rules: Vec<FileRules>,
    /// What is wrong with files, beside their entries.
    pub faults: Vec<Fault>,
    /// What is worth knowing, each with its place.
    pub notes: Vec<String>,
    /// The files that were looked for, whether they are there or not.
    pub files: Vec<File>,
    /// Where the patterns of all rules stand.
    pub(super) patterns: Vec<Pattern>,
}

/// A pattern of a rule, and where it stands.
#[derive(Debug)]
pub(super) struct Pattern {
    /// The server in whose entry it stands.
    pub(super) server: Option<String>,
    pub(super) pattern: String,
    pub(super) source: Source,
    pub(super) span: Span,
}

/// An entry that counts.
#[derive(Debug)]
pub struct Configured {
    /// Where it stands.
    pub origin: Origin,
    /// The way to the server: `stdio`, `http`, `sse`, or `?` where that cannot
    /// be said.
    pub transport: &'static str,
    /// Its command line or its URL as the file spells it, with nothing filled in.
    pub spelled: String,
    /// Whether it may be connected to at all.
    pub enabled: bool,
    /// What can be done with it.
    pub state: State,
}

/// What can be done with an entry.
#[derive(Debug)]
pub enum State {
    /// It can be connected to, if it is enabled.
    Ready(Box<ServerConfig>),
    /// It could be, but nobody said that they trust its file.
    Untrusted(Untrusted),
    /// It cannot be used, for these reasons.
    Broken(Problems),
}

/// A server that nothing is started of without consent.
#[derive(Debug)]
pub struct Untrusted(pub(super) Box<ServerConfig>);

/// An entry that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unused {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub origin: Origin,
    /// The way to the server, as [`Configured::transport`].
    pub transport: &'static str,
    /// Its command line or its URL as the file spells it.
    pub spelled: String,
    /// Why it does not count.
    pub why: Why,
}

/// Why an entry does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Another of its name stands in a file that goes before.
    Overridden,
    /// Its file is not trusted, and so does not take the place of one that is.
    Untrusted,
}

/// What a file says of the tools of all servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRules {
    /// The file.
    pub file: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// What it says. Of one that is not trusted, only what takes something away.
    pub rules: Rules,
}

/// What is wrong with a file beside its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It cannot be read.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// Something in it is wrong.
    Wrong(Problems),
}

/// Why a server that somebody named cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is none of that name.
    #[error("no server is called `{name}`{help}")]
    Unknown {
        /// The name.
        name: String,
        /// What may have been meant, and what there is.
        help: String,
    },
    /// It is not enabled.
    #[error("the server `{name}` is not enabled in {}", origin.file.display())]
    Disabled {
        /// The name.
        name: String,
        /// Where that was said.
        origin: Origin,
    },
    /// Its entry cannot be used.
    #[error("{0}")]
    Broken(Problems),
}

impl Config {
    /// Reads all files that there are.
    ///
    /// Nothing that is wrong with a file or an entry is an error here: it is
    /// told beside what can be used.
    pub fn read(places: &Places, surroundings: &Surroundings) -> Config {
        merge::read(places, surroundings)
    }

    /// The servers that can be connected to: trusted, enabled, and nothing is
    /// wrong with them.
    pub fn ready(&self) -> impl Iterator<Item = &ServerConfig> {
        self.servers.values().filter_map(|configured| match &configured.state {
            State::Ready(server) if server.enabled => Some(&**server),
            _ => None,
        })
    }

    /// The server of a name that the user just said, which is their consent to
    /// that entry, this time.
    ///
    /// # Errors
    /// When there is none, or it cannot be used.
    pub fn by_consent(&self, name: &str) -> Result<&ServerConfig, Refusal> {
        let Some(configured) = self.servers.get(name) else {
            return Err(Refusal::Unknown { name: name.to_owned(), help: self.help(name) });
        };
        let server = match &configured.state {
            State::Ready(server) | State::Untrusted(Untrusted(server)) => server,
            State::Broken(problems) => return Err(Refusal::Broken(problems.clone())),
        };
        match server.enabled {
            true => Ok(server),
            false => {
                let origin = configured.origin.clone();
                Err(Refusal::Disabled { name: name.to_owned(), origin })
            }
        }
    }

    /// Whether nothing at all is wrong.
    pub fn is_sound(&self) -> bool {
        let is_broken = |it: &Configured| matches!(it.state, State::Broken(_));
        self.faults.is_empty() && !self.servers.values().any(is_broken)
    }

    /// What is wrong with a pattern, told wherever it stands: in the entry of a
    /// server, or beside all of them.
    pub fn wrong_pattern(
        &self,
        server: Option<&str>,
        pattern: &str,
        message: &str,
    ) -> Vec<Problems> {
        let is_meant = |it: &&Pattern| it.server.as_deref() == server && it.pattern == pattern;
        let told = self.patterns.iter().filter(is_meant).map(|it| {
            let mut problems = Problems::new(&it.source);
            problems.add(it.span, message);
            problems
        });
        told.collect()
    }

    fn help(&self, name: &str) -> String {
        if self.servers.is_empty() {
            return "; none is configured".to_owned();
        }
        let names = || self.servers.keys().map(String::as_str);
        let meant = did_you_mean(name, names()).map(|meant| format!("; {meant}"));
        let all: Vec<&str> = names().collect();
        format!("; there is {}{}", all.join(", "), meant.unwrap_or_default())
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Unreadable { file, why } => {
                write!(f, "{} cannot be read: {why}", file.display())
            }
            Fault::Wrong(problems) => write!(f, "{problems}"),
        }
    }
}
