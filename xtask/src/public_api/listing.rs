//! The list itself: what each crate has in public, by the library's names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};

use super::names::Described;

/// Lists what these crates, the library first, are described to have: a line for
/// each thing, and one for each that is met in those and has no name in the
/// library.
pub(super) fn read(folder: &Path, crates: &[&str]) -> Result<String> {
    let described = Described::read(folder, crates)?;
    let names = Renaming::new(&described, crates);
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
        let of_the_library = |line: &String| match *name == crates[0] {
            // What is used from elsewhere is listed as what it is.
            true => !line.starts_with("pub use "),
            false => names.find(subject(line)).is_some(),
        };
        lines.extend(api.items().map(ToString::to_string).filter(of_the_library));
    }
    let mut listed = BTreeSet::new();
    for line in lines {
        let (line, unnamed) = names.rename(&line);
        listed.insert(line);
        listed.extend(unnamed.into_iter().map(|name| format!("without a name here: {name}")));
    }
    let mut listed: Vec<String> = listed.into_iter().collect();
    // What belongs together stands together.
    listed.sort_by(|one, other| subject(one).cmp(subject(other)).then_with(|| one.cmp(other)));
    Ok(listed.into_iter().map(|line| line + "\n").collect())
}

/// From other crates' names to the library's.
struct Renaming(BTreeMap<String, String>);

impl Renaming {
    fn new(described: &Described, crates: &[&str]) -> Self {
        let library = described.names(crates[0]);
        let mut by_definition = BTreeMap::<&str, &str>::new();
        for (path, defined) in &library {
            let shorter = |found: &&str| found.len() <= path.len();
            if !by_definition.get(defined.as_str()).is_some_and(shorter) {
                by_definition.insert(defined, path);
            }
        }
        let mut renaming: BTreeMap<String, String> =
            by_definition.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        for name in &crates[1..] {
            for (path, defined) in described.names(&name.replace('-', "_")) {
                if let Some(to) = by_definition.get(defined.as_str()) {
                    renaming.insert(path, (*to).to_owned());
                }
            }
        }
        Renaming(renaming)
    }

    /// The library's name for what the path begins with, and what is left of
    /// the path.
    fn find<'a>(&self, path: &'a str) -> Option<(&str, &'a str)> {
        let mut end = path.len();
        loop {
            if let Some(name) = self.0.get(&path[..end]) {
                return Some((name, &path[end..]));
            }
            end = path[..end].rfind("::")?;
        }
    }

    /// A line in the library's words, and the paths for which it has none.
    fn rename(&self, line: &str) -> (String, Vec<String>) {
        let (mut text, mut unnamed) = (String::new(), Vec::new());
        let mut rest = line;
        while !rest.is_empty() {
            let path = path_at_the_start(rest);
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

/// What a line is about: the type of an `impl`, or else what is declared.
fn subject(line: &str) -> &str {
    let line = match line.starts_with("impl") {
        true => line.split_once(" for ").map_or(line, |(_, about)| about),
        false => line,
    };
    let at = line.find("sparring").unwrap_or(line.len());
    path_at_the_start(&line[at..])
}

/// The path that a text begins with; nothing where it begins with none.
fn path_at_the_start(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    text[..end.unwrap_or(text.len())].trim_end_matches(':')
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Renaming, subject};

    fn renaming() -> Renaming {
        let pairs = [
            ("sparring_wire::frame::Frame", "sparring::Frame"),
            ("sparring_peer::Link", "sparring::link::Link"),
        ];
        Renaming(BTreeMap::from(pairs.map(|(from, to)| (from.to_owned(), to.to_owned()))))
    }

    #[test]
    fn a_line_is_told_in_the_librarys_words() {
        let check = |line: &str, expected: &str, strangers: &[&str]| {
            let (text, unnamed) = renaming().rename(line);
            assert_eq!(
                (text.as_str(), unnamed),
                (expected, strangers.iter().map(ToString::to_string).collect())
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
    fn a_line_is_about_what_it_declares_or_implements() {
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
