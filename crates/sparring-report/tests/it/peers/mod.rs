//! Reads our reports with other tools: Jenkins' schemas and `junitparser` for JUnit XML,
//! `tap-parser` for TAP, the schema of SARIF. `cargo xtask peers` installs them; without them the tests print a
//! message and are skipped.

mod junit;
mod sarif;
mod tap;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Returns the path of something that `cargo xtask peers` installs.
fn installed(path: &str) -> Option<PathBuf> {
    let found = std::env::var_os("SPAR_PEERS_DIR").map(|folder| Path::new(&folder).join(path));
    let found = found.filter(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: {path} is not installed; run `cargo xtask peers`");
    }
    found
}

/// Runs a script in this folder on a report and returns its JSON.
fn read_by(program: &Path, script: &str, args: &[&Path], report: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/peers").join(script);
    let mut command = Command::new(program);
    command.arg(&script).args(args).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The script reads all of its input before it writes.
    child.stdin.take().unwrap().write_all(report.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {stderr}", script.display());
    serde_json::from_slice(&output.stdout).unwrap()
}
