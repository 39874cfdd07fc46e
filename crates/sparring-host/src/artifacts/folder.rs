//! Writes artifacts to their folder: the only I/O of this module.
//!
//! Files are written atomically under new names. Existing files are never
//! changed, and symbolic links in the folder are not followed.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::Builder;

use super::file_name::FileStem;

/// The maximum number of names that are tried for one file.
pub(super) const MAX_NAME_TRIES: usize = 10_000;

/// The folder and its names.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// The used names before the first dot, in lower case, so that new ones are
    /// unique on case-insensitive file systems; `None` before the folder was
    /// read.
    used_names: Option<HashSet<String>>,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Folder {
        Folder { path, used_names: None }
    }

    /// Writes a file and its metadata under the first free name, which is
    /// passed to `metadata`. Writes both or neither.
    pub(super) fn write<M: Serialize>(
        &mut self,
        stem: &FileStem,
        extension: &str,
        bytes: &[u8],
        metadata: impl Fn(&str) -> M,
    ) -> io::Result<PathBuf> {
        let used_names = match self.used_names.take() {
            Some(used_names) => self.used_names.insert(used_names),
            None => self.used_names.insert(list_used_names(&self.path)?),
        };
        for stem in stem.candidates().take(MAX_NAME_TRIES) {
            if !used_names.insert(stem.to_ascii_lowercase()) {
                continue;
            }
            let name = format!("{stem}.{extension}");
            let file = self.path.join(&name);
            match write_new_file(&self.path, &file, bytes) {
                Ok(()) => {}
                // Another process has just taken the name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(with_path(&file, &error)),
            }
            let beside = self.path.join(format!("{name}.meta.json"));
            let metadata = serde_json::to_vec_pretty(&metadata(&name))?;
            if let Err(error) = write_new_file(&self.path, &beside, &metadata) {
                drop(fs::remove_file(&file));
                return Err(with_path(&beside, &error));
            }
            return Ok(file);
        }
        Err(io::Error::other(format!("{}: all names are taken", self.path.display())))
    }
}

/// Creates the folder if needed, and returns the used names.
fn list_used_names(folder: &Path) -> io::Result<HashSet<String>> {
    let listed = fs::create_dir_all(folder).and_then(|()| fs::read_dir(folder));
    let entries = listed.map_err(|error| with_path(folder, &error))?;
    let mut used_names = HashSet::new();
    for entry in entries {
        let name = entry.map_err(|error| with_path(folder, &error))?.file_name();
        let name = name.to_string_lossy().to_ascii_lowercase();
        used_names.extend(name.split('.').next().map(str::to_owned));
    }
    Ok(used_names)
}

/// Writes the whole file or nothing, with access for the user only. Fails if
/// the name exists, even as a dangling symbolic link.
fn write_new_file(folder: &Path, file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = Builder::new().prefix(".").suffix(".part").tempfile_in(folder)?;
    new.write_all(bytes)?;
    new.persist_noclobber(file)?;
    Ok(())
}

fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn write(folder: &mut Folder, name: &str, bytes: &[u8]) -> io::Result<String> {
        let stem = FileStem::from_name(name).expect("a name");
        let file = folder.write(&stem, "txt", bytes, |name| json!({"file": name}))?;
        Ok(file.file_name().expect("a file").to_string_lossy().into_owned())
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_has_its_metadata_beside_it_and_no_temporary_file_is_left() {
        let temp_dir = tempfile::tempdir().expect("a folder");
        let inner = temp_dir.path().join("a/b");
        let mut folder = Folder::new(inner.clone());
        assert_eq!(write(&mut folder, "x", b"hi").expect("written"), "x.txt");
        assert_eq!(names(&inner), ["x.txt", "x.txt.meta.json"]);
        let metadata = fs::read(inner.join("x.txt.meta.json")).expect("metadata");
        let metadata: Value = serde_json::from_slice(&metadata).expect("JSON");
        assert_eq!(metadata, json!({"file": "x.txt"}));
    }

    #[test]
    fn an_existing_file_is_never_overwritten_whatever_its_case() {
        let temp_dir = tempfile::tempdir().expect("a folder");
        fs::write(temp_dir.path().join("Report.csv"), "old").expect("written");
        let mut folder = Folder::new(temp_dir.path().to_owned());
        assert_eq!(write(&mut folder, "report", b"1").expect("written"), "report-2.txt");
        assert_eq!(write(&mut folder, "REPORT", b"2").expect("written"), "REPORT-3.txt");
        // Another process writes between our check and our file.
        fs::write(temp_dir.path().join("late.txt"), "theirs").expect("written");
        assert_eq!(write(&mut folder, "late", b"ours").expect("written"), "late-2.txt");
        assert_eq!(fs::read(temp_dir.path().join("late.txt")).expect("read"), b"theirs");
        assert_eq!(fs::read(temp_dir.path().join("Report.csv")).expect("read"), b"old");
    }

    #[cfg(unix)]
    #[test]
    fn no_symbolic_link_is_followed() {
        let temp_dir = tempfile::tempdir().expect("a folder");
        let (outside, inside) = (temp_dir.path().join("outside"), temp_dir.path().join("inside"));
        fs::create_dir(&inside).expect("a folder");
        let mut folder = Folder::new(inside.clone());
        write(&mut folder, "first", b"").expect("the folder is looked at");
        for name in ["x.txt", "y.txt.meta.json"] {
            std::os::unix::fs::symlink(&outside, inside.join(name)).expect("a link");
        }
        assert_eq!(write(&mut folder, "x", b"hi").expect("written"), "x-2.txt");
        let error = write(&mut folder, "y", b"hi").expect_err("no metadata").to_string();
        assert!(error.contains("y.txt.meta.json"), "{error}");
        assert!(!outside.exists(), "nothing was written through a link");
        assert!(!inside.join("y.txt").exists(), "no file without metadata");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_a_file() {
        use std::os::unix::fs::PermissionsExt as _;

        let temp_dir = tempfile::tempdir().expect("a folder");
        let mut folder = Folder::new(temp_dir.path().to_owned());
        let name = write(&mut folder, "x", b"hi").expect("written");
        let mode = fs::metadata(temp_dir.path().join(name)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_error_of_a_folder_that_cannot_be_created_names_it() {
        let temp_dir = tempfile::tempdir().expect("a folder");
        let path = temp_dir.path().join("file");
        fs::write(&path, "").expect("written");
        let error = write(&mut Folder::new(path.join("x")), "x", b"").expect_err("no folder");
        assert!(error.to_string().contains("file/x"), "{error}");
    }
}
