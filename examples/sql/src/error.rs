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
    #[error("the statement has {0} bytes, and {1} are the most; give large values as params")]
    TooLong(usize, usize),
    /// The statement exceeded its timeout.
    #[error("the statement was stopped, because it took longer than {0:?}")]
    Late(Duration),
    /// The caller gave up.
    #[error("the statement was stopped, because nobody waits for it any more")]
    GivenUp,
    /// The parameters do not match the statement.
    #[error("{0}")]
    Params(String),
    /// The table does not exist.
    #[error("there is no table or view `{name}`; there are: {}", list(.there))]
    NoTable {
        /// The requested name.
        name: String,
        /// The existing tables and views.
        there: Vec<String>,
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
    #[error("the database {place} cannot be opened: {error}")]
    Database {
        /// The path of the database.
        place: String,
        /// SQLite's error.
        error: rusqlite::Error,
    },
    /// The schema of the database cannot be read.
    #[error("the tables of {place} cannot be read: {error}")]
    Tables {
        /// The path of the database.
        place: String,
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
    const MOST: usize = 20;
    match names.len() {
        0 => "none".to_owned(),
        count if count > MOST => {
            format!("{} and {} more", names[..MOST].join(", "), count - MOST)
        }
        _ => names.join(", "),
    }
}
