//! Looks at the files below the folder of a test. What a link leads to outside
//! of it is not read, and neither is more than a bound.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use walkdir::WalkDir;

use crate::model::{FileExpect, Reading};

/// The longest file that is read.
const MOST: u64 = 16 * 1024 * 1024;

/// How many files are looked at.
const MANY: usize = 100_000;

/// How many that do not fit are remembered, for a message.
const OTHERS: usize = 20;

/// What was found of an expectation.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(crate) found: Vec<Found>,
    /// Files that were not asked for.
    pub(crate) others: Vec<String>,
    /// Why not all could be looked at.
    pub(crate) trouble: Option<String>,
}

/// A file that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: String,
    pub(crate) size: u64,
    /// What is in it, as far as that was wanted, or why it cannot be told.
    pub(crate) contents: Vec<Result<Value, String>>,
}

/// Looks for the files that an expectation is about.
pub(super) fn look(folder: Option<&Path>, wanted: &FileExpect) -> Look {
    let mut look = Look::default();
    let Some(folder) = folder else { return look };
    // The folder itself may be behind a link.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut seen = 0;
    for entry in WalkDir::new(&folder).min_depth(1).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                look.trouble = Some(error.to_string());
                continue;
            }
        };
        if entry.file_type().is_dir() {
            continue;
        }
        seen += 1;
        if seen > MANY {
            look.trouble = Some(format!("there are more than {MANY} files"));
            break;
        }
        let path = entry.path().strip_prefix(&folder).unwrap_or(entry.path());
        if wanted.glob.is_match(path) {
            look.found.push(found(&folder, entry.path(), path, wanted));
        } else if look.others.len() < OTHERS {
            look.others.push(path.display().to_string());
        }
    }
    look
}

fn found(folder: &Path, file: &Path, path: &Path, wanted: &FileExpect) -> Found {
    let path = path.display().to_string();
    let size = std::fs::metadata(file).map_or(0, |it| it.len());
    let read = match wanted.contents.is_empty() {
        true => Ok(Vec::new()),
        false => read(folder, file),
    };
    let contents = wanted.contents.iter().map(|(reading, _)| match &read {
        Ok(bytes) => told(*reading, bytes),
        Err(why) => Err(why.clone()),
    });
    Found { path, size, contents: contents.collect() }
}

/// All of a file, if it is one, and not outside.
fn read(folder: &Path, file: &Path) -> Result<Vec<u8>, String> {
    let told = |error: std::io::Error| format!("it cannot be read: {error}");
    let real = file.canonicalize().map_err(told)?;
    if !real.starts_with(folder) {
        return Err("it is a link that leads out of the folder".to_owned());
    }
    let metadata = std::fs::metadata(&real).map_err(told)?;
    if !metadata.is_file() {
        return Err("it is no file".to_owned());
    }
    if metadata.len() > MOST {
        return Err(format!("it has {} bytes, and at most {MOST} are read", metadata.len()));
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    File::open(&real).and_then(|file| file.take(MOST).read_to_end(&mut bytes)).map_err(told)?;
    Ok(bytes)
}

fn told(reading: Reading, bytes: &[u8]) -> Result<Value, String> {
    match reading {
        Reading::Base64 => Ok(Value::from(STANDARD.encode(bytes))),
        Reading::Json => {
            serde_json::from_slice(bytes).map_err(|error| format!("it is no JSON: {error}"))
        }
        Reading::Text => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::from(text)),
            Err(error) => Err(format!("it is no text: {error}")),
        },
    }
}
