//! `cargo xtask tidy`: checks the rules of this repository that the compiler does not
//! check.
//!
//! Each check is a file below `tidy/`: a function that takes the files and returns the
//! problems. Only this file reads the disk.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::command::command;

mod file_names;
mod headers;
mod length;
mod machine_paths;
mod packages;
mod seeds;
mod unfinished;

/// A text file of the repository.
struct File {
    /// The path from the root, separated by `/`.
    path: String,
    text: String,
}

impl File {
    /// Returns true if it is Rust code of this repository.
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
            && ["crates/", "examples/", "xtask/", "fuzz/"]
                .iter()
                .any(|folder| self.path.starts_with(folder))
    }

    /// Renders a problem at the line with this index.
    fn problem(&self, index: usize, message: &str) -> String {
        format!("{}:{}: {message}", self.path, index + 1)
    }
}

/// Runs all checks, prints every problem, and fails if there are any.
pub(crate) fn run(root: &Path) -> Result<()> {
    let files = read_files(root)?;
    let checks = [
        headers::check,
        file_names::check,
        length::check,
        unfinished::check,
        machine_paths::check,
        packages::check,
        seeds::check,
    ];
    let problems: Vec<String> = checks.iter().flat_map(|check| check(&files)).collect();
    for problem in &problems {
        eprintln!("{problem}");
    }
    ensure!(problems.is_empty(), "tidy found {} problems", problems.len());
    eprintln!("tidy: {} files without problems", files.len());
    Ok(())
}

/// Reads the files that git tracks or would track, but no binary files and no files
/// that were deleted without a commit.
fn read_files(root: &Path) -> Result<Vec<File>> {
    let line = "git ls-files -z --cached --others --exclude-standard";
    let output = command(root, line).output().context("cannot start `git`")?;
    ensure!(
        output.status.success(),
        "`git ls-files` failed with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let listing = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let mut files = Vec::new();
    for path in listing.split_terminator('\0') {
        let full_path = root.join(path);
        if !full_path.is_file() {
            continue;
        }
        let bytes = fs::read(&full_path).with_context(|| format!("reading {path}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            let path = path.to_owned();
            files.push(File { path, text });
        }
    }
    Ok(files)
}

/// Creates a file for the tests of a check.
#[cfg(test)]
fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), text: text.to_owned() }
}
