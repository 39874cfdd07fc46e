//! Checks the guide: writes its files and runs its commands in the order of the page, and
//! compares their output with the page.
//!
//! With `SPAR_BLESS=1` the output is written into the page.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{SPAR, output};

/// The line that ends a block.
const FENCE: &str = "```";

#[test]
fn the_commands_of_the_guide_print_its_output() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide.md");
    let page = fs::read_to_string(&path).unwrap();
    let found = run_commands(&page);
    if std::env::var_os("SPAR_BLESS").is_some() {
        fs::write(&path, &found).unwrap();
    }
    let page = fs::read_to_string(&path).unwrap();
    assert!(page == found, "docs/guide.md is out of date; SPAR_BLESS=1 writes:\n{found}");
}

/// Returns the page with the current output of its commands.
fn run_commands(page: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (mut text, mut lines, mut commands) = (String::new(), page.lines(), 0);
    while let Some(line) = lines.next() {
        writeln!(text, "{line}").unwrap();
        let Some(kind) = line.strip_prefix(FENCE).filter(|kind| !kind.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != FENCE).collect();
        match kind {
            "yaml" => {
                writeln!(text, "{}", block.join("\n")).unwrap();
                let name = block[0].strip_prefix("# ").unwrap();
                if !name.starts_with("not a file") {
                    fs::write(folder.path().join(name), block.join("\n")).unwrap();
                }
            }
            "console" => {
                for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                    writeln!(text, "$ {command}\n{}", printed(command, folder.path())).unwrap();
                    commands += 1;
                }
            }
            other => panic!("unknown kind of block: {other}"),
        }
        writeln!(text, "{FENCE}").unwrap();
    }
    assert!(commands > 5, "only {commands} commands were found");
    text
}

fn printed(command: &str, folder: &Path) -> String {
    let programs = PathBuf::from(SPAR).parent().unwrap().display().to_string();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env_clear().env("PATH", path);
    String::from_utf8(output(&mut shell).stdout).unwrap().trim_end().to_owned()
}
