//! What became of the pieces of a result.

use std::path::{Path, PathBuf};

use super::kind::Kind;
use super::piece::{Found, Place};

/// A piece of a result, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// Where in the result it stood.
    pub place: Place,
    /// What it is.
    pub kind: Kind,
    /// Its MIME type.
    pub mime_type: String,
    /// How its kind was found.
    pub found: Found,
    /// In what it is not what it says.
    pub differs: Option<String>,
    /// How many bytes it has.
    pub bytes: u64,
    /// What became of it.
    pub status: Status,
}

/// What became of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// It is a file.
    Saved {
        /// The file.
        file: PathBuf,
    },
    /// It is short, and the model has all of it.
    Inline,
    /// The JSON that it came as is a file.
    Raw {
        /// The file.
        file: PathBuf,
        /// What is wrong with it; nothing where kinds are not told apart.
        why: Option<String>,
    },
    /// There is no folder for it.
    NotKept,
    /// Nothing of it is kept.
    Failed {
        /// Why.
        why: String,
    },
}

impl Artifact {
    /// Its file, where there is one.
    pub fn file(&self) -> Option<&Path> {
        match &self.status {
            Status::Saved { file } | Status::Raw { file, .. } => Some(file),
            Status::Inline | Status::NotKept | Status::Failed { .. } => None,
        }
    }
}

impl Status {
    /// A stable name, for programs and people.
    pub fn name(&self) -> &'static str {
        match self {
            Status::Saved { .. } => "saved",
            Status::Inline => "inline",
            Status::Raw { .. } => "raw",
            Status::NotKept => "not-kept",
            Status::Failed { .. } => "failed",
        }
    }

    /// What went wrong, where something did.
    pub fn why(&self) -> Option<&str> {
        match self {
            Status::Raw { why, .. } => why.as_deref(),
            Status::Failed { why } => Some(why),
            Status::Saved { .. } | Status::Inline | Status::NotKept => None,
        }
    }
}
