//! The module of any tools has the format of `rustfmt`, and does not depend on the order of
//! the tools.

use std::fs;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use serde_json::Value;
use sparring_codegen::{ModuleSource, generate_module};

use crate::schemas::{text, tools};

/// Returns the changes of `rustfmt` with both settings of `use_small_heuristics`.
fn changes(text: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("module.rs");
    fs::write(&file, text).expect("a file");
    fs::write(folder.path().join("rustfmt.toml"), "").expect("a file");
    ["Default", "Max"].map(|heuristics| changes_with(&file, heuristics)).concat()
}

fn changes_with(file: &Path, heuristics: &str) -> String {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--check", "--edition", "2024", "--config"]);
    rustfmt.arg(format!("use_small_heuristics={heuristics}")).arg(file);
    let output = rustfmt.output().expect("rustfmt is installed");
    let output_text = [output.stdout, output.stderr].concat();
    match output.status.success() {
        true => String::new(),
        false => format!("{heuristics}:\n{}", String::from_utf8_lossy(&output_text)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_module_has_the_format_of_rustfmt(
        tools in tools(),
        server in text(),
        version in text(),
    ) {
        let source = ModuleSource { server: &server, version: &version, name: None, flags: "", tools: &tools };
        let text = generate_module(&source).expect("the schemas are valid");
        let changes = changes(&text);
        prop_assert!(changes.is_empty(), "{}\n{}", changes, text);
        let reversed: Vec<Value> = tools.iter().rev().cloned().collect();
        prop_assert_eq!(generate_module(&ModuleSource { tools: &reversed, ..source }).expect("the same"), text);
    }
}
