//! `cargo xtask scratch`: runs the first Rust examples of `docs/library.md` as tests of crates
//! outside the workspace, as a user would. The crates depend on `sparring` by path.
//!
//! One crate has all examples. The other has no default features and only the first
//! example: once unchanged, and once with a wrong expectation. That one must fail
//! with the output that the page shows.

mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, print_command, run as run_command};
use page::{FirstTests, PAGE, RustBlock};

/// The expectation of the first test.
const EXPECTATION: &str = "\"hello Ada\"";

/// The expectation with which it must fail.
const WRONG_EXPECTATION: &str = "\"hello Bob\"";

/// The name of the test that must fail.
const FAILING_TEST: &str = "wrong";

/// The manifest of a crate without the dependency on `sparring`. The profile is the
/// workspace's, so that both share builds.
const MANIFEST: &str = r#"[package]
name = "scratch"
version = "0.0.0"
edition = "2024"
publish = false

[profile.dev]
debug = "line-tables-only"

[profile.dev.package."*"]
debug = false

[workspace]

[dev-dependencies]
rmcp = { version = "3", features = ["macros", "server"] }
serde = { version = "1", features = ["derive"] }
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt"] }
"#;

/// Writes the crates and runs their tests.
pub(crate) fn run(root: &Path) -> Result<()> {
    let path = root.join(PAGE);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let page = FirstTests::parse(&text)?;

    let all = ScratchCrate::write(root, "all", "features = [\"rmcp\"]", &page.tests)?;
    run_command(all.cargo_test(&["--tests"]))?;

    let first = page.tests[0];
    let changed = first.text.replace(EXPECTATION, WRONG_EXPECTATION);
    ensure!(changed != first.text, "the first test of {PAGE} does not expect {EXPECTATION}");
    let wrong = RustBlock { name: FAILING_TEST, text: &changed };
    let bare = "default-features = false, features = [\"rmcp\"]";
    let core = ScratchCrate::write(root, "core", bare, &[first, wrong])?;
    run_command(core.cargo_test(&["--test", first.name]))?;
    core.check_failure(&first, page.failure)
}

/// A crate below `target`.
struct ScratchCrate {
    folder: PathBuf,
    /// The workspace's target folder, to reuse its builds.
    target: PathBuf,
}

impl ScratchCrate {
    fn write(root: &Path, name: &str, features: &str, tests: &[RustBlock]) -> Result<Self> {
        let target = root.join("target");
        let folder = target.join("scratch").join(name);
        let sources = folder.join("tests");
        if sources.exists() {
            // Removes the tests of an older page.
            for entry in fs::read_dir(&sources).with_context(|| sources.display().to_string())? {
                let path = entry?.path();
                let known = |test: &RustBlock| path.ends_with(format!("{}.rs", test.name));
                if !tests.iter().any(known) {
                    fs::remove_file(&path).with_context(|| path.display().to_string())?;
                }
            }
        }
        let path = root.join("crates/sparring").display().to_string();
        let manifest = format!("{MANIFEST}sparring = {{ path = {path:?}, {features} }}\n");
        write(&folder.join("Cargo.toml"), &manifest)?;
        write(&folder.join("src/lib.rs"), "//! Empty; see the tests.\n")?;
        for test in tests {
            write(&sources.join(format!("{}.rs", test.name)), &format!("{}\n", test.text))?;
        }
        // Uses the versions of the workspace.
        let lock = folder.join("Cargo.lock");
        fs::copy(root.join("Cargo.lock"), &lock).with_context(|| lock.display().to_string())?;
        Ok(ScratchCrate { folder, target })
    }

    fn cargo_test(&self, words: &[&str]) -> Command {
        let mut cargo = command(&self.folder, "cargo test");
        cargo.args(words).env("CARGO_TARGET_DIR", &self.target);
        // Makes the output the same everywhere.
        cargo.env("RUST_BACKTRACE", "0");
        cargo
    }

    /// Checks that the test with the wrong expectation fails and prints `shown`.
    fn check_failure(&self, first: &RustBlock, shown: &str) -> Result<()> {
        let mut cargo = self.cargo_test(&["--test", FAILING_TEST]);
        print_command(&cargo);
        let output = cargo.output().context("cannot start `cargo`")?;
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(!output.status.success(), "a test with a wrong expectation passed: {stdout}");
        let found = stdout
            .replace(&format!("tests/{FAILING_TEST}.rs"), &format!("tests/{}.rs", first.name));
        ensure!(
            contains_lines(&found, shown),
            "{PAGE} does not show the actual failure:\n{found}\n{stderr}"
        );
        Ok(())
    }
}

/// Returns true if a text contains these lines; the line `…` matches any lines.
fn contains_lines(text: &str, lines: &str) -> bool {
    let parts = lines.split("\n  …\n");
    let mut rest = Some(text);
    for part in parts {
        rest = rest.and_then(|rest| Some(rest.split_once(part)?.1));
    }
    rest.is_some()
}

/// Writes a file unless it already has this text, because cargo checks its time.
fn write(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|found| found == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::contains_lines;

    #[test]
    fn finds_lines_in_order_and_skips_omitted_ones() {
        let text = "a\nb\n  c\nd\n";
        assert!(contains_lines(text, "a\nb"));
        assert!(contains_lines(text, "a\n  …\nd"));
        assert!(!contains_lines(text, "d\n  …\na"));
        assert!(!contains_lines(text, "a\nd"));
    }
}
