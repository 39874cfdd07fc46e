//! Whatever the tools are, their module is Rust, laid out as `rustfmt` does it,
//! and the same in whichever order they are listed.

use std::fs;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use serde_json::Value;
use sparring_codegen::{Source, module};

use crate::schemas::{text, tools};

/// What `rustfmt` would change, by both of its settings for short things.
fn changes(text: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("module.rs");
    fs::write(&file, text).expect("a file");
    fs::write(folder.path().join("rustfmt.toml"), "").expect("a file");
    ["Default", "Max"].map(|heuristics| formatted(&file, heuristics)).concat()
}

fn formatted(file: &Path, heuristics: &str) -> String {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--check", "--edition", "2024", "--config"]);
    rustfmt.arg(format!("use_small_heuristics={heuristics}")).arg(file);
    let output = rustfmt.output().expect("rustfmt is there");
    let told = [output.stdout, output.stderr].concat();
    match output.status.success() {
        true => String::new(),
        false => format!("{heuristics}:\n{}", String::from_utf8_lossy(&told)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_module_is_laid_out_as_rustfmt_does_it(
        tools in tools(),
        server in text(),
        version in text(),
    ) {
        let source = Source { server: &server, version: &version, name: None, flags: "", tools: &tools };
        let text = module(&source).expect("schemas are right");
        let changes = changes(&text);
        prop_assert!(changes.is_empty(), "{}\n{}", changes, text);
        let backwards: Vec<Value> = tools.iter().rev().cloned().collect();
        prop_assert_eq!(module(&Source { tools: &backwards, ..source }).expect("the same"), text);
    }
}
