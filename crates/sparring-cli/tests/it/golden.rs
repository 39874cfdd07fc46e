//! What the program prints, case by case: a folder each below `tests/golden`.
//!
//! `cmd` is run by the shell in its folder, with `spar` in the path and an empty
//! folder in `TMP`; `stdout`, `stderr` and `exit` are what must come of it.
//! `script.sh` is the server, where it is not the shared one. With `SPAR_BLESS=1`
//! what comes is written down instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::process::{SPAR, output};

/// The groups of cases; each has a test.
const GROUPS: [&str; 5] = ["faults", "flags", "help", "usage", "verbs"];

/// How many cases run at once.
const AT_ONCE: usize = 4;

#[test]
fn every_verb_prints_results_for_people_and_programs() {
    check("verbs");
}

#[test]
fn every_help_shows_flags_and_examples() {
    check("help");
}

#[test]
fn every_flag_has_its_effect() {
    check("flags");
}

#[test]
fn bad_usage_is_told_with_what_would_be_good() {
    check("usage");
}

#[test]
fn every_fault_of_a_target_is_told_by_name() {
    check("faults");
}

#[test]
fn every_group_of_cases_has_a_test() {
    let groups = folders(&root());
    let names: Vec<_> = groups.iter().map(|group| name(group)).collect();
    assert_eq!(names, GROUPS);
}

/// Runs all cases of a group.
fn check(group: &str) {
    let cases = folders(&root().join(group));
    assert!(!cases.is_empty(), "no cases in {group}");
    let (next, wrong) = (Mutex::new(cases.into_iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = take(&next) {
                    let found = run(&case);
                    wrong.lock().unwrap().extend(compare(&case, &found));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}\n(SPAR_BLESS=1 takes this as right)", wrong.join("\n"));
}

fn take(cases: &Mutex<std::vec::IntoIter<PathBuf>>) -> Option<PathBuf> {
    cases.lock().unwrap().next()
}

/// The name and content of each file that tells what came.
type Found = [(&'static str, String); 3];

fn run(case: &Path) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let line = fs::read_to_string(case.join("cmd")).unwrap();
    let programs = Path::new(SPAR).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(case).env_clear();
    command.env("PATH", path).env("TMP", folder.path());
    let output = output(&mut command);
    let text = |bytes: &[u8]| filtered(&String::from_utf8_lossy(bytes), folder.path());
    let exit = output.status.code().map_or("a signal".to_owned(), |code| code.to_string());
    [
        ("stdout", text(&output.stdout)),
        ("stderr", text(&output.stderr)),
        ("exit", format!("{exit}\n")),
    ]
}

/// What differs from what must come; nothing after it was written down.
fn compare(case: &Path, found: &Found) -> Option<String> {
    let mut differences = String::new();
    for (file, found) in found {
        let path = case.join(file);
        if std::env::var_os("SPAR_BLESS").is_some() {
            fs::write(&path, found).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if expected != *found {
            differences += &format!("  {file} must be:\n{expected}\n  and is:\n{found}\n");
        }
    }
    let group = case.parent().map(name).unwrap_or_default();
    (!differences.is_empty()).then(|| format!("{group}/{}:\n{differences}", name(case)))
}

/// The text without what is different each time.
fn filtered(text: &str, folder: &Path) -> String {
    let version = format!("spar {}", env!("CARGO_PKG_VERSION"));
    let mut text = text.replace(&*folder.to_string_lossy(), "[TMP]");
    text = text.replace(&version, "spar [VERSION]");
    let quoted = format!("\"name\":\"spar\",\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    text = text.replace(&quoted, "\"name\":\"spar\",\"version\":\"[VERSION]\"");
    for before in ["answered in ", "\"milliseconds\":", "\"at\":"] {
        text = without_numbers(&text, before);
    }
    text
}

/// The text with `[N]` for the number that follows each `before`.
fn without_numbers(text: &str, before: &str) -> String {
    let mut parts = text.split(before);
    let mut filtered = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c));
        let number = if rest == part { "" } else { "[N]" };
        filtered += &format!("{before}{number}{rest}");
    }
    filtered
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The folders in a folder, by name.
fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
