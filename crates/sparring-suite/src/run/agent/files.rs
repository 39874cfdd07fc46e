//! Finds the files of a test's folder that match an expectation. Does not follow links
//! out of the folder, and reads files up to a size limit.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sparring_transport::read_file;
use walkdir::WalkDir;

use crate::model::{FileExpectation, FileForm};
use crate::step_result::{FileMatches, FoundFile};

/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum number of files that are searched.
const MAX_FILES: usize = 100_000;

/// The maximum number of names of other files in a message.
const MAX_OTHERS: usize = 20;

/// Finds the files that match an expectation.
pub(super) fn find(folder: Option<&Path>, wanted: &FileExpectation) -> FileMatches {
    let mut matches = FileMatches::default();
    let Some(folder) = folder else { return matches };
    // The path of the folder may contain links.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut seen = 0;
    for entry in WalkDir::new(&folder).min_depth(1).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                matches.error = Some(error.to_string());
                continue;
            }
        };
        if entry.file_type().is_dir() {
            continue;
        }
        seen += 1;
        if seen > MAX_FILES {
            matches.error = Some(format!("the folder has more than {MAX_FILES} files"));
            break;
        }
        let path = entry.path().strip_prefix(&folder).unwrap_or(entry.path());
        if wanted.glob.is_match(path) {
            matches.found.push(read_match(&folder, entry.path(), path, wanted));
        } else if matches.others.len() < MAX_OTHERS {
            matches.others.push(path.display().to_string());
        }
    }
    matches
}

fn read_match(folder: &Path, file: &Path, path: &Path, wanted: &FileExpectation) -> FoundFile {
    let path = path.display().to_string();
    let size = std::fs::metadata(file).map_or(0, |it| it.len());
    let read = match wanted.contents.is_empty() {
        true => Ok(Vec::new()),
        false => read(folder, file),
    };
    let contents = wanted.contents.iter().map(|(form, _)| match &read {
        Ok(bytes) => convert(*form, bytes),
        Err(why) => Err(why.clone()),
    });
    FoundFile { path, size, contents: contents.collect() }
}

/// Reads a regular file inside the folder.
fn read(folder: &Path, file: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("cannot read it: {error}");
    let real = file.canonicalize().map_err(failed)?;
    if !real.starts_with(folder) {
        return Err("it is a link out of the folder".to_owned());
    }
    read_file(&real, MAX_FILE_BYTES).map_err(failed)
}

fn convert(form: FileForm, bytes: &[u8]) -> Result<Value, String> {
    match form {
        FileForm::Base64 => Ok(Value::from(STANDARD.encode(bytes))),
        FileForm::Json => {
            serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))
        }
        FileForm::Text => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::from(text)),
            Err(error) => Err(format!("it is not UTF-8: {error}")),
        },
    }
}
