//! The files that a suite is about: a change of one is a reason to read it and
//! to run it again.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use sparring_script::Node;

use super::{Loader, one_or_many};
use crate::find::{shown, walk};
use crate::model::Glob;

/// The files that a suite is about.
#[derive(Debug, Default)]
pub struct Watched {
    /// Its own, those that it includes, the scripts of its mocks, and what
    /// those name.
    pub(super) files: BTreeSet<PathBuf>,
    /// Its `watch`: where to look, and for what.
    patterns: Vec<(PathBuf, Glob)>,
}

impl Watched {
    pub(super) fn of(suite: &Path) -> Watched {
        Watched { files: [suite.to_owned()].into(), patterns: Vec::new() }
    }

    pub(super) fn extend(&mut self, other: Watched) {
        self.files.extend(other.files);
        self.patterns.extend(other.patterns);
    }

    /// All of them, as they are now.
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let mut files = self.files.clone();
        for (base, pattern) in &self.patterns {
            // What cannot be looked into has nothing to watch.
            let found = walk(base).filter_map(Result::ok).map(|entry| shown(entry.path()));
            files.extend(found.filter(|path| pattern.is_match(path) && !path.is_dir()));
        }
        files
    }

    /// The folders in which more of them may appear.
    pub fn folders(&self) -> BTreeSet<PathBuf> {
        let looked = self.patterns.iter().flat_map(|(base, _)| walk(base));
        let entries = looked.filter_map(Result::ok).filter(|entry| entry.file_type().is_dir());
        entries.map(|entry| entry.into_path()).collect()
    }
}

impl Loader {
    pub(super) fn watch(&mut self, node: &Node) {
        let Some(watch) = node.get("watch") else { return };
        let folder = self.files.folder(watch.span).to_owned();
        for node in one_or_many(watch) {
            let Some(text) = node.as_str() else { continue };
            match Glob::below(&folder, text) {
                Ok(glob) => self.watched.patterns.push((base(&folder, text), glob)),
                Err(why) => {
                    let message = format!("this is no pattern of files: {why}");
                    self.problems.add(node.span, message);
                }
            }
        }
    }
}

/// Where to look for the files of a pattern: the folder, and what of the pattern is a plain
/// path.
fn base(folder: &Path, pattern: &str) -> PathBuf {
    let plain =
        |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let start: PathBuf = Path::new(pattern).components().take_while(plain).collect();
    let base = folder.join(start);
    if base.as_os_str().is_empty() { PathBuf::from(".") } else { base }
}
