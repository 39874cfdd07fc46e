//! A folder that is gone when nobody needs it any more. A crate for that would bring
//! others along, which whoever only wants memory and stdio would have to build.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// How many names are tried.
const TRIES: usize = 64;

/// A folder that nobody else has; dropped, it is removed with all that is in it.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes one among the temporary files of the system, whose name begins so. Only the
    /// user can look into it.
    pub(crate) fn new(prefix: &str) -> io::Result<Folder> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        for _ in 0..TRIES {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let name =
                format!("{prefix}{:x}-{:x}-{number:x}", std::process::id(), since.subsec_nanos());
            let path = std::env::temp_dir().join(name);
            match builder.create(&path) {
                Ok(()) => return Ok(Folder(path)),
                // Whoever has it already keeps it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let told = format!("cannot make {}: {error}", path.display());
                    return Err(io::Error::new(error.kind(), told));
                }
            }
        }
        Err(io::Error::other("all names for a temporary folder are taken"))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Leaves it where it is.
    pub(crate) fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // Nobody is left who could be told.
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_gone_with_all_that_is_in_it_unless_it_is_kept() {
        let (one, other) = (Folder::new("spar-").unwrap(), Folder::new("spar-").unwrap());
        assert_ne!(one.path(), other.path());
        fs::write(one.path().join("file"), "x").unwrap();
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists());
        let kept = other.keep();
        assert!(kept.is_dir());
        fs::remove_dir(&kept).unwrap();
    }
}
