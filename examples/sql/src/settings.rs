//! All settings of the server, as plain data.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::statements::Rules;

/// The database to serve, its rules and its limits.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The database.
    pub database: Location,
    /// A script that runs before the server starts. The rules do not apply to it.
    pub init: Option<PathBuf>,
    /// The rules for statements.
    pub rules: Rules,
    /// The limits of a statement.
    pub limits: Limits,
    /// Refuses to serve anything.
    pub disable_serving: bool,
}

/// The location of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Location {
    /// In memory; it is lost when the server ends.
    #[default]
    Memory,
    /// In this file, which is created if it does not exist.
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

/// The limits of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum rows of a result.
    pub max_rows: usize,
    /// Approximate maximum bytes of a result's rows.
    pub max_bytes: usize,
    /// Maximum run time of a statement.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_rows: 1_000, max_bytes: 4 * 1024 * 1024, timeout: Duration::from_secs(10) }
    }
}
