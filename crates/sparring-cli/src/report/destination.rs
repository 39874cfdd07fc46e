//! The destination of a report or a module. It is checked before anything runs.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::command_error::CommandError;

/// A path that can be written, or stdout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    Stdout,
    /// A regular file, replaced by a temporary file beside it.
    File(PathBuf),
    /// A file in a folder where no temporary file can be created.
    InPlace(PathBuf),
    /// A pipe, a device, or anything else that is not a regular file.
    Special(PathBuf),
}

impl Destination {
    /// Checks that a path can be written.
    ///
    /// # Errors
    /// When it cannot.
    pub(crate) fn for_path(path: &Path) -> Result<Destination, CommandError> {
        let write_error =
            |why: &str| CommandError::File(format!("cannot write {}: {why}", path.display()));
        let failed = |error: io::Error| write_error(&error.to_string());
        let is_folder = path.to_string_lossy().ends_with('/');
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(write_error("is a folder")),
            // Paths that lead to our own streams must not be replaced.
            Ok(found)
                if !found.is_file() || path.starts_with("/dev") || path.starts_with("/proc") =>
            {
                Ok(Destination::Special(path.to_owned()))
            }
            Ok(_) => {
                File::options().append(true).open(path).map_err(failed)?;
                let path = fs::canonicalize(path).map_err(failed)?;
                match temp_file_beside(&path) {
                    Ok(_) => Ok(Destination::File(path)),
                    Err(_) => Ok(Destination::InPlace(path)),
                }
            }
            // A dangling link is followed, not replaced.
            Err(_) if fs::symlink_metadata(path).is_ok() => {
                Ok(Destination::InPlace(path.to_owned()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_folder => {
                let folder = folder(path);
                if !folder.is_dir() {
                    return Err(write_error(&format!("no such folder: {}", folder.display())));
                }
                let name = path.file_name().ok_or_else(|| write_error("the path names no file"))?;
                temp_file_beside(path).map_err(failed)?;
                let folder = fs::canonicalize(folder).map_err(failed)?;
                Ok(Destination::File(folder.join(name)))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Returns true if two reports would overwrite each other. Devices and pipes are the
    /// user's choice.
    pub(super) fn conflicts_with(&self, other: &Destination) -> bool {
        self == other && !matches!(self, Destination::Special(_))
    }

    /// Writes the text. A regular file is replaced as a whole.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        self.write_bytes(text.as_bytes())
    }

    /// Writes the bytes. A regular file is replaced as a whole.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(crate) fn write_bytes(&self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Destination::Stdout => Ok(()),
            Destination::File(path) => {
                let mut file = temp_file_beside(path)?;
                if let Ok(known) = fs::metadata(path) {
                    file.as_file().set_permissions(known.permissions())?;
                }
                file.write_all(bytes)?;
                file.persist(path)?;
                Ok(())
            }
            Destination::InPlace(path) => fs::write(path, bytes),
            Destination::Special(_) => self.open()?.write_all(bytes),
        }
    }

    /// Opens the destination to write it in pieces. A pipe waits for its reader.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn open(&self) -> io::Result<File> {
        match self {
            Destination::Stdout => Err(io::ErrorKind::Unsupported.into()),
            Destination::File(path) | Destination::InPlace(path) => File::create(path),
            Destination::Special(path) => match own_stream(path) {
                Some(stream) => stream,
                None => File::options().append(true).open(path),
            },
        }
    }
}

/// Returns our own stdout or stderr if the path means one of them. Opening a file behind
/// it a second time would write to two positions.
#[cfg(unix)]
fn own_stream(path: &Path) -> Option<io::Result<File>> {
    use std::os::fd::AsFd as _;
    let owned = match path.to_str()? {
        "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => {
            io::stdout().as_fd().try_clone_to_owned()
        }
        "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => {
            io::stderr().as_fd().try_clone_to_owned()
        }
        _ => return None,
    };
    Some(owned.map(File::from))
}

#[cfg(not(unix))]
fn own_stream(_: &Path) -> Option<io::Result<File>> {
    None
}

/// Creates a temporary file in the folder of a path. It is removed when dropped.
fn temp_file_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".spar-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The mode of any new file; the system applies the umask.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder(path)).map_err(hide_temp_name)
}

/// Removes the temporary file's name from the error, since users do not know it.
fn hide_temp_name(error: io::Error) -> io::Error {
    let cause = error.get_ref().and_then(|error| error.source()).map(ToString::to_string);
    cause.map_or(error.kind().into(), io::Error::other)
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
