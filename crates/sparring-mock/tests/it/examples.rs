//! The examples of the repository load.

use std::fs;
use std::path::{Path, PathBuf};

use sparring_mock::{MockServer, Settings};

/// Returns every example with its text.
pub(crate) fn all() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let scripts = entries.filter(|path| path.to_string_lossy().ends_with(".mock.yaml"));
    let all: Vec<_> =
        scripts.map(|path| (path.clone(), fs::read_to_string(&path).unwrap())).collect();
    assert!(!all.is_empty());
    all
}

#[test]
fn every_example_loads() {
    for (path, _) in all() {
        if let Err(error) = MockServer::from_file(&path, &Settings::default()) {
            panic!("{error}");
        }
    }
}
