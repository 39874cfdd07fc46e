//! `cargo xtask tidy`: the rules of this repository that no compiler checks.
//!
//! Each check is a file of its own below `tidy/`: a function from the files'
//! text to the problems found in it. Only this file reads the disk.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::command::command;

mod file_names;
mod headers;
mod length;
mod machine;
mod packages;
mod seeds;
mod unfinished;

/// A text file of the repository.
struct File {
    /// Its path from the root, with `/` between the parts.
    path: String,
    text: String,
}

impl File {
    /// Whether it is Rust code of ours.
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
            && ["crates/", "examples/", "xtask/", "fuzz/"]
                .iter()
                .any(|folder| self.path.starts_with(folder))
    }

    /// The problem `what` at the line with this index.
    fn problem(&self, index: usize, what: &str) -> String {
        format!("{}:{}: {what}", self.path, index + 1)
    }
}

/// Runs all checks and names every problem before it fails.
pub(crate) fn run(root: &Path) -> Result<()> {
    let files = read(root)?;
    let checks = [
        headers::check,
        file_names::check,
        length::check,
        unfinished::check,
        machine::check,
        packages::check,
        seeds::check,
    ];
    let problems: Vec<String> = checks.iter().flat_map(|check| check(&files)).collect();
    for problem in &problems {
        eprintln!("{problem}");
    }
    ensure!(problems.is_empty(), "tidy found {} problems", problems.len());
    eprintln!("tidy: {} files are fine", files.len());
    Ok(())
}

/// Reads what git tracks or would track. A file that is not text, or that is
/// deleted but not yet committed so, is left out.
fn read(root: &Path) -> Result<Vec<File>> {
    let line = "git ls-files -z --cached --others --exclude-standard";
    let output = command(root, line).output().context("could not start `git`")?;
    ensure!(
        output.status.success(),
        "`git ls-files` ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let listing = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let mut files = Vec::new();
    for path in listing.split_terminator('\0') {
        let place = root.join(path);
        if !place.is_file() {
            continue;
        }
        let bytes = fs::read(&place).with_context(|| format!("reading {path}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            let path = path.to_owned();
            files.push(File { path, text });
        }
    }
    Ok(files)
}

/// Makes a file for the tests of a check.
#[cfg(test)]
fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), text: text.to_owned() }
}
