//! Installs a folder of peers once; a stamp file has the pins that it was made from.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};

const STAMP: &str = "sparring-stamp";

/// Creates the folder by `work` unless its stamp has the same pins. It tries twice,
/// because the network may fail. A folder that could not be completed is removed, so
/// that the tests see that it is missing.
pub(super) fn install_once(
    pins: &Path,
    folder: &Path,
    work: impl Fn() -> Result<()>,
) -> Result<()> {
    let pinned = fs::read_to_string(pins).with_context(|| format!("reading {}", pins.display()))?;
    let stamp = folder.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|found| found == pinned) {
        eprintln!("{} is up to date", folder.display());
        return Ok(());
    }
    let started = Instant::now();
    let attempt = || {
        remove_folder(folder)?;
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        work()
    };
    let outcome = attempt().or_else(|error| {
        eprintln!("{error:#}; trying again");
        attempt()
    });
    if let Err(error) = outcome {
        remove_folder(folder)?;
        return Err(error);
    }
    fs::write(&stamp, pinned).with_context(|| format!("writing {}", stamp.display()))?;
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{} installed in {seconds:.1}s", folder.display());
    Ok(())
}

fn remove_folder(folder: &Path) -> Result<()> {
    match folder.exists() {
        true => {
            fs::remove_dir_all(folder).with_context(|| format!("removing {}", folder.display()))
        }
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::path::PathBuf;

    use anyhow::bail;

    use super::*;

    /// Creates a temporary folder with a pins file.
    fn create_folder(name: &str, pins: &str) -> (PathBuf, PathBuf) {
        let own = std::env::temp_dir().join(format!("sparring-{name}-{}", std::process::id()));
        remove_folder(&own).unwrap();
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("pins"), pins).unwrap();
        (own.join("pins"), own.join("made"))
    }

    #[test]
    fn installs_again_only_when_the_pins_change() {
        let (pins, folder) = create_folder("pins-change", "a==1");
        let installed = Cell::new(0);
        let work = || {
            installed.set(installed.get() + 1);
            Ok(())
        };
        install_once(&pins, &folder, work).unwrap();
        install_once(&pins, &folder, work).unwrap();
        assert_eq!(installed.get(), 1);
        fs::write(&pins, "a==2").unwrap();
        install_once(&pins, &folder, work).unwrap();
        assert_eq!(installed.get(), 2);
        remove_folder(folder.parent().unwrap()).unwrap();
    }

    #[test]
    fn tries_twice_and_removes_an_incomplete_folder() {
        let (pins, folder) = create_folder("incomplete", "a==1");
        let tried = Cell::new(0);
        let outcome = install_once(&pins, &folder, || {
            tried.set(tried.get() + 1);
            fs::write(folder.join("half"), "")?;
            bail!("no network")
        });
        assert_eq!(outcome.unwrap_err().to_string(), "no network");
        assert_eq!(tried.get(), 2);
        assert!(!folder.exists());
        remove_folder(folder.parent().unwrap()).unwrap();
    }
}
