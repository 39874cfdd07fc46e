//! Which files of projects the user trusts: by their path and by what stands in
//! them, so that one that is changed is not trusted any more.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sparring_transport::PrivateFile;

use super::read::{digest, text};

/// How long another process may keep us waiting.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is known of whom the user trusts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trust {
    /// The digest of what was trusted, by the file's path without links.
    files: BTreeMap<String, String>,
}

/// Why it cannot be known or changed whom the user trusts.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be {what}: {why}", file.display())]
pub struct TrustError {
    /// Where it is kept.
    pub file: PathBuf,
    /// What was to be done with it.
    pub what: &'static str,
    /// What came of that.
    pub why: String,
}

impl Trust {
    /// Reads it; where there is no file, nobody is trusted.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(store: &Path) -> Result<Trust, TrustError> {
        let failed = |why| TrustError { file: store.to_owned(), what: "read", why };
        let Some(text) = text(store).map_err(failed)? else { return Ok(Trust::default()) };
        let value: Value =
            serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        let files = value.get("files").and_then(Value::as_object);
        let files = files.ok_or_else(|| failed("it has no `files`".to_owned()))?;
        let pair =
            |(file, digest): (&String, &Value)| Some((file.clone(), digest.as_str()?.to_owned()));
        Ok(Trust { files: files.iter().filter_map(pair).collect() })
    }

    /// Whether the user trusts a file with this text in it.
    pub fn covers(&self, file: &Path, text: &str) -> bool {
        let known = canonical(file).and_then(|file| self.files.get(&file));
        known.is_some_and(|known| *known == digest(text))
    }

    /// Trusts a file with this text in it from now on.
    ///
    /// # Errors
    /// When that cannot be kept.
    pub fn add(store: &Path, file: &Path, text: &str) -> Result<(), TrustError> {
        let digest = digest(text);
        let unnamed = || TrustError {
            file: file.to_owned(),
            what: "trusted",
            why: "its path leads nowhere, or is no text".to_owned(),
        };
        let file = canonical(file).ok_or_else(unnamed)?;
        change(store, |trust| drop(trust.files.insert(file, digest)))
    }

    /// Trusts a file no more; says whether it was trusted.
    ///
    /// # Errors
    /// When that cannot be kept.
    pub fn remove(store: &Path, file: &Path) -> Result<bool, TrustError> {
        // What is not there any more can only be known by the path that it had.
        let name = canonical(file).unwrap_or_else(|| file.display().to_string());
        let mut was_there = false;
        change(store, |trust| was_there = trust.files.remove(&name).is_some())?;
        Ok(was_there)
    }
}

fn canonical(file: &Path) -> Option<String> {
    file.canonicalize().ok()?.to_str().map(str::to_owned)
}

/// Reads, changes and writes it while nobody else does.
fn change(store: &Path, change: impl FnOnce(&mut Trust)) -> Result<(), TrustError> {
    let failed = |error: io::Error| TrustError {
        file: store.to_owned(),
        what: "written",
        why: error.to_string(),
    };
    let kept = PrivateFile::new(store);
    let _lock = kept.lock_blocking(PATIENCE).map_err(failed)?;
    let mut trust = Trust::read(store)?;
    change(&mut trust);
    kept.write(&format!("{:#}\n", json!({"files": trust.files}))).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_trusted_is_a_path_with_a_text() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("state/sparring/trust.json");
        let (file, other) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&file, "one").unwrap();
        fs::write(&other, "one").unwrap();
        assert!(!Trust::read(&store).unwrap().covers(&file, "one"));
        Trust::add(&store, &file, "one").unwrap();
        let trust = Trust::read(&store).unwrap();
        assert!(trust.covers(&file, "one"));
        assert!(!trust.covers(&file, "two") && !trust.covers(&other, "one"));
        assert!(Trust::remove(&store, &file).unwrap());
        assert!(!Trust::remove(&store, &file).unwrap());
        assert!(!Trust::read(&store).unwrap().covers(&file, "one"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_the_same_by_whatever_link_and_only_the_user_reads_the_store() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("trust.json");
        let (file, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&file, "one").unwrap();
        symlink(&file, &link).unwrap();
        Trust::add(&store, &link, "one").unwrap();
        assert!(Trust::read(&store).unwrap().covers(&file, "one"));
        let mode = fs::metadata(&store).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_store_that_is_none_trusts_nobody_and_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("trust.json");
        for text in ["{", "[]", "{\"files\": 1}"] {
            fs::write(&store, text).unwrap();
            assert!(Trust::read(&store).is_err(), "{text}");
            assert!(Trust::add(&store, folder.path(), "x").is_err(), "{text}");
            assert_eq!(fs::read_to_string(&store).unwrap(), text);
        }
    }

    #[test]
    fn a_file_that_is_gone_cannot_be_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gone");
        let told = Trust::add(&folder.path().join("trust.json"), &file, "x").unwrap_err();
        assert!(told.to_string().contains("gone cannot be trusted: its path leads nowhere"));
    }

    #[test]
    fn many_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("trust.json");
        let files: Vec<_> = (0..8).map(|at| folder.path().join(format!("{at}"))).collect();
        std::thread::scope(|scope| {
            for file in &files {
                fs::write(file, "x").unwrap();
                scope.spawn(|| Trust::add(&store, file, "x").unwrap());
            }
        });
        let trust = Trust::read(&store).unwrap();
        assert!(files.iter().all(|file| trust.covers(file, "x")));
    }
}
