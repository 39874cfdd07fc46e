//! Where a report or a module goes, found out before anything is run, and the writing of it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A place that can be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    Stdout,
    /// A file that is written beside it, and then takes its place.
    File(PathBuf),
    /// A file in a folder where no other can be made.
    InPlace(PathBuf),
    /// A pipe, a device, or what else is no file.
    Special(PathBuf),
}

impl Destination {
    /// Looks whether a path can be written to.
    ///
    /// # Errors
    /// When it cannot.
    pub(crate) fn of(path: &Path) -> Result<Destination, Failure> {
        let told = |why: &str| Failure::File(format!("cannot write {}: {why}", path.display()));
        let failed = |error: io::Error| told(&error.to_string());
        let is_folder = path.to_string_lossy().ends_with('/');
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(told("it is a folder")),
            // Those that lead back to our own streams must not be replaced.
            Ok(found)
                if !found.is_file() || path.starts_with("/dev") || path.starts_with("/proc") =>
            {
                Ok(Destination::Special(path.to_owned()))
            }
            Ok(_) => {
                File::options().append(true).open(path).map_err(failed)?;
                let path = fs::canonicalize(path).map_err(failed)?;
                match beside(&path) {
                    Ok(_) => Ok(Destination::File(path)),
                    Err(_) => Ok(Destination::InPlace(path)),
                }
            }
            // A link that leads nowhere is followed, not replaced.
            Err(_) if fs::symlink_metadata(path).is_ok() => {
                Ok(Destination::InPlace(path.to_owned()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_folder => {
                let folder = folder(path);
                if !folder.is_dir() {
                    return Err(told(&format!("there is no folder {}", folder.display())));
                }
                let name = path.file_name().ok_or_else(|| told("it names no file"))?;
                beside(path).map_err(failed)?;
                let folder = fs::canonicalize(folder).map_err(failed)?;
                Ok(Destination::File(folder.join(name)))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Whether another report cannot go there too. Of a device or a pipe its
    /// owner must know.
    pub(super) fn is_taken_from(&self, other: &Destination) -> bool {
        self == other && !matches!(self, Destination::Special(_))
    }

    /// Writes a text there. A file is there as a whole, or as it was.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        match self {
            Destination::Stdout => Ok(()),
            Destination::File(path) => {
                let mut file = beside(path)?;
                if let Ok(known) = fs::metadata(path) {
                    file.as_file().set_permissions(known.permissions())?;
                }
                file.write_all(text.as_bytes())?;
                file.persist(path)?;
                Ok(())
            }
            Destination::InPlace(path) => fs::write(path, text),
            Destination::Special(_) => self.open()?.write_all(text.as_bytes()),
        }
    }

    /// Opens it for what comes piece by piece; a pipe waits for its reader.
    ///
    /// # Errors
    /// When it cannot be written.
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

/// Our own stdout or stderr, where a path means one of them. Opened anew, a file
/// behind it would be written to at two places at once.
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

/// A file of its own in the folder of a path, gone with its owner.
fn beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".spar-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As any file that is made: the system takes away what the user wants.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder(path)).map_err(without_its_name)
}

/// Nobody knows the file that could not be made.
fn without_its_name(error: io::Error) -> io::Error {
    let cause = error.get_ref().and_then(|error| error.source()).map(ToString::to_string);
    cause.map_or(error.kind().into(), io::Error::other)
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
