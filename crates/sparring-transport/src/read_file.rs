//! Reads files that a project folder names. Such a path may be a link to a device that never
//! ends, or a pipe that blocks, so only regular files up to a size are read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// The largest script, suite or included file, in bytes.
pub const MAX_SCRIPT_BYTES: u64 = 16 * 1024 * 1024;

/// The largest file with a private key or with certificates, in bytes.
pub const MAX_KEY_BYTES: u64 = 1024 * 1024;

/// Reads a regular file of at most `limit` bytes. A link to one counts.
///
/// # Errors
/// If the path is not a regular file, or the file is too large or cannot be read. The message
/// does not name the path.
pub fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // The file may grow meanwhile.
    read_up_to(open_regular(path)?, limit)
}

/// Reads at most `limit` bytes to the end, also of a pipe that the user names.
///
/// # Errors
/// If there are more bytes, or they cannot be read.
pub fn read_up_to(source: impl io::Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("larger than {}", limit_text(limit))));
    }
    Ok(bytes)
}

/// Reads a regular file of UTF-8 text, as [`read_file`].
///
/// # Errors
/// As [`read_file`], and if the file is not UTF-8.
pub fn read_text_file(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read_file(path, limit)?).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is not UTF-8"))
    })
}

fn open_regular(path: &Path) -> io::Result<File> {
    let not_regular = || io::Error::other("not a regular file");
    // Opening a device can have effects.
    if !std::fs::metadata(path)?.is_file() {
        return Err(not_regular());
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // The path may have become a pipe meanwhile, and opening a pipe blocks.
        options.custom_flags(nix::libc::O_NONBLOCK);
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(not_regular()),
    }
}

fn limit_text(limit: u64) -> String {
    match limit % (1024 * 1024) {
        0 => format!("{} MiB", limit / (1024 * 1024)),
        _ => format!("{limit} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &Path, expected: Result<&str, &str>) {
        let read = read_text_file(path, 4).map_err(|error| error.to_string());
        assert_eq!(read.as_deref().map_err(String::as_str), expected, "{}", path.display());
    }

    #[test]
    fn reads_only_regular_files_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("fits"), "1234").unwrap();
        std::fs::write(path("large"), "12345").unwrap();
        std::fs::write(path("binary"), b"1\n\xff").unwrap();
        check(&path("fits"), Ok("1234"));
        check(&path("large"), Err("larger than 4 bytes"));
        check(&path("binary"), Err("line 2 is not UTF-8"));
        check(folder.path(), Err("not a regular file"));
        assert_eq!(read_up_to(&b"1234"[..], 4).unwrap(), b"1234");
        assert!(read_up_to(io::repeat(0), 4).is_err());
        let missing = read_file(&path("missing"), 4).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    #[cfg(unix)]
    fn refuses_devices_and_pipes_also_behind_links() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("fits"), "1234").unwrap();
        std::os::unix::fs::symlink(path("fits"), path("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRUSR).unwrap();
        check(&path("link"), Ok("1234"));
        check(&path("zero"), Err("not a regular file"));
        check(&path("pipe"), Err("not a regular file"));
    }
}
