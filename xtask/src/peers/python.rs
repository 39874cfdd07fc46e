//! Peers from the Python package index, in a virtual environment of their own.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::install::once;
use crate::command::{command, run, works};

/// Installs what the requirements name.
pub(super) fn install(requirements: &Path, venv: &Path) -> Result<()> {
    ensure!(works("python3 --version"), "`python3` does not work here");
    once(requirements, venv, || {
        let mut make = command(venv, "python3 -m venv");
        make.arg(venv);
        run(make).context("no virtual environment could be made")?;
        let python = venv.join("bin/python");
        let line = "-m pip install --quiet --disable-pip-version-check --requirement";
        let mut pip = std::process::Command::new(python);
        pip.args(line.split(' ')).arg(requirements).current_dir(venv);
        run(pip).context("pip could not install them")
    })
}
