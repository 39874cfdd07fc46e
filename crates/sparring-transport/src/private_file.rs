//! A small file that persists data between runs and is readable by the user only. It is
//! replaced atomically, by one process at a time.
//!
//! The content is up to the owner.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::replace_file::{FileAccess, replace_file};

/// The timeout of waiting for another process's lock (the default), and the interval of tries.
const LOCK_TIMEOUT: Duration = Duration::from_secs(40);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The largest file that is read.
const MAX_SIZE: u64 = 16 * 1024 * 1024;

/// A private file, which need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateFile {
    path: PathBuf,
}

/// While this is held, no other process may change the file.
#[derive(Debug)]
#[must_use = "without it others change the file too"]
pub struct FileLock(#[expect(dead_code, reason = "held, for the lock that it has")] File);

impl PrivateFile {
    /// Creates a handle for the file at this path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        PrivateFile { path: path.into() }
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the file does not exist.
    pub fn is_missing(&self) -> bool {
        fs::metadata(&self.path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Waits for the lock. Creates the folder if it does not exist.
    ///
    /// # Errors
    /// When the folder or the lock cannot be created, or another process holds the lock for too
    /// long.
    pub async fn lock(&self) -> io::Result<FileLock> {
        self.lock_with_timeout(LOCK_TIMEOUT).await
    }

    /// Waits for the lock for up to `timeout`.
    ///
    /// # Errors
    /// As [`PrivateFile::lock`].
    pub async fn lock_with_timeout(&self, timeout: Duration) -> io::Result<FileLock> {
        let (file, started) = (self.lock_file()?, Instant::now());
        while !try_lock(&file)? {
            if started.elapsed() > timeout {
                return Err(lock_timeout_error(timeout));
            }
            sleep(LOCK_POLL_INTERVAL).await;
        }
        Ok(FileLock(file))
    }

    /// Waits for the lock for up to `timeout`, blocking the thread.
    ///
    /// # Errors
    /// As [`PrivateFile::lock`].
    pub fn lock_blocking(&self, timeout: Duration) -> io::Result<FileLock> {
        let (file, started) = (self.lock_file()?, std::time::Instant::now());
        while !try_lock(&file)? {
            if started.elapsed() > timeout {
                return Err(lock_timeout_error(timeout));
            }
            std::thread::sleep(LOCK_POLL_INTERVAL);
        }
        Ok(FileLock(file))
    }

    fn lock_file(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            make_folder(folder)?;
        }
        private_options().write(true).create(true).truncate(false).open(self.sibling(".lock"))
    }

    /// Reads the file; returns an empty string if it does not exist.
    ///
    /// # Errors
    /// When the file cannot be read, is too large, or is readable by other users.
    pub fn read(&self) -> io::Result<String> {
        let found = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            found => found?,
        };
        // Opening a pipe could block forever.
        if !found.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let file = File::open(&self.path)?;
        check_private(&file)?;
        let mut text = String::new();
        if file.take(MAX_SIZE + 1).read_to_string(&mut text)? as u64 > MAX_SIZE {
            return Err(io::Error::other(format!("larger than {MAX_SIZE} bytes")));
        }
        Ok(text)
    }

    /// Replaces the file atomically: a reader sees either the old or the new content.
    ///
    /// # Errors
    /// When the file cannot be written; the old content stays.
    pub fn write(&self, text: &str) -> io::Result<()> {
        replace_file(&self.path, text.as_bytes(), FileAccess::Private)
    }

    /// Renames the file to a free name next to it and returns the new path.
    ///
    /// # Errors
    /// When the file cannot be renamed.
    pub fn move_aside(&self) -> io::Result<PathBuf> {
        let free = (1..).map(|n| self.sibling(&format!(".damaged-{n}"))).find(|to| !to.exists());
        let aside = free.unwrap_or_else(|| self.sibling(".damaged"));
        fs::rename(&self.path, &aside)?;
        Ok(aside)
    }

    fn sibling(&self, ending: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    }
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn lock_timeout_error(timeout: Duration) -> io::Error {
    io::Error::other(format!("another process has held the lock for {timeout:?}"))
}

/// Returns options that create a file for the user only.
fn private_options() -> OpenOptions {
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
        return Err(io::Error::other("readable by other users (run `chmod 600` on it)"));
    }
    Ok(())
}
