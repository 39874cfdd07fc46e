//! `cargo xtask public-api`: compares the public API of the library with a list in
//! the repository, so that every change is visible in review.
//!
//! The list has what a user sees: an item of another crate of the workspace has the
//! library's path for it. A type that a user gets but cannot name has a line too.
//!
//! The list is made from rustdoc's JSON, which only nightly compilers write.
//! `RUSTC_BOOTSTRAP` enables it for the installed compiler, so that no other
//! toolchain is needed.

mod listing;
mod names;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, run as run_command};

const LIST_FILE: &str = "crates/sparring/public-api.txt";

/// The library, and the crates that it re-exports.
const CRATES: [&str; 7] = [
    "sparring",
    "sparring-check",
    "sparring-mock",
    "sparring-peer",
    "sparring-script",
    "sparring-transport",
    "sparring-wire",
];

/// Compares the public API with the list, or updates the list.
pub(crate) fn run(root: &Path, bless: bool) -> Result<()> {
    let json_folder = build_json_docs(root)?;
    let duplicates = listing::items_with_several_names(&json_folder, &CRATES)?;
    ensure!(duplicates.is_empty(), "items with several names:\n{}", duplicates.join("\n"));
    let found = listing::render_listing(&json_folder, &CRATES)?;
    let path = root.join(LIST_FILE);
    if bless {
        return fs::write(&path, &found).with_context(|| format!("writing {LIST_FILE}"));
    }
    let listed = fs::read_to_string(&path).with_context(|| format!("reading {LIST_FILE}"))?;
    let changes = render_changes(&listed, &found);
    for line in &changes {
        eprintln!("{line}");
    }
    ensure!(
        changes.is_empty(),
        "the public API of the library differs from {LIST_FILE}; \
         `cargo xtask public-api --bless` updates the list"
    );
    eprintln!("{LIST_FILE}: {} lines, no changes", listed.lines().count());
    Ok(())
}

/// Writes the JSON documentation of the crates. It has its own target folder, because
/// the flag would make cargo rebuild everything in the usual one.
fn build_json_docs(root: &Path) -> Result<std::path::PathBuf> {
    let target = root.join("target/public-api");
    let packages: String = CRATES.iter().map(|name| format!(" -p {name}")).collect();
    let line = format!("cargo doc --no-deps --lib --all-features --quiet{packages}");
    let mut cargo = command(root, &line);
    cargo.env("CARGO_TARGET_DIR", &target).env("RUSTC_BOOTSTRAP", "1");
    cargo.env("RUSTDOCFLAGS", "-Zunstable-options --output-format=json");
    run_command(cargo)?;
    Ok(target.join("doc"))
}

/// Renders the lines that only one of both has.
fn render_changes(listed: &str, found: &str) -> Vec<String> {
    let [old, new] = [listed, found].map(|text| text.lines().collect::<BTreeSet<_>>());
    let removed = listed.lines().filter(|line| !new.contains(line)).map(|line| format!("- {line}"));
    let added = found.lines().filter(|line| !old.contains(line)).map(|line| format!("+ {line}"));
    let changes: Vec<String> = removed.chain(added).collect();
    match changes.is_empty() && listed != found {
        true => vec!["  the same lines in another order".to_owned()],
        false => changes,
    }
}

#[cfg(test)]
mod tests {
    use super::render_changes;

    #[test]
    fn renders_removed_and_added_lines() {
        assert_eq!(render_changes("a\nb\nc\n", "a\nc\nd\n"), ["- b", "+ d"]);
        assert_eq!(render_changes("a\nb\n", "a\nb\n"), [""; 0]);
        assert_eq!(render_changes("a\nb\n", "b\na\n"), ["  the same lines in another order"]);
    }
}
