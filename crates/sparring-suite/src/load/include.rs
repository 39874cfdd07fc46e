//! Reads the files that a suite includes, each once, and merges them into the suite. A
//! name that is defined twice is a problem.

use std::path::{Path, PathBuf};

use sparring_script::{MapEntry, Node, NodeKind, Problems, Shape, Source, Span, grammar};
use sparring_transport::{MAX_SCRIPT_BYTES, read_text_file};

use super::one_or_many;
use crate::grammar::{SHARED, SUITE};
use crate::model::Files;

/// The keys that an included file can have, and the noun for one of their entries.
const SHARED_KEYS: [(&str, &str); 3] =
    [("servers", "server"), ("mocks", "mock"), ("fragments", "fragment")];

/// A suite merged with all files that it includes.
pub(super) struct MergedSuite {
    pub(super) node: Node,
    pub(super) files: Files,
    pub(super) problems: Problems,
    /// The problems of files that are not YAML.
    pub(super) unreadable: Vec<Problems>,
    /// Every included file, even unreadable ones.
    pub(super) named: Vec<PathBuf>,
}

/// Reads a suite and all files that it includes.
///
/// # Errors
/// When the suite itself is not YAML.
pub(super) fn read(source: &Source, folder: &Path) -> Result<MergedSuite, Problems> {
    let mut node = Node::parse(source)?;
    let mut includes = Includes::default();
    includes.files.add(source.clone(), folder.to_owned());
    let own = Path::new(source.name()).file_name().map_or(folder.to_owned(), |it| folder.join(it));
    includes.open.push(identity(&own));
    includes.add_all(&node, folder);
    let mut problems = Problems::new(&includes.files.joined());
    for (span, message) in std::mem::take(&mut includes.wrong) {
        problems.add(span, message);
    }
    for shared in &mut includes.nodes {
        grammar::check_node(shared, &Shape::Object(&SHARED), &mut problems);
    }
    grammar::check_node(&mut node, &Shape::Object(&SUITE), &mut problems);
    for shared in std::mem::take(&mut includes.nodes) {
        merge(&mut node, shared, &includes.files, &mut problems);
    }
    let Includes { files, unreadable, named, .. } = includes;
    Ok(MergedSuite { node, files, problems, unreadable, named })
}

#[derive(Default)]
struct Includes {
    files: Files,
    /// The included files in order.
    nodes: Vec<Node>,
    /// The files that were read.
    known: Vec<PathBuf>,
    /// The files that are being read, each included by the one before it.
    open: Vec<PathBuf>,
    wrong: Vec<(Span, String)>,
    unreadable: Vec<Problems>,
    named: Vec<PathBuf>,
}

impl Includes {
    fn add_all(&mut self, node: &Node, folder: &Path) {
        let includes = node.get("include").map(one_or_many).unwrap_or_default();
        for path in includes {
            if let Some(name) = path.as_str() {
                self.add(&folder.join(name), path.span);
            }
        }
    }

    fn add(&mut self, path: &Path, span: Span) {
        let identity = identity(path);
        if self.open.contains(&identity) {
            let message = format!("{} includes itself", path.display());
            return self.wrong.push((span, message));
        }
        // Two files may include the same third file.
        if self.known.contains(&identity) {
            return;
        }
        self.named.push(path.to_owned());
        let text = match read_text_file(path, MAX_SCRIPT_BYTES) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("cannot read {}: {error}", path.display());
                return self.wrong.push((span, message));
            }
        };
        self.known.push(identity.clone());
        let source = Source::new(path.display().to_string(), text);
        let mut node = match Node::parse(&source) {
            Ok(node) => node,
            Err(problems) => return self.unreadable.push(problems),
        };
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let start = self.files.add(source, folder.clone());
        shift(&mut node, start);
        self.open.push(identity);
        self.add_all(&node, &folder);
        self.open.pop();
        self.nodes.push(node);
    }
}

/// The canonical path of a file, which identifies it.
fn identity(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Shifts the spans of one file to their place in the joined text of all files.
fn shift(node: &mut Node, by: usize) {
    let moved = |span: Span| Span { start: span.start + by, end: span.end + by };
    node.span = moved(node.span);
    match &mut node.kind {
        NodeKind::List(items) => items.iter_mut().for_each(|item| shift(item, by)),
        NodeKind::Map(entries) => {
            for entry in entries {
                entry.key_span = moved(entry.key_span);
                shift(&mut entry.value, by);
            }
        }
        _ => {}
    }
}

/// Merges the entries of an included file into the suite.
fn merge(node: &mut Node, shared: Node, files: &Files, problems: &mut Problems) {
    let (NodeKind::Map(own), NodeKind::Map(shared)) = (&mut node.kind, shared.kind) else { return };
    for entry in shared {
        let Some((_, what)) = SHARED_KEYS.iter().find(|(key, _)| *key == entry.key) else {
            continue;
        };
        let at = own.iter().position(|known| known.key == entry.key);
        let Some(known) = at.map(|at| &mut own[at].value) else {
            own.push(entry);
            continue;
        };
        let (NodeKind::Map(known), NodeKind::Map(more)) = (&mut known.kind, entry.value.kind)
        else {
            continue;
        };
        for entry in more {
            match known.iter().find(|it| it.key == entry.key) {
                None => known.push(entry),
                Some(first) => problems.add(entry.key_span, duplicate(what, first, files)),
            }
        }
    }
}

fn duplicate(what: &str, first: &MapEntry, files: &Files) -> String {
    let place = files.place(first.key_span).map(|(source, span)| source.location(span));
    format!("{what} `{}` is already defined at {}", first.key, place.unwrap_or_default())
}
