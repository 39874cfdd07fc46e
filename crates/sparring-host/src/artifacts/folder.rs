//! The folder that artifacts are in: all I/O of this module.
//!
//! Files appear whole and under names that were free; nothing that is there is
//! written to, and no link in the folder is followed.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::Builder;

use super::name::Stem;

/// How many names are tried for one file.
const TRIES: usize = 10_000;

/// The folder, and what is in it.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// The names before the first dot, in lower case, so that they stay
    /// different where case does not matter; none before the first look.
    taken: Option<HashSet<String>>,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Folder {
        Folder { path, taken: None }
    }

    /// Writes a file and its metadata under the first name that is free, which
    /// the metadata is told. Both are there, or neither.
    pub(super) fn write<M: Serialize>(
        &mut self,
        stem: &Stem,
        extension: &str,
        bytes: &[u8],
        metadata: impl Fn(&str) -> M,
    ) -> io::Result<PathBuf> {
        let taken = match self.taken.take() {
            Some(taken) => self.taken.insert(taken),
            None => self.taken.insert(look(&self.path)?),
        };
        for stem in stem.candidates().take(TRIES) {
            if !taken.insert(stem.to_ascii_lowercase()) {
                continue;
            }
            let name = format!("{stem}.{extension}");
            let file = self.path.join(&name);
            match put(&self.path, &file, bytes) {
                Ok(()) => {}
                // Somebody else has just taken it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(named(&file, &error)),
            }
            let beside = self.path.join(format!("{name}.meta.json"));
            let metadata = serde_json::to_vec_pretty(&metadata(&name))?;
            if let Err(error) = put(&self.path, &beside, &metadata) {
                drop(fs::remove_file(&file));
                return Err(named(&beside, &error));
            }
            return Ok(file);
        }
        Err(io::Error::other(format!("{}: all names are taken", self.path.display())))
    }
}

/// Makes the folder where there is none, and says which names are taken in it.
fn look(folder: &Path) -> io::Result<HashSet<String>> {
    let looked = fs::create_dir_all(folder).and_then(|()| fs::read_dir(folder));
    let entries = looked.map_err(|error| named(folder, &error))?;
    let mut taken = HashSet::new();
    for entry in entries {
        let name = entry.map_err(|error| named(folder, &error))?.file_name();
        let name = name.to_string_lossy().to_ascii_lowercase();
        taken.extend(name.split('.').next().map(str::to_owned));
    }
    Ok(taken)
}

/// The whole file under that name, or nothing; only the user can read it. Fails
/// where something has that name, a link that leads nowhere included.
fn put(folder: &Path, file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = Builder::new().prefix(".").suffix(".part").tempfile_in(folder)?;
    new.write_all(bytes)?;
    new.persist_noclobber(file)?;
    Ok(())
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn write(folder: &mut Folder, name: &str, bytes: &[u8]) -> io::Result<String> {
        let stem = Stem::named(name).expect("a name");
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
    fn a_file_has_its_metadata_beside_it_and_nothing_else_is_left() {
        let place = tempfile::tempdir().expect("a folder");
        let inner = place.path().join("a/b");
        let mut folder = Folder::new(inner.clone());
        assert_eq!(write(&mut folder, "x", b"hi").expect("written"), "x.txt");
        assert_eq!(names(&inner), ["x.txt", "x.txt.meta.json"]);
        let metadata = fs::read(inner.join("x.txt.meta.json")).expect("metadata");
        let metadata: Value = serde_json::from_slice(&metadata).expect("JSON");
        assert_eq!(metadata, json!({"file": "x.txt"}));
    }

    #[test]
    fn what_is_there_is_never_written_to_whatever_its_case() {
        let place = tempfile::tempdir().expect("a folder");
        fs::write(place.path().join("Report.csv"), "old").expect("written");
        let mut folder = Folder::new(place.path().to_owned());
        assert_eq!(write(&mut folder, "report", b"1").expect("written"), "report-2.txt");
        assert_eq!(write(&mut folder, "REPORT", b"2").expect("written"), "REPORT-3.txt");
        // Somebody else writes between our look and our file.
        fs::write(place.path().join("late.txt"), "theirs").expect("written");
        assert_eq!(write(&mut folder, "late", b"ours").expect("written"), "late-2.txt");
        assert_eq!(fs::read(place.path().join("late.txt")).expect("read"), b"theirs");
        assert_eq!(fs::read(place.path().join("Report.csv")).expect("read"), b"old");
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_followed() {
        let place = tempfile::tempdir().expect("a folder");
        let (outside, inside) = (place.path().join("outside"), place.path().join("inside"));
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

        let place = tempfile::tempdir().expect("a folder");
        let mut folder = Folder::new(place.path().to_owned());
        let name = write(&mut folder, "x", b"hi").expect("written");
        let mode = fs::metadata(place.path().join(name)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("file");
        fs::write(&path, "").expect("written");
        let error = write(&mut Folder::new(path.join("x")), "x", b"").expect_err("no folder");
        assert!(error.to_string().contains("file/x"), "{error}");
    }
}
