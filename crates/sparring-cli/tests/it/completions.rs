//! Tests completion scripts and man pages.

use std::fs;
use std::process::Command;

use crate::process::{SPAR, output};

/// Completes the last word as bash does: finds the function by the name that the script
/// registered.
const COMPLETE_SCRIPT: &str = r#"
set -u
source "$SCRIPT"
[[ $(complete -p spar) =~ -F\ ([^ ]+) ]]
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
"${BASH_REMATCH[1]}" spar "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

fn text(command: &mut Command) -> String {
    let output = output(command);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} ended with {}: {stderr}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

fn script(shell: &str) -> String {
    text(Command::new(SPAR).args(["completions", shell]))
}

/// The verbs, as `spar --help` lists them.
fn verbs() -> Vec<String> {
    let help = text(Command::new(SPAR).arg("--help"));
    let (_, list) = help.split_once("Verbs:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    list.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn bash_completes_verbs_flags_and_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spar.bash");
    fs::write(&path, script("bash")).unwrap();
    text(Command::new("bash").arg("-n").arg(&path));
    let check = |words: &[&str], expected: &[&str]| {
        let mut bash = Command::new("bash");
        bash.args(["--norc", "--noprofile", "-c", COMPLETE_SCRIPT, "bash"]).args(words);
        let found = text(bash.env("SCRIPT", &path));
        assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{words:?}");
    };
    check(&["spar", "comp"], &["complete", "completions"]);
    check(&["spar", "call", "--tim"], &["--timeout"]);
    check(&["spar", "config", "dis"], &["disable"]);
    check(&["spar", "call", "--color", "al"], &["always"]);
    check(&["spar", "completions", "z"], &["zsh"]);
}

#[test]
fn every_shell_has_a_script_with_every_verb() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = script(shell);
        for verb in verbs() {
            assert!(script.contains(&verb), "{shell} does not complete {verb}");
        }
    }
}

#[test]
fn every_verb_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man/man1");
    text(Command::new(SPAR).args(["completions", "--man"]).arg(&pages));
    let page = |name: &str| {
        let text = fs::read_to_string(pages.join(name)).unwrap_or_default();
        text.replace("\\-", "-")
    };
    let whole = page("spar.1");
    assert!(whole.starts_with(".ie"), "{whole}");
    for verb in verbs() {
        let name = format!("spar-{verb}");
        assert!(whole.contains(&format!("{name}(1)")), "spar.1 does not name {verb}");
        assert!(page(&format!("{name}.1")).contains(&format!(".TH {name} 1")), "{name}.1");
    }
    assert!(page("spar-call.1").contains("--timeout"));
    assert!(page("spar-config-add.1").contains(".TH spar-config-add 1"));
}
