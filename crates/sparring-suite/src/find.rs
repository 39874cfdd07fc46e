//! Finds the suites below files and folders.

use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

/// How the names of suites end.
const ENDING: &str = ".spar.yaml";

/// Folders that are never looked into: they are full, and not the user's own.
const LEFT_OUT: [&str; 2] = ["node_modules", "target"];

/// Why a path could not be looked at.
#[derive(Debug, thiserror::Error)]
#[error("cannot look at {}: {error}", path.display())]
pub struct FindError {
    path: PathBuf,
    error: std::io::Error,
}

/// The suites below these paths, each once, in the order of the paths and below
/// each by name. A file that is named itself is taken whatever it is called.
/// Hidden folders are left out.
///
/// # Errors
/// When a path is not there or cannot be read.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FindError> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths {
        for entry in walk(path) {
            let entry = entry.map_err(|error| {
                let path = error.path().unwrap_or(path).to_owned();
                let loops = || std::io::Error::other("its links lead in a circle");
                let error = error.into_io_error().unwrap_or_else(loops);
                FindError { path, error }
            })?;
            let named = entry.depth() == 0;
            let is_suite = named || entry.file_name().to_string_lossy().ends_with(ENDING);
            if is_suite && !entry.path().is_dir() {
                let file = shown(entry.path());
                if !found.contains(&file) {
                    found.push(file);
                }
            }
        }
    }
    Ok(found)
}

/// All that is below a path, in the order of names; hidden folders and those
/// that are not the user's own are left out.
pub(crate) fn walk(path: &Path) -> impl Iterator<Item = walkdir::Result<DirEntry>> {
    WalkDir::new(path).sort_by_file_name().into_iter().filter_entry(is_open)
}

/// Without the `./` that nobody wants to read.
pub(crate) fn shown(path: &Path) -> PathBuf {
    path.strip_prefix(".").unwrap_or(path).to_owned()
}

fn is_open(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    let folder = entry.file_type().is_dir();
    entry.depth() == 0 || !folder || !(name.starts_with('.') || LEFT_OUT.contains(&&*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_found_by_name_and_hidden_and_foreign_folders_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in
            ["b/c.spar.yaml", "a.spar.yaml", ".x/d.spar.yaml", "target/e.spar.yaml", "f.yaml"]
        {
            std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            std::fs::write(at(path), "").unwrap();
        }
        let found = find(&[folder.path().to_owned(), at("f.yaml"), at("a.spar.yaml")]).unwrap();
        assert_eq!(found, [at("a.spar.yaml"), at("b/c.spar.yaml"), at("f.yaml")]);
        let told = find(&[at("nowhere")]).unwrap_err().to_string();
        assert!(told.contains("nowhere: "), "{told}");
    }
}
