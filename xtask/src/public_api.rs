//! `cargo xtask public-api`: all that the library has in public, as text that is
//! kept in the repository, so that no change of it goes unseen.
//!
//! The list is what a user sees: what comes from another crate of ours stands
//! under the library's own name for it, with all that it has. What a user meets
//! and cannot name has a line too, so that no more of it comes in unseen.
//!
//! It is made from rustdoc's JSON, which only nightly compilers give willingly.
//! The compiler that builds everything else is told to be one, for this alone,
//! so that no other toolchain has to be there.

mod listing;
mod names;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, run as run_command};

/// Where the list is kept.
const KEPT: &str = "crates/sparring/public-api.txt";

/// The library, and the crates that it shows parts of.
const CRATES: [&str; 6] = [
    "sparring",
    "sparring-mock",
    "sparring-peer",
    "sparring-script",
    "sparring-transport",
    "sparring-wire",
];

/// Holds what there is against what is kept, or keeps it.
pub(crate) fn run(root: &Path, bless: bool) -> Result<()> {
    let documented = document(root)?;
    let found = listing::read(&documented, &CRATES)?;
    let path = root.join(KEPT);
    if bless {
        return fs::write(&path, &found).with_context(|| format!("writing {KEPT}"));
    }
    let kept = fs::read_to_string(&path).with_context(|| format!("reading {KEPT}"))?;
    let changes = changes(&kept, &found);
    for line in &changes {
        eprintln!("{line}");
    }
    ensure!(
        changes.is_empty(),
        "the library's public API is not what {KEPT} says; `cargo xtask public-api --bless` \
         writes what it is now"
    );
    eprintln!("{KEPT}: {} lines are as they were", kept.lines().count());
    Ok(())
}

/// Has the crates documented as JSON, in a folder of its own: the flag makes all
/// that is built differ from what is built without it.
fn document(root: &Path) -> Result<std::path::PathBuf> {
    let target = root.join("target/public-api");
    let packages: String = CRATES.iter().map(|name| format!(" -p {name}")).collect();
    let line = format!("cargo doc --no-deps --lib --all-features --quiet{packages}");
    let mut cargo = command(root, &line);
    cargo.env("CARGO_TARGET_DIR", &target).env("RUSTC_BOOTSTRAP", "1");
    cargo.env("RUSTDOCFLAGS", "-Zunstable-options --output-format=json");
    run_command(cargo)?;
    Ok(target.join("doc"))
}

/// The lines that are only in one of both.
fn changes(kept: &str, found: &str) -> Vec<String> {
    let [old, new] = [kept, found].map(|text| text.lines().collect::<BTreeSet<_>>());
    let gone = kept.lines().filter(|line| !new.contains(line)).map(|line| format!("- {line}"));
    let come = found.lines().filter(|line| !old.contains(line)).map(|line| format!("+ {line}"));
    let changes: Vec<String> = gone.chain(come).collect();
    match changes.is_empty() && kept != found {
        true => vec!["  the same lines in another order".to_owned()],
        false => changes,
    }
}

#[cfg(test)]
mod tests {
    use super::changes;

    #[test]
    fn tells_what_is_gone_and_what_has_come() {
        assert_eq!(changes("a\nb\nc\n", "a\nc\nd\n"), ["- b", "+ d"]);
        assert_eq!(changes("a\nb\n", "a\nb\n"), [""; 0]);
        assert_eq!(changes("a\nb\n", "b\na\n"), ["  the same lines in another order"]);
    }
}
