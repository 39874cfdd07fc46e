//! Opens files that other users of the machine cannot read.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file for writing, at its end or from its beginning. A new file is readable by its
/// owner only (mode 0600), since traffic may have secrets that Sparring does not know. An
/// existing file keeps its mode.
///
/// # Errors
/// When it cannot be opened.
pub(crate) fn open_private(path: &Path, append: bool) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).append(append).write(true).truncate(!append);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
