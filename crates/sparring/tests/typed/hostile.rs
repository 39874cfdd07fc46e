//! Modules of random tools compile without warnings, and no text of a server runs as
//! code.

#[path = "../../../sparring-codegen/tests/it/schemas.rs"]
mod schemas;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use sparring_codegen::{ModuleSource, generate_module};
use tempfile::TempDir;

/// The number of random modules.
const MODULES: usize = 12;

/// Finds the library that these tests were built with: the newest one.
fn find_library() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libsparring-") && name.ends_with(".rlib")
    };
    let built = |path: &PathBuf| fs::metadata(path).and_then(|it| it.modified()).unwrap();
    files.filter(is_library).max_by_key(built).expect("the library was built for this test")
}

/// Writes a crate of random modules.
fn write_crate() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut runner = TestRunner::deterministic();
    let mut root = "//! Modules of random tools.\n\n".to_owned();
    for number in 0..MODULES {
        let server = schemas::text().new_tree(&mut runner).unwrap().current();
        let tools = schemas::tools().new_tree(&mut runner).unwrap().current();
        let source =
            ModuleSource { server: &server, version: "1", name: None, flags: "", tools: &tools };
        fs::write(folder.path().join(format!("m{number}.rs")), generate_module(&source).unwrap())
            .unwrap();
        writeln!(root, "pub mod m{number};").unwrap();
    }
    fs::write(folder.path().join("lib.rs"), root).unwrap();
    folder
}

/// Runs a compiler on the crate and returns its stdout; fails if the compiler does.
fn compile(program: &str, flags: &str, folder: &Path) -> String {
    let library = find_library();
    let mut command = Command::new(program);
    command.args(["--edition", "2024", "--crate-type", "lib"]).args(flags.split(' '));
    command.arg("--extern").arg(format!("sparring={}", library.display()));
    command.arg("-L").arg(format!("dependency={}", library.parent().unwrap().display()));
    let output = command.arg("lib.rs").current_dir(folder).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", stderr.chars().take(20_000).collect::<String>());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn modules_of_random_tools_compile_without_a_warning() {
    let lints = "-D warnings -D missing_docs -D unreachable_pub";
    compile("rustc", &format!("--emit metadata {lints}"), write_crate().path());
}

#[test]
fn documentation_of_random_tools_has_no_code() {
    let folder = write_crate();
    compile("rustdoc", "-D warnings -D rustdoc::all", folder.path());
    let tests = compile("rustdoc", "--test", folder.path());
    assert!(tests.contains("running 0 tests"), "{tests}");
}
