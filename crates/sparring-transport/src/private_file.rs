//! A small file of what is remembered between runs, which only the user can
//! read: changed in one step, by one process at a time.
//!
//! What stands in it is its owner's business.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::replace_file::{FileAccess, replace_file};

/// How long another process may keep us waiting, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(40);
const LOOK: Duration = Duration::from_millis(20);

/// The longest file that is read.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Such a file, there or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateFile {
    path: PathBuf,
}

/// Nobody else may change the file for as long as this is held.
#[derive(Debug)]
#[must_use = "without it others change the file too"]
pub struct FileLock(#[expect(dead_code, reason = "held, for the lock that it has")] File);

impl PrivateFile {
    /// The file at that path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        PrivateFile { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there never was one.
    pub fn is_missing(&self) -> bool {
        fs::metadata(&self.path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Waits until nobody else has it. The folder is made if it is not there.
    ///
    /// # Errors
    /// When the folder or the lock cannot be made, or another process has had
    /// it for too long.
    pub async fn lock(&self) -> io::Result<FileLock> {
        self.lock_within(PATIENCE).await
    }

    /// The same, where the other process may take that long.
    ///
    /// # Errors
    /// As [`PrivateFile::lock`].
    pub async fn lock_within(&self, patience: Duration) -> io::Result<FileLock> {
        let (file, begun) = (self.lock_file()?, Instant::now());
        while !is_locked(&file)? {
            if begun.elapsed() > patience {
                return Err(held(patience));
            }
            sleep(LOOK).await;
        }
        Ok(FileLock(file))
    }

    /// The same for a thread that may wait, and for no longer than that.
    ///
    /// # Errors
    /// As [`PrivateFile::lock`].
    pub fn lock_blocking(&self, patience: Duration) -> io::Result<FileLock> {
        let (file, begun) = (self.lock_file()?, std::time::Instant::now());
        while !is_locked(&file)? {
            if begun.elapsed() > patience {
                return Err(held(patience));
            }
            std::thread::sleep(LOOK);
        }
        Ok(FileLock(file))
    }

    fn lock_file(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            make_folder(folder)?;
        }
        private().write(true).create(true).truncate(false).open(self.beside(".lock"))
    }

    /// All of it; nothing where there is no file.
    ///
    /// # Errors
    /// When it cannot be read, is too long, or others than the user can read it.
    pub fn read(&self) -> io::Result<String> {
        let found = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            found => found?,
        };
        // Whoever opens a pipe may wait for ever.
        if !found.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let file = File::open(&self.path)?;
        check_private(&file)?;
        let mut text = String::new();
        if file.take(LARGEST + 1).read_to_string(&mut text)? as u64 > LARGEST {
            return Err(io::Error::other(format!("it is longer than {LARGEST} bytes")));
        }
        Ok(text)
    }

    /// Writes it anew, in one step: whoever reads it finds all of the old or all
    /// of the new.
    ///
    /// # Errors
    /// When that cannot be done; then all is as it was.
    pub fn write(&self, text: &str) -> io::Result<()> {
        replace_file(&self.path, text.as_bytes(), FileAccess::Private)
    }

    /// Puts it out of the way, beside where it was, and says where it is now.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub fn put_aside(&self) -> io::Result<PathBuf> {
        let free = (1..).map(|n| self.beside(&format!(".damaged-{n}"))).find(|to| !to.exists());
        let aside = free.unwrap_or_else(|| self.beside(".damaged"));
        fs::rename(&self.path, &aside)?;
        Ok(aside)
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    }
}

fn is_locked(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn held(patience: Duration) -> io::Error {
    io::Error::other(format!("another process has had it for {patience:?}"))
}

/// For a file that only the user can read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.read(true);
    options
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

fn check_private(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&file.metadata()?.permissions()) & 0o077 != 0 {
        return Err(io::Error::other("others than the user can read it; chmod 600 the file"));
    }
    Ok(())
}
