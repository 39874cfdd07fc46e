//! The files that a suite depends on, for `--watch`.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use sparring_script::Node;

use super::{Loader, one_or_many};
use crate::find::{walk_files, without_dot};
use crate::model::Glob;

/// The files that a suite depends on.
#[derive(Debug, Default)]
pub struct WatchedFiles {
    /// The suite, its includes, its mock scripts, and the files that they name.
    pub(super) files: BTreeSet<PathBuf>,
    /// The patterns of `watch` with the folders to search.
    patterns: Vec<(PathBuf, Glob)>,
}

impl WatchedFiles {
    pub(super) fn new(suite: &Path) -> WatchedFiles {
        WatchedFiles { files: [suite.to_owned()].into(), patterns: Vec::new() }
    }

    pub(super) fn extend(&mut self, other: WatchedFiles) {
        self.files.extend(other.files);
        self.patterns.extend(other.patterns);
    }

    /// The files that exist now.
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let mut files = self.files.clone();
        for (base, pattern) in &self.patterns {
            // Unreadable folders are ignored.
            let found =
                walk_files(base).filter_map(Result::ok).map(|entry| without_dot(entry.path()));
            files.extend(found.filter(|path| pattern.is_match(path) && !path.is_dir()));
        }
        files
    }

    /// The folders in which new files can match.
    pub fn folders(&self) -> BTreeSet<PathBuf> {
        let looked = self.patterns.iter().flat_map(|(base, _)| walk_files(base));
        let entries = looked.filter_map(Result::ok).filter(|entry| entry.file_type().is_dir());
        entries.map(|entry| entry.into_path()).collect()
    }
}

impl Loader {
    pub(super) fn read_watch(&mut self, node: &Node) {
        let Some(watch) = node.get("watch") else { return };
        let folder = self.files.folder(watch.span).to_owned();
        for node in one_or_many(watch) {
            let Some(text) = node.as_str() else { continue };
            match Glob::below(&folder, text) {
                Ok(glob) => self.watched.patterns.push((search_root(&folder, text), glob)),
                Err(why) => {
                    let message = format!("not a file pattern: {why}");
                    self.problems.add(node.span, message);
                }
            }
        }
    }
}

/// The folder to search for a pattern: `folder` and the beginning of the pattern that is
/// a plain path.
fn search_root(folder: &Path, pattern: &str) -> PathBuf {
    let plain =
        |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let start: PathBuf = Path::new(pattern).components().take_while(plain).collect();
    let base = folder.join(start);
    if base.as_os_str().is_empty() { PathBuf::from(".") } else { base }
}
