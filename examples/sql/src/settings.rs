//! All that the server can be told, as plain data.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::statements::Rules;

/// Which database is served, and what may be done with it.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The database.
    pub database: Location,
    /// Statements to be run before anybody is served, without rules.
    pub init: Option<PathBuf>,
    /// Which statements may run.
    pub rules: Rules,
    /// How much a statement may take and give.
    pub limits: Limits,
    /// Nothing is served, whoever asks for it.
    pub disable_serving: bool,
}

/// Where a database is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Location {
    /// In memory, and gone with the server.
    #[default]
    Memory,
    /// In this file, which is made unless it is there.
    File(PathBuf),
}

impl From<&str> for Location {
    fn from(text: &str) -> Self {
        match text {
            ":memory:" => Location::Memory,
            path => Location::File(path.into()),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Memory => f.write_str(":memory:"),
            Location::File(path) => path.display().fmt(f),
        }
    }
}

/// How much a statement may take and give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most rows of a result.
    pub max_rows: usize,
    /// The most bytes of a result's rows, about.
    pub max_bytes: usize,
    /// How long a statement may run.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_rows: 1_000, max_bytes: 4 * 1024 * 1024, timeout: Duration::from_secs(10) }
    }
}
