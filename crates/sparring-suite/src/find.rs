//! Finds suites in files and folders.

use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

/// The suffixes of suite files.
const SUFFIXES: [&str; 2] = [".spar.yaml", ".spar.yml"];

/// Folders that are not searched: they are large and contain generated files.
const SKIPPED_FOLDERS: [&str; 2] = ["node_modules", "target"];

/// The error of a path that could not be searched.
#[derive(Debug, thiserror::Error)]
#[error("{}", find_message(path, error))]
pub struct FindError {
    path: PathBuf,
    error: std::io::Error,
}

fn find_message(path: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("no such file or folder: {}", path.display()),
        _ => format!("cannot read {}: {error}", path.display()),
    }
}

/// Finds the suites in these paths, each once, in the order of the paths and by name in
/// each folder. A path to a file is always a suite, even without the suffix. Skips hidden
/// folders.
///
/// # Errors
/// When a path does not exist or cannot be read.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FindError> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths {
        for entry in walk_files(path) {
            let entry = entry.map_err(|error| {
                let path = error.path().unwrap_or(path).to_owned();
                let loops = || std::io::Error::other("its links form a loop");
                let error = error.into_io_error().unwrap_or_else(loops);
                FindError { path, error }
            })?;
            let named = entry.depth() == 0;
            if (named || is_suite(&entry)) && !entry.path().is_dir() {
                let file = without_dot(entry.path());
                if !found.contains(&file) {
                    found.push(file);
                }
            }
        }
    }
    Ok(found)
}

/// All entries below a path in the order of names, without hidden and skipped folders.
pub(crate) fn walk_files(path: &Path) -> impl Iterator<Item = walkdir::Result<DirEntry>> {
    WalkDir::new(path).sort_by_file_name().into_iter().filter_entry(is_searched)
}

/// Returns true if a file or a folder has the name of a suite.
pub(crate) fn is_suite(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

/// Removes a leading `./`.
pub(crate) fn without_dot(path: &Path) -> PathBuf {
    path.strip_prefix(".").unwrap_or(path).to_owned()
}

pub(crate) fn is_searched(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    let folder = entry.file_type().is_dir();
    entry.depth() == 0 || !folder || !(name.starts_with('.') || SKIPPED_FOLDERS.contains(&&*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_suites_by_name_and_skips_hidden_folders() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in
            ["b/c.spar.yml", "a.spar.yaml", ".x/d.spar.yaml", "target/e.spar.yaml", "f.yaml"]
        {
            std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            std::fs::write(at(path), "").unwrap();
        }
        let found = find(&[folder.path().to_owned(), at("f.yaml"), at("a.spar.yaml")]).unwrap();
        assert_eq!(found, [at("a.spar.yaml"), at("b/c.spar.yml"), at("f.yaml")]);
        let message = find(&[at("nowhere")]).unwrap_err().to_string();
        assert!(message.starts_with("no such file or folder: "), "{message}");
    }
}
