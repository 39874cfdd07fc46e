//! Keeps artifacts in memory, for tests and for programs that save them elsewhere.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::file_name::FileStem;
use super::folder::MAX_NAME_TRIES;

/// An artifact that a store keeps in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredArtifact {
    /// The name of its file.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its metadata, which a folder has in the file `NAME.meta.json`.
    pub metadata: Value,
}

/// The artifacts in memory, and their names before the first dot in lower case.
#[derive(Debug, Default)]
pub(super) struct Memory {
    artifacts: Vec<StoredArtifact>,
    used_names: HashSet<String>,
}

impl Memory {
    /// Keeps an artifact under the first free name, which is passed to `metadata`.
    pub(super) fn write<M: Serialize>(
        &mut self,
        stem: &FileStem,
        extension: &str,
        bytes: &[u8],
        metadata: impl Fn(&str) -> M,
    ) -> io::Result<PathBuf> {
        let mut stems = stem.candidates().take(MAX_NAME_TRIES);
        let stem = stems.find(|stem| self.used_names.insert(stem.to_ascii_lowercase()));
        let stem = stem.ok_or_else(|| io::Error::other("all names are taken"))?;
        let name = format!("{stem}.{extension}");
        let metadata = serde_json::to_value(metadata(&name))?;
        let path = PathBuf::from(&name);
        self.artifacts.push(StoredArtifact { name, bytes: bytes.to_vec(), metadata });
        Ok(path)
    }

    pub(super) fn artifacts(&self) -> &[StoredArtifact] {
        &self.artifacts
    }
}
