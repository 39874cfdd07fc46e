//! Schemas that reports are held against, and the suite that our validator of JSON
//! Schemas is held to. They are in no package as it is installed, but in the
//! sources of some.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::install::once;
use crate::command::run;

/// Downloads the sources that the file names, and unpacks them. The Python of
/// the peers does it, whose pip is known to work.
pub(super) fn install(sources: &Path, python: &Path, folder: &Path) -> Result<()> {
    once(sources, folder, || {
        let line = "-m pip download --quiet --disable-pip-version-check --no-deps \
                    --no-binary=:all: --requirement";
        let mut pip = Command::new(python);
        pip.args(line.split_whitespace()).arg(sources).current_dir(folder);
        run(pip).context("pip could not download them")?;
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let archive = entry?.path();
            if archive.extension() == Some(OsStr::new("gz")) {
                let mut unpack = Command::new(python);
                unpack.args(["-m", "tarfile", "--extract"]).arg(&archive).current_dir(folder);
                run(unpack).context("they could not be unpacked")?;
            }
        }
        Ok(())
    })
}
