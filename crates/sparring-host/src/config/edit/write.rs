//! Puts a text in the place of a file's, in one step, while nobody else does.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sparring_transport::{FileAccess, replace_file};

use crate::config::places::Place;
use crate::config::server::Scope;

/// How long another process may keep us waiting, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(10);

/// Waits until nobody else of us changes what is in the file's folder. It is the
/// folder that is locked: it stays the same when a file in it is replaced, and
/// nothing is left behind.
pub(super) fn lock(file: &Path) -> io::Result<Option<File>> {
    let folder = target(file);
    let folder = folder.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    if !cfg!(unix) {
        return Ok(None);
    }
    let folder = File::open(folder)?;
    let begun = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(Some(folder)),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begun.elapsed() > PATIENCE => {
                let why = format!("another process has had its folder for {PATIENCE:?}");
                return Err(io::Error::other(why));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
        }
    }
}

/// Writes the file: a reader finds all of the old or all of the new. Its mode stays as it was; a
/// new file of the user's only they can read.
pub(super) fn replace(place: &Place, text: &str) -> io::Result<()> {
    let access = match place.scope {
        Scope::User => FileAccess::KeptOrPrivate,
        Scope::Project => FileAccess::Kept,
    };
    replace_file(&place.file, text.as_bytes(), access)
}

/// The file itself, where the path is a link to it: the link stays.
fn target(file: &Path) -> PathBuf {
    fs::canonicalize(file).unwrap_or_else(|_| file.to_owned())
}
