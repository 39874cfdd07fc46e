//! Checks the README and pages of `docs`: writes their files and runs their commands in the
//! order of the page, and compares the output with the page.
//!
//! With `SPAR_BLESS=1` the output is written into the page.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::filters::without_run_times;
use crate::process::{SPAR, output};

/// The line that ends a block.
const FENCE: &str = "```";

/// The placeholder for the number of a shard in a file of a CI system.
const SHARD: &str = "${{ matrix.shard }}";

#[test]
fn the_commands_of_the_readme_print_its_output() {
    check("README.md", 1);
}

#[test]
fn the_commands_of_the_guide_print_its_output() {
    check("docs/guide.md", 6);
}

#[test]
fn the_commands_of_the_page_about_ci_print_its_output() {
    check("docs/ci.md", 3);
}

#[test]
fn the_commands_of_the_page_about_checks_print_its_output() {
    check("docs/check.md", 6);
}

#[test]
fn the_commands_of_the_troubleshooting_page_print_its_output() {
    check("docs/troubleshooting.md", 8);
}

#[test]
fn the_files_for_ci_systems_have_commands_that_work() {
    let folder = tempfile::tempdir().unwrap();
    let page = fs::read_to_string(root().join("docs/ci.md")).unwrap();
    run_page(&page, folder.path());
    // A shard with only these skipped tests would exit with 4.
    fs::remove_dir_all(folder.path().join("more")).unwrap();
    let names = [".github/workflows/test.yml", ".gitlab-ci.yml", "Jenkinsfile"];
    let files = names.map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
    let commands: Vec<&str> =
        files.iter().flat_map(|file| file.lines()).filter_map(ci_command).collect();
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands {
        let shards: &[&str] = if command.contains(SHARD) { &["1", "2"] } else { &["1"] };
        for shard in shards {
            let command = command.replace(SHARD, shard);
            let Output { status, stdout, stderr } = run(&command, folder.path());
            let printed = String::from_utf8([stdout, stderr].concat()).unwrap();
            assert!(status.success(), "{command}: {printed}");
        }
    }
}

/// Returns the command of `spar` in a line of a file for a CI system.
fn ci_command(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches("- ");
    let command = line.strip_prefix("run: ").or(line.strip_prefix("sh '")).unwrap_or(line);
    command.starts_with("spar ").then(|| command.trim_end_matches('\''))
}

#[test]
fn the_readme_is_short_and_its_links_exist() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.lines().count() <= 120, "{} lines", readme.lines().count());
    let links = readme.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let links: Vec<&str> = links.map(|(link, _)| link).filter(|it| !it.contains("://")).collect();
    assert!(links.len() > 10, "{links:?}");
    for link in links {
        let file = link.split('#').next().unwrap();
        assert!(root().join(file).exists(), "README.md links to {link}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a page with the output of its commands, of which there are at least this many.
fn check(name: &str, min_commands: usize) {
    let path = root().join(name);
    let page = fs::read_to_string(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (found, commands) = run_page(&page, folder.path());
    assert!(commands >= min_commands, "only {commands} commands were found");
    let is_current = without_run_times(&page) == without_run_times(&found);
    if !is_current && std::env::var_os("SPAR_BLESS").is_some() {
        return fs::write(&path, &found).unwrap();
    }
    assert!(is_current, "{name} is out of date; SPAR_BLESS=1 writes:\n{found}");
}

/// Writes the files of a page and runs its commands. Returns the page with the current output,
/// and the number of commands.
fn run_page(page: &str, folder: &Path) -> (String, usize) {
    let (mut text, mut lines, mut commands) = (String::new(), page.lines(), 0);
    while let Some(line) = lines.next() {
        writeln!(text, "{line}").unwrap();
        let Some(kind) = line.strip_prefix(FENCE).filter(|kind| !kind.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != FENCE).collect();
        if kind == "console" {
            for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                let printed = String::from_utf8(run(command, folder).stdout).unwrap();
                let printed = printed.trim_end();
                let gap = if printed.is_empty() { "" } else { "\n" };
                writeln!(text, "$ {command}{gap}{printed}").unwrap();
                commands += 1;
            }
        } else {
            writeln!(text, "{}", block.join("\n")).unwrap();
            if let Some(name) = file_name(kind, block[0]) {
                let file = folder.join(name);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, block.join("\n") + "\n").unwrap();
            }
        }
        writeln!(text, "{FENCE}").unwrap();
    }
    (text, commands)
}

/// Returns the name in the first line of a block, if the block is a file.
fn file_name<'a>(kind: &str, first: &'a str) -> Option<&'a str> {
    match kind {
        "yaml" => {
            let name = first.strip_prefix("# ").expect("a YAML block begins with its name");
            Some(name).filter(|name| !name.starts_with("not a file"))
        }
        "groovy" => first.strip_prefix("// "),
        // Other blocks are commands for a reader.
        "sh" => first.strip_prefix("# ").filter(|name| name.ends_with(".sh")),
        "text" | "rust" => None,
        other => panic!("unknown kind of block: {other}"),
    }
}

/// Runs a command in a folder.
fn run(command: &str, folder: &Path) -> Output {
    let programs = PathBuf::from(SPAR).parent().unwrap().display().to_string();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env_clear().env("PATH", path);
    output(shell.envs([("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "2")]))
}
