//! Checks the page about `spar agent`: its scripted commands print the output on the
//! page, and the flags of the others exist.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::process::{SPAR, output};
use crate::transcript::golden;

/// The address of the endpoint in the page.
const ADDRESS: &str = "http://127.0.0.1:3002/v1";

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agent.md")).unwrap()
}

/// Returns the lines of each block of a kind.
fn blocks<'a>(page: &'a str, kind: &str) -> Vec<Vec<&'a str>> {
    let (mut lines, mut blocks) = (page.lines(), Vec::new());
    while let Some(line) = lines.next() {
        if let Some(of) = line.strip_prefix("```") {
            let block = lines.by_ref().take_while(|line| *line != "```").collect();
            if of == kind {
                blocks.push(block);
            }
        }
    }
    blocks
}

/// Runs a command of the page beside its endpoint.
fn run(endpoint: &str, command: &str) -> Output {
    let scratch = tempfile::tempdir().unwrap();
    let programs = PathBuf::from(SPAR).parent().unwrap().display().to_string();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.arg(golden().join("served.sh")).args([endpoint, &command.replace(ADDRESS, "$URL")]);
    shell.current_dir(golden().join("agent")).env_clear().env("PATH", path);
    output(shell.env("TMP", scratch.path()).env("HOME", scratch.path()))
}

#[test]
fn the_scripted_commands_print_the_output_on_the_page() {
    let page = page();
    let texts = blocks(&page, "text");
    let [served, called, text @ ..] = texts[0].as_slice() else { panic!("{:?}", texts[0]) };
    let endpoint = served.strip_prefix("$ spar mock ").unwrap();
    let (endpoint, address) = endpoint.split_once(" --http ").unwrap();
    assert!(ADDRESS.contains(address.trim_end_matches(" &")), "{served}");
    let command = called.strip_prefix("$ ").unwrap();
    let Output { status, stdout, stderr } = run(endpoint, command);
    let found = String::from_utf8([stderr, stdout].concat()).unwrap();
    assert!(status.success(), "{found}");
    assert_eq!(found.lines().collect::<Vec<_>>(), text);
    let events = run(endpoint, &format!("{command} --json"));
    let events = String::from_utf8(events.stdout).unwrap();
    assert_eq!(events.lines().collect::<Vec<_>>(), texts[1]);
}

#[test]
fn every_flag_on_the_page_exists() {
    let help = String::from_utf8(output(Command::new(SPAR).args(["agent", "--help"])).stdout);
    let help = help.unwrap();
    let page = page();
    let words = page.split(|c: char| c.is_whitespace() || "`,;()'".contains(c));
    let flags: Vec<&str> = words.filter(|word| word.starts_with("--")).collect();
    assert!(flags.len() > 20, "{flags:?}");
    for flag in flags {
        // Flags of the mock that replaces a model.
        let is_known = help.contains(flag) || flag == "--http";
        assert!(is_known, "spar agent has no {flag}");
    }
}
