//! Puts a text in the place of a file's, in one step, while nobody else does.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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

/// Writes the file: whoever reads it finds all of the old or all of the new. Who
/// may read it stays as it was; a new one of the user's only they can.
pub(super) fn replace(place: &Place, text: &str) -> io::Result<()> {
    let file = target(&place.file);
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = PathBuf::from(name);
    let _ = fs::remove_file(&new);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if place.scope == Scope::User {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let written = (|| {
        let mut written = options.open(&new)?;
        if let Ok(before) = fs::metadata(&file) {
            written.set_permissions(before.permissions())?;
        }
        written.write_all(text.as_bytes())?;
        written.sync_all()?;
        fs::rename(&new, &file)
    })();
    written.inspect_err(|_| drop(fs::remove_file(&new)))
}

/// The file itself, where the path is a link to it: the link stays.
fn target(file: &Path) -> PathBuf {
    fs::canonicalize(file).unwrap_or_else(|_| file.to_owned())
}
