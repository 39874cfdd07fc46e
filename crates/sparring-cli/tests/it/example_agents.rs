//! Runs some suites of `examples/agents` with the real agents, if these are installed.
//! `cargo xtask agents` runs all of them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::process::{SPAR, output};

/// Runs a suite with the real agent, and returns the output; `None` if it is not installed.
fn run(agent: &str, suite: &str) -> Option<String> {
    let folder = std::env::var_os("SPAR_AGENTS_DIR").map(|it| Path::new(&it).join(agent));
    let Some(folder) = folder.filter(|it| it.join(suite).exists()) else {
        eprintln!("SKIPPED: {agent} is not installed; run `cargo xtask agents {agent}`");
        return None;
    };
    // The packages of the agent may have a Node of their own.
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let own = std::iter::once(folder.join("node_modules/.bin"));
    let path = std::env::join_paths(own.chain(std::env::split_paths(&inherited))).unwrap();
    let mut test = Command::new(SPAR);
    test.args(["test", suite]).current_dir(&folder).env("PATH", path);
    Some(String::from_utf8(output(&mut test).stdout).unwrap())
}

fn check(agent: &str, suite: &str) {
    let Some(printed) = run(agent, suite) else { return };
    assert!(printed.ends_with("8 passed, 0 failed, 0 skipped\n"), "{agent}: {printed}");
}

#[test]
fn an_agent_of_vercels_sdk_runs_over_messages() {
    check("vercel-ai", "messages.spar.yaml");
}

#[test]
fn an_agent_of_vercels_sdk_runs_over_gemini() {
    check("vercel-ai", "gemini.spar.yaml");
}

/// Returns the blocks of the guide, each with its kind.
fn guide_blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut blocks, mut lines) = (Vec::new(), page.lines());
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            blocks.push((kind, lines.by_ref().take_while(|line| *line != "```").collect()));
        }
    }
    blocks
}

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_guide_shows_parts_of_the_files_of_its_example() {
    let page = read("docs/test-an-agent.md");
    let mut files = 0;
    for (_, block) in guide_blocks(&page).iter().filter(|(kind, _)| *kind != "console") {
        let name = block[0].strip_prefix("# ").unwrap();
        let shared = ["shared.yaml", "weather.mock.yaml"].contains(&name);
        let folder = if shared { "examples/agents" } else { "examples/agents/openai-agents" };
        let shown = block[1..].join("\n");
        assert!(read(&format!("{folder}/{name}")).contains(&shown), "{name}: {shown}");
        files += 1;
    }
    assert!(files > 5, "only {files} files were found");
}

#[test]
fn the_command_of_the_guide_prints_its_output() {
    let page = read("docs/test-an-agent.md");
    let blocks = guide_blocks(&page);
    let mut consoles = blocks.iter().filter(|(kind, _)| *kind == "console");
    let (_, console) = consoles.next().unwrap();
    assert_eq!(console[0], "$ spar test responses.spar.yaml");
    let Some(printed) = run("openai-agents", "responses.spar.yaml") else { return };
    // The times of slow tests differ.
    let printed = printed.lines().map(|line| line.split(" (took ").next().unwrap());
    assert_eq!(printed.collect::<Vec<_>>(), console[1..]);
}
