//! An artifact: a piece of a result, and its status.

use std::path::{Path, PathBuf};

use super::kind::Kind;
use super::piece::{DetectedBy, PieceLocation};

/// A piece of a result, and its status.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// Its location in the result.
    pub place: PieceLocation,
    /// Its kind.
    pub kind: Kind,
    /// Its MIME type.
    pub mime_type: String,
    /// The source of its kind.
    pub found: DetectedBy,
    /// The difference between its bytes and its declared type.
    pub differs: Option<String>,
    /// The number of bytes.
    pub bytes: u64,
    /// The status after saving.
    pub status: ArtifactStatus,
}

/// The status of a piece after saving.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArtifactStatus {
    /// It was saved to a file.
    Saved {
        /// The file.
        file: PathBuf,
    },
    /// It is short, and the model gets all of it.
    Inline,
    /// Its JSON was saved as it came.
    Raw {
        /// The file.
        file: PathBuf,
        /// The problem; `None` if detection is disabled.
        why: Option<String>,
    },
    /// There is no folder to save to.
    NotKept,
    /// It was not saved.
    Failed {
        /// The reason.
        why: String,
    },
}

impl Artifact {
    /// Its file, if it was saved.
    pub fn file(&self) -> Option<&Path> {
        match &self.status {
            ArtifactStatus::Saved { file } | ArtifactStatus::Raw { file, .. } => Some(file),
            ArtifactStatus::Inline | ArtifactStatus::NotKept | ArtifactStatus::Failed { .. } => {
                None
            }
        }
    }
}

impl ArtifactStatus {
    /// A stable name, for programs and people.
    pub fn name(&self) -> &'static str {
        match self {
            ArtifactStatus::Saved { .. } => "saved",
            ArtifactStatus::Inline => "inline",
            ArtifactStatus::Raw { .. } => "raw",
            ArtifactStatus::NotKept => "not-kept",
            ArtifactStatus::Failed { .. } => "failed",
        }
    }

    /// The problem, if there was one.
    pub fn why(&self) -> Option<&str> {
        match self {
            ArtifactStatus::Raw { why, .. } => why.as_deref(),
            ArtifactStatus::Failed { why } => Some(why),
            ArtifactStatus::Saved { .. } | ArtifactStatus::Inline | ArtifactStatus::NotKept => None,
        }
    }
}
