//! Peers from npm, in a prefix of their own.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::install::once;
use crate::command::{command, run, works};

/// Installs what the package file names.
pub(super) fn install(package: &Path, prefix: &Path) -> Result<()> {
    ensure!(works("node --version"), "`node` does not work here");
    ensure!(works("npm --version"), "`npm` does not work here");
    once(package, prefix, || {
        fs::copy(package, prefix.join("package.json")).context("copying package.json")?;
        let flags = "--ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error";
        let mut npm = command(prefix, &format!("npm install {flags}"));
        npm.arg("--prefix").arg(prefix);
        run(npm).context("npm could not install them")
    })
}
