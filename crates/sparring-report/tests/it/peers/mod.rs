//! Our reports in the hands of others: Jenkins' schemas and `junitparser` for JUnit
//! XML, `tap-parser` for TAP. What is not installed is skipped, loudly; `cargo
//! xtask peers` installs it.

mod junit;
mod tap;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Something that `cargo xtask peers` installs.
fn installed(path: &str) -> Option<PathBuf> {
    let found = std::env::var_os("SPAR_PEERS_DIR").map(|folder| Path::new(&folder).join(path));
    let found = found.filter(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: {path} is not installed; run `cargo xtask peers`");
    }
    found
}

/// What a script beside this file makes of a report, as JSON.
fn read_by(program: &Path, script: &str, args: &[&Path], report: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/peers").join(script);
    let mut command = Command::new(program);
    command.arg(&script).args(args).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It reads all before it writes.
    child.stdin.take().unwrap().write_all(report.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {told}", script.display());
    serde_json::from_slice(&output.stdout).unwrap()
}
