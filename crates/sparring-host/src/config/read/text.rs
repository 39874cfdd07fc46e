//! The text of a file, if it is one that can be read whole and at once.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use ring::digest::{SHA256, digest as sum};

/// The longest file that is read.
const LARGEST: u64 = 1024 * 1024;

/// What stands in a file; nothing where there is none.
///
/// # Errors
/// When it cannot be read; the message does not name it.
pub(in crate::config) fn text(path: &Path) -> Result<Option<String>, String> {
    let about = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // A file where a folder should be is no config file either.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
        about => about.map_err(|error| error.to_string())?,
    };
    // Whoever opens a pipe may wait for ever.
    if !about.is_file() {
        return Err("it is no file".to_owned());
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST {
        return Err("it is longer than 1 MiB".to_owned());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(format!("line {line} is not UTF-8"))
        }
    }
}

/// What tells one text from all others.
pub(in crate::config) fn digest(text: &str) -> String {
    let digest = sum(&SHA256, text.as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
