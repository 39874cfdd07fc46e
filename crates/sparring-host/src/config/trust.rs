//! Stores the project files that the user trusts: by path and contents, so that a
//! changed file is no longer trusted.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sparring_transport::PrivateFile;

use super::read::{digest, read_text};

/// Maximum wait for the lock of another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The trusted files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trust {
    /// The digest of the trusted contents, by canonical path.
    files: BTreeMap<String, String>,
}

/// Why the trust store cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} {}: {why}", file.display())]
pub struct TrustError {
    /// The file.
    pub file: PathBuf,
    /// The attempted action.
    pub what: &'static str,
    /// The reason.
    pub why: String,
}

impl Trust {
    /// Reads the store; without a file, no files are trusted.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(store: &Path) -> Result<Trust, TrustError> {
        let failed = |why| TrustError { file: store.to_owned(), what: "read", why };
        let Some(text) = read_text(store).map_err(failed)? else { return Ok(Trust::default()) };
        let value: Value =
            serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        let files = value.get("files").and_then(Value::as_object);
        let files = files.ok_or_else(|| failed("no `files` in it".to_owned()))?;
        let pair =
            |(file, digest): (&String, &Value)| Some((file.clone(), digest.as_str()?.to_owned()));
        Ok(Trust { files: files.iter().filter_map(pair).collect() })
    }

    /// Returns true if the user trusts a file whose text has this SHA-256 digest, in
    /// hexadecimal digits.
    pub fn covers(&self, file: &Path, digest: &str) -> bool {
        let known = canonical(file).and_then(|file| self.files.get(&file));
        known.is_some_and(|known| known == digest)
    }

    /// Trusts a file with this text from now on.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn add(store: &Path, file: &Path, text: &str) -> Result<(), TrustError> {
        let digest = digest(text);
        let unnamed = || TrustError {
            file: file.to_owned(),
            what: "trust",
            why: "no such file, or its path is not valid UTF-8".to_owned(),
        };
        let file = canonical(file).ok_or_else(unnamed)?;
        change(store, |trust| drop(trust.files.insert(file, digest)))
    }

    /// Removes a file from the store; returns true if it was trusted.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn remove(store: &Path, file: &Path) -> Result<bool, TrustError> {
        // A deleted file can be found only by its given path.
        let name = canonical(file).unwrap_or_else(|| file.display().to_string());
        let mut was_trusted = false;
        change(store, |trust| was_trusted = trust.files.remove(&name).is_some())?;
        Ok(was_trusted)
    }
}

fn canonical(file: &Path) -> Option<String> {
    file.canonicalize().ok()?.to_str().map(str::to_owned)
}

/// Reads, changes and writes the store under a lock.
fn change(store: &Path, change: impl FnOnce(&mut Trust)) -> Result<(), TrustError> {
    let failed = |error: io::Error| TrustError {
        file: store.to_owned(),
        what: "write",
        why: error.to_string(),
    };
    let private_file = PrivateFile::new(store);
    let _lock = private_file.lock_blocking(LOCK_TIMEOUT).map_err(failed)?;
    let mut trust = Trust::read(store)?;
    change(&mut trust);
    private_file.write(&format!("{:#}\n", json!({"files": trust.files}))).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn trust_depends_on_the_path_and_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("state/sparring/trust.json");
        let (file, other) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&file, "one").unwrap();
        fs::write(&other, "one").unwrap();
        assert!(!Trust::read(&store).unwrap().covers(&file, &digest("one")));
        Trust::add(&store, &file, "one").unwrap();
        let trust = Trust::read(&store).unwrap();
        assert!(trust.covers(&file, &digest("one")));
        assert!(!trust.covers(&file, &digest("two")) && !trust.covers(&other, &digest("one")));
        assert!(Trust::remove(&store, &file).unwrap());
        assert!(!Trust::remove(&store, &file).unwrap());
        assert!(!Trust::read(&store).unwrap().covers(&file, &digest("one")));
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_are_resolved_and_only_the_user_can_read_the_store() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("trust.json");
        let (file, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&file, "one").unwrap();
        symlink(&file, &link).unwrap();
        Trust::add(&store, &link, "one").unwrap();
        assert!(Trust::read(&store).unwrap().covers(&file, &digest("one")));
        let mode = fs::metadata(&store).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn an_invalid_store_trusts_no_file_and_is_not_overwritten() {
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
    fn a_deleted_file_cannot_be_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gone");
        let error = Trust::add(&folder.path().join("trust.json"), &file, "x").unwrap_err();
        assert!(error.to_string().contains("gone: no such file"));
    }

    #[test]
    fn concurrent_changes_lose_nothing() {
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
        assert!(files.iter().all(|file| trust.covers(file, &digest("x"))));
    }
}
