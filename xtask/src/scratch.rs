//! `cargo xtask scratch`: the library as a user has it. The README's examples in
//! Rust are the tests of crates outside the workspace, which depend on `sparring`
//! by its path.
//!
//! One crate has all of them. The other has no default features and only the
//! first, once as it is, and once with another expectation: then it must fail,
//! with what the page shows.

mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, run as run_command, show};
use page::{Page, Test};

/// What the first test expects, and what it expects where it must fail.
const EXPECTED: (&str, &str) = ("\"hello Ada\"", "\"hello Bob\"");

/// The name of the test that must fail.
const WRONG: &str = "wrong";

/// The manifest of a crate, but for its dependencies. The profile is the
/// workspace's: what is the same for both is then built once.
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
    let path = root.join("README.md");
    let readme =
        fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let page = Page::read(&readme)?;

    let all = Scratch::write(root, "all", "features = [\"rmcp\"]", &page.tests)?;
    run_command(all.cargo_test(&["--tests"]))?;

    let first = page.tests[0];
    let changed = first.text.replace(EXPECTED.0, EXPECTED.1);
    ensure!(changed != first.text, "the first test of README.md does not expect {}", EXPECTED.0);
    let wrong = Test { name: WRONG, text: &changed };
    let bare = "default-features = false, features = [\"rmcp\"]";
    let core = Scratch::write(root, "core", bare, &[first, wrong])?;
    run_command(core.cargo_test(&["--test", first.name]))?;
    core.fails(&first, page.failure)
}

/// A crate below `target`.
struct Scratch {
    folder: PathBuf,
    /// Where it is built, with all that the workspace has built already.
    target: PathBuf,
}

impl Scratch {
    fn write(root: &Path, name: &str, features: &str, tests: &[Test]) -> Result<Self> {
        let target = root.join("target");
        let folder = target.join("scratch").join(name);
        let sources = folder.join("tests");
        if sources.exists() {
            // What another README had.
            for entry in fs::read_dir(&sources).with_context(|| sources.display().to_string())? {
                let path = entry?.path();
                let known = |test: &Test| path.ends_with(format!("{}.rs", test.name));
                if !tests.iter().any(known) {
                    fs::remove_file(&path).with_context(|| path.display().to_string())?;
                }
            }
        }
        let path = root.join("crates/sparring").display().to_string();
        let manifest = format!("{MANIFEST}sparring = {{ path = {path:?}, {features} }}\n");
        write(&folder.join("Cargo.toml"), &manifest)?;
        write(&folder.join("src/lib.rs"), "//! Nothing: what is tested is in the tests.\n")?;
        for test in tests {
            write(&sources.join(format!("{}.rs", test.name)), &format!("{}\n", test.text))?;
        }
        // The versions are those of the workspace.
        let lock = folder.join("Cargo.lock");
        fs::copy(root.join("Cargo.lock"), &lock).with_context(|| lock.display().to_string())?;
        Ok(Scratch { folder, target })
    }

    fn cargo_test(&self, words: &[&str]) -> Command {
        let mut cargo = command(&self.folder, "cargo test");
        cargo.args(words).env("CARGO_TARGET_DIR", &self.target);
        // What is shown shall be the same everywhere.
        cargo.env("RUST_BACKTRACE", "0");
        cargo
    }

    /// The test with the wrong expectation must fail, and print this.
    fn fails(&self, first: &Test, shown: &str) -> Result<()> {
        let mut cargo = self.cargo_test(&["--test", WRONG]);
        show(&cargo);
        let output = cargo.output().context("could not start `cargo`")?;
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(!output.status.success(), "a test with a wrong expectation passed: {stdout}");
        let found =
            stdout.replace(&format!("tests/{WRONG}.rs"), &format!("tests/{}.rs", first.name));
        ensure!(
            has(&found, shown),
            "README.md shows another failure than there is:\n{found}\n{stderr}"
        );
        Ok(())
    }
}

/// Whether a text has these lines; a line `…` stands for any.
fn has(text: &str, lines: &str) -> bool {
    let parts = lines.split("\n  …\n");
    let mut rest = Some(text);
    for part in parts {
        rest = rest.and_then(|rest| Some(rest.split_once(part)?.1));
    }
    rest.is_some()
}

/// Writes a file unless it is like that already: cargo goes by its time.
fn write(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|found| found == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::has;

    #[test]
    fn lines_are_found_in_their_order_with_others_left_out() {
        let text = "a\nb\n  c\nd\n";
        assert!(has(text, "a\nb"));
        assert!(has(text, "a\n  …\nd"));
        assert!(!has(text, "d\n  …\na"));
        assert!(!has(text, "a\nd"));
    }
}
