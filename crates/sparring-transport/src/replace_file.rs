//! Replaces a file's content atomically: a reader sees either the old or the new content.
//!
//! The caller is responsible for locks.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// The permissions of a file that [`replace_file`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// Keeps the permissions; a new file gets the system's default.
    Preserve,
    /// Keeps the permissions; a new file is for the user only.
    PreserveOrPrivate,
    /// Makes the file accessible to the user only.
    Private,
}

/// Replaces a file's content, or creates the file. A symbolic link stays, and the file that it
/// points to is replaced. The content is on the disk when this returns.
///
/// # Errors
/// When the file cannot be written; the old file stays as it was.
pub fn replace_file(path: &Path, content: &[u8], access: FileAccess) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut prefix = target.file_name().unwrap_or_default().to_owned();
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".new");
    // Not `tempfile_in`: its errors name the temporary file instead of the target.
    let mut new = builder.make_in(folder.unwrap_or(Path::new(".")), |new| create(new, access))?;
    let file = new.as_file_mut();
    if access != FileAccess::Private
        && let Ok(before) = fs::metadata(&target)
    {
        file.set_permissions(before.permissions())?;
    }
    file.write_all(content)?;
    file.sync_all()?;
    new.persist(&target)?;
    Ok(())
}

#[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix has modes"))]
fn create(path: &Path, access: FileAccess) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if access != FileAccess::Preserve {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options.open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        let entries = fs::read_dir(folder).expect("it is there").flatten();
        entries.map(|entry| entry.file_name()).collect()
    }

    #[test]
    fn keeps_the_mode_of_a_file_unless_it_must_be_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for (access, expected) in [
            (FileAccess::Preserve, 0o640),
            (FileAccess::PreserveOrPrivate, 0o640),
            (FileAccess::Private, 0o600),
        ] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            replace_file(&path, b"new", access).unwrap();
            assert_eq!((mode(&path), &*fs::read_to_string(&path).unwrap()), (expected, "new"));
        }
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn creates_a_file_with_the_default_mode_or_for_the_user_only() {
        let folder = tempfile::tempdir().unwrap();
        let usual = folder.path().join("usual");
        fs::write(&usual, "").unwrap();
        for (access, expected) in [
            (FileAccess::Preserve, mode(&usual)),
            (FileAccess::PreserveOrPrivate, 0o600),
            (FileAccess::Private, 0o600),
        ] {
            let path = folder.path().join(format!("{access:?}"));
            replace_file(&path, b"new", access).unwrap();
            assert_eq!(mode(&path), expected, "{access:?}");
        }
    }

    #[test]
    fn replaces_the_file_that_a_link_points_to() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("sub/file"), folder.path().join("link"));
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(&file, "old").unwrap();
        symlink("sub/file", &link).unwrap();
        replace_file(&link, b"new", FileAccess::Preserve).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("sub/file"));
    }

    #[test]
    fn leaves_nothing_behind_when_it_fails_and_names_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        // A folder cannot be replaced by a file.
        fs::create_dir(folder.path().join("a")).unwrap();
        replace_file(&folder.path().join("a"), b"new", FileAccess::Preserve).unwrap_err();
        assert_eq!(names(folder.path()), ["a"]);
        let error =
            replace_file(&folder.path().join("none/a"), b"new", FileAccess::Preserve).unwrap_err();
        assert!(!error.to_string().contains("none"), "{error}");
    }
}
