//! Renders the list of public items, with the library's paths.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};

use super::names::RustdocCrates;

/// Renders the public items of these crates, the library first: a line for each item,
/// and a line for each type in them that the library does not export.
pub(super) fn render_listing(folder: &Path, crates: &[&str]) -> Result<String> {
    let rustdoc = RustdocCrates::load(folder, crates)?;
    let paths = PathMap::new(&rustdoc, crates);
    let mut lines = BTreeSet::new();
    for name in crates {
        let own = name.replace('-', "_");
        let json = folder.join(format!("{own}.json"));
        let api = public_api::Builder::from_rustdoc_json(&json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()
            .with_context(|| format!("reading {}", json.display()))?;
        let is_exported = |line: &String| match *name == crates[0] {
            // Re-exported items are listed with their definition.
            true => !line.starts_with("pub use "),
            false => paths.find(subject(line)).is_some(),
        };
        lines.extend(api.items().map(ToString::to_string).filter(is_exported));
    }
    let mut listed = BTreeSet::new();
    for line in lines {
        let (line, unnamed) = paths.rename(&line);
        listed.insert(line);
        listed.extend(unnamed.into_iter().map(|name| format!("without a name here: {name}")));
    }
    let mut listed: Vec<String> = listed.into_iter().collect();
    // Groups the lines of one item.
    listed.sort_by(|one, other| subject(one).cmp(subject(other)).then_with(|| one.cmp(other)));
    Ok(listed.into_iter().map(|line| line + "\n").collect())
}

/// Returns the items of the library that have more than one public path, with their paths.
pub(super) fn items_with_several_names(folder: &Path, crates: &[&str]) -> Result<Vec<String>> {
    let library = RustdocCrates::load(folder, crates)?.public_paths(crates[0]);
    let mut by_definition = BTreeMap::<&str, Vec<&str>>::new();
    for (path, defined) in &library {
        by_definition.entry(defined).or_default().push(path);
    }
    let several = by_definition.values().filter(|paths| paths.len() > 1);
    Ok(several.map(|paths| paths.join(", ")).collect())
}

/// Maps the paths of other crates to the library's.
struct PathMap(BTreeMap<String, String>);

impl PathMap {
    fn new(rustdoc: &RustdocCrates, crates: &[&str]) -> Self {
        let library = rustdoc.public_paths(crates[0]);
        let mut by_definition = BTreeMap::<&str, &str>::new();
        for (path, defined) in &library {
            let shorter = |found: &&str| found.len() <= path.len();
            if !by_definition.get(defined.as_str()).is_some_and(shorter) {
                by_definition.insert(defined, path);
            }
        }
        let mut paths: BTreeMap<String, String> =
            by_definition.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        for name in &crates[1..] {
            for (path, defined) in rustdoc.public_paths(&name.replace('-', "_")) {
                if let Some(to) = by_definition.get(defined.as_str()) {
                    paths.insert(path, (*to).to_owned());
                }
            }
        }
        PathMap(paths)
    }

    /// Finds the longest mapped prefix of a path; returns the library's path for it, and
    /// the rest.
    fn find<'a>(&self, path: &'a str) -> Option<(&str, &'a str)> {
        let mut end = path.len();
        loop {
            if let Some(name) = self.0.get(&path[..end]) {
                return Some((name, &path[end..]));
            }
            end = path[..end].rfind("::")?;
        }
    }

    /// Rewrites a line with the library's paths; returns also the paths without one.
    fn rename(&self, line: &str) -> (String, Vec<String>) {
        let (mut text, mut unnamed) = (String::new(), Vec::new());
        let mut rest = line;
        while !rest.is_empty() {
            let path = leading_path(rest);
            let length = path.len().max(rest.chars().next().map_or(1, char::len_utf8));
            match (path.starts_with("sparring"), self.find(path)) {
                (true, Some((name, more))) => text += &format!("{name}{more}"),
                (true, None) if path.starts_with("sparring_") => {
                    unnamed.push(path.to_owned());
                    text += path;
                }
                _ => text += &rest[..length],
            }
            rest = &rest[length..];
        }
        (text, unnamed)
    }
}

/// Returns the path that a line is about: the type of an `impl`, or the declared item.
fn subject(line: &str) -> &str {
    let line = match line.starts_with("impl") {
        true => line.split_once(" for ").map_or(line, |(_, about)| about),
        false => line,
    };
    let at = line.find("sparring").unwrap_or(line.len());
    leading_path(&line[at..])
}

/// Returns the path at the start of a text; empty if there is none.
fn leading_path(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    text[..end.unwrap_or(text.len())].trim_end_matches(':')
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{PathMap, subject};

    fn path_map() -> PathMap {
        let pairs = [
            ("sparring_wire::frame::Frame", "sparring::Frame"),
            ("sparring_peer::Link", "sparring::link::Link"),
        ];
        PathMap(BTreeMap::from(pairs.map(|(from, to)| (from.to_owned(), to.to_owned()))))
    }

    #[test]
    fn a_line_is_rewritten_with_the_librarys_paths() {
        let check = |line: &str, expected: &str, unnamed_paths: &[&str]| {
            let (text, unnamed) = path_map().rename(line);
            assert_eq!(
                (text.as_str(), unnamed),
                (expected, unnamed_paths.iter().map(ToString::to_string).collect())
            );
        };
        check(
            "pub fn sparring_peer::Link::send(&self, frame: sparring_wire::frame::Frame) -> «»",
            "pub fn sparring::link::Link::send(&self, frame: sparring::Frame) -> «»",
            &[],
        );
        check(
            "pub x: sparring_peer::Linked",
            "pub x: sparring_peer::Linked",
            &["sparring_peer::Linked"],
        );
    }

    #[test]
    fn the_subject_of_a_line_is_its_item_or_implementing_type() {
        let check = |line, expected| assert_eq!(subject(line), expected);
        check(
            "pub fn sparring_wire::Frame::id(&self) -> sparring_wire::Id",
            "sparring_wire::Frame::id",
        );
        check("impl sparring_peer::Link for sparring_wire::Frame", "sparring_wire::Frame");
        check("impl<T> core::clone::Clone for sparring_wire::Frame<T>", "sparring_wire::Frame");
        check("impl sparring_wire::Frame", "sparring_wire::Frame");
    }
}
