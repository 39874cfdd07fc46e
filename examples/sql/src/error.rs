//! The errors of a call, and the errors of opening a database.

use std::path::PathBuf;
use std::time::Duration;

use crate::statements::{NotOne, Refusal};

/// The reason why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not exactly one statement.
    #[error(transparent)]
    NotOne(#[from] NotOne),
    /// A rule denies the statement.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The statement is longer than the limit.
    #[error("the statement has {0} bytes, but the maximum is {1}; pass large values in params")]
    TooLong(usize, usize),
    /// The statement exceeded its timeout.
    #[error("the statement was stopped, because it took longer than {0:?}")]
    TimedOut(Duration),
    /// The caller cancelled the request.
    #[error("the statement was stopped, because its request was cancelled")]
    Cancelled,
    /// The parameters do not match the statement.
    #[error("{0}")]
    Params(String),
    /// The table does not exist.
    #[error("unknown table or view `{name}`; existing: {}", list(.existing))]
    NoTable {
        /// The requested name.
        name: String,
        /// The existing tables and views.
        existing: Vec<String>,
    },
    /// SQLite cannot parse the statement, or it does not match the schema.
    #[error("SQLite: {message} (at byte {offset})")]
    Sql {
        /// SQLite's message.
        message: String,
        /// The byte offset in the statement.
        offset: i32,
    },
    /// Another error of SQLite.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The database's thread has ended.
    #[error("the database is closed")]
    Closed,
}

/// The reason why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The settings disable serving.
    #[error("serving is disabled by the settings (--disable-serving)")]
    ServingDisabled,
    /// The database cannot be opened.
    #[error("the database {location} cannot be opened: {error}")]
    Database {
        /// The path of the database.
        location: String,
        /// SQLite's error.
        error: rusqlite::Error,
    },
    /// The schema of the database cannot be read.
    #[error("the tables of {location} cannot be read: {error}")]
    Tables {
        /// The path of the database.
        location: String,
        /// The error of the query.
        error: Error,
    },
    /// The init script cannot be read.
    #[error("{}: {error}", .path.display())]
    Script {
        /// The path of the script.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The init script failed.
    #[error("{}: SQLite: {error}", .path.display())]
    Init {
        /// The path of the script.
        path: PathBuf,
        /// SQLite's error.
        error: rusqlite::Error,
    },
    /// The init script needs to write, but the file is opened read-only.
    #[error("--init writes, and {0} is opened read-only")]
    InitReadOnly(String),
    /// The database thread cannot be started.
    #[error("no thread can be started for the database: {0}")]
    Thread(std::io::Error),
}

fn list(names: &[String]) -> String {
    const MAX_NAMES: usize = 20;
    match names.len() {
        0 => "none".to_owned(),
        count if count > MAX_NAMES => {
            format!("{} and {} more", names[..MAX_NAMES].join(", "), count - MAX_NAMES)
        }
        _ => names.join(", "),
    }
}
