//! What can go wrong with a call, and what can go wrong with opening a database.

use std::path::PathBuf;
use std::time::Duration;

use crate::statements::{NotOne, Refusal};

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not one statement.
    #[error(transparent)]
    NotOne(#[from] NotOne),
    /// A rule is against it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The statement is longer than what is read.
    #[error("the statement has {0} bytes, and {1} are the most; give large values as params")]
    TooLong(usize, usize),
    /// It took too long.
    #[error("the statement was stopped, because it took longer than {0:?}")]
    Late(Duration),
    /// Nobody waits for it any more.
    #[error("the statement was stopped, because nobody waits for it any more")]
    GivenUp,
    /// Its parameters do not fit.
    #[error("{0}")]
    Params(String),
    /// There is no such table.
    #[error("there is no table or view `{name}`; there are: {}", list(.there))]
    NoTable {
        /// What was asked for.
        name: String,
        /// What there is.
        there: Vec<String>,
    },
    /// SQLite cannot read it, or it does not fit the tables.
    #[error("SQLite: {message} (at byte {offset})")]
    Sql {
        /// What SQLite says.
        message: String,
        /// Where in the statement.
        offset: i32,
    },
    /// SQLite says so.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The database's thread has ended.
    #[error("the database is closed")]
    Closed,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The settings say that nothing is served.
    #[error("serving is disabled by the settings (--disable-serving)")]
    ServingDisabled,
    /// The database cannot be opened.
    #[error("the database {place} cannot be opened: {error}")]
    Database {
        /// Which.
        place: String,
        /// Why.
        error: rusqlite::Error,
    },
    /// What is in the database cannot be found out.
    #[error("the tables of {place} cannot be read: {error}")]
    Tables {
        /// Which.
        place: String,
        /// Why.
        error: Error,
    },
    /// A script cannot be read.
    #[error("{}: {error}", .path.display())]
    Script {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A script cannot be run.
    #[error("{}: SQLite: {error}", .path.display())]
    Init {
        /// Which.
        path: PathBuf,
        /// Why.
        error: rusqlite::Error,
    },
    /// A script would have to be run in a file that is not written to.
    #[error("--init writes, and {0} is opened read-only")]
    InitReadOnly(String),
    /// There is no thread for the database.
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
