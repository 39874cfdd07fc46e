//! Saves binary content of a result to files (`--output`).

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sparring_wire::types::{Content, ResourceContents};

use super::{Printer, line};
use crate::command_error::CommandError;
use crate::report::Destination;

/// Reads Base64 with and without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A part of a result that can be saved.
pub(crate) enum SavedPart<'a> {
    /// Bytes as Base64, with their type.
    Binary { base64: &'a str, mime: Option<&'a str> },
    /// A text, with its type.
    Text { text: &'a str, mime: Option<&'a str> },
}

impl<'a> SavedPart<'a> {
    /// Returns the binary content of a block.
    pub(crate) fn of_block(block: &'a Content) -> Option<SavedPart<'a>> {
        match block {
            Content::Image { data, mime_type, .. } | Content::Audio { data, mime_type, .. } => {
                Some(SavedPart::Binary { base64: data, mime: Some(mime_type) })
            }
            Content::Resource { resource, .. } => {
                SavedPart::of_resource(resource).filter(|part| !part.is_text())
            }
            _ => None,
        }
    }

    /// Returns the contents of a resource.
    pub(crate) fn of_resource(contents: &'a ResourceContents) -> Option<SavedPart<'a>> {
        let mime = contents.mime_type.as_deref();
        match (&contents.text, &contents.blob) {
            (Some(text), _) => Some(SavedPart::Text { text, mime }),
            (None, Some(blob)) => Some(SavedPart::Binary { base64: blob, mime }),
            (None, None) => None,
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, SavedPart::Text { .. })
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        match self {
            SavedPart::Text { text, .. } => Ok(text.as_bytes().to_vec()),
            SavedPart::Binary { base64, .. } => {
                let base64: Vec<u8> =
                    base64.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
                BASE64.decode(base64).map_err(|error| {
                    io::Error::other(format!("the content is not valid Base64: {error}"))
                })
            }
        }
    }
}

/// Checks that a file can be written, before anything is started.
///
/// # Errors
/// When it cannot.
pub(crate) fn check(path: Option<&PathBuf>) -> Result<(), CommandError> {
    path.map(|path| Destination::for_path(path)).transpose().map(drop)
}

/// Saves the first part to the file, and further parts beside it: `FILE-2.png`.
///
/// # Errors
/// When there is no part, or a file cannot be written.
pub(crate) async fn save(
    path: &Path,
    parts: &[SavedPart<'_>],
    printer: &Printer,
) -> Result<(), CommandError> {
    if parts.is_empty() {
        let message = format!("nothing to save to {}: no binary content", path.display());
        return Err(CommandError::File(message));
    }
    for (index, part) in parts.iter().enumerate() {
        let file = numbered(path, index);
        let written = part.bytes().and_then(|bytes| {
            let to =
                Destination::for_path(&file).map_err(|why| io::Error::other(why.to_string()))?;
            to.write_bytes(&bytes).map(|()| bytes.len())
        });
        let length = written.map_err(|error| {
            CommandError::File(format!("cannot write {}: {error}", file.display()))
        })?;
        let (SavedPart::Binary { mime, .. } | SavedPart::Text { mime, .. }) = part;
        let mime = mime.map(|mime| format!("{mime}, ")).unwrap_or_default();
        let size = line::format_bytes(length);
        printer.note(&format!("wrote {} ({mime}{size})", file.display())).await;
    }
    Ok(())
}

/// `a.png`, `a-2.png`, `a-3.png`.
fn numbered(path: &Path, index: usize) -> PathBuf {
    if index == 0 {
        return path.to_owned();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let end = path.extension().map(|end| format!(".{}", end.to_string_lossy()));
    path.with_file_name(format!("{stem}-{}{}", index + 1, end.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_parts_get_numbers_before_the_extension() {
        for (path, index, expected) in
            [("a.png", 0, "a.png"), ("b/a.png", 1, "b/a-2.png"), ("a", 2, "a-3")]
        {
            assert_eq!(numbered(Path::new(path), index), Path::new(expected));
        }
    }

    #[test]
    fn reads_base64_with_and_without_padding() {
        for base64 in ["QUJDRA==", "QUJDRA", "QUJD\nRA=="] {
            let part = SavedPart::Binary { base64, mime: None };
            assert_eq!(part.bytes().unwrap(), b"ABCD", "{base64}");
        }
        assert!(SavedPart::Binary { base64: "?", mime: None }.bytes().is_err());
    }
}
