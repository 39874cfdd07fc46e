//! Installs a folder of peers once: a stamp in it says what it was made from.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};

const STAMP: &str = "sparring-stamp";

/// Makes the folder by `work` unless it was made from the same pins before.
/// The network may fail once; a folder that cannot be made is not left half
/// made, so that the tests see that it is missing.
pub(super) fn once(pins: &Path, folder: &Path, work: impl Fn() -> Result<()>) -> Result<()> {
    let wanted = fs::read_to_string(pins).with_context(|| format!("reading {}", pins.display()))?;
    let stamp = folder.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        eprintln!("{} is up to date", folder.display());
        return Ok(());
    }
    let started = Instant::now();
    let attempt = || {
        clear(folder)?;
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        work()
    };
    let outcome = attempt().or_else(|error| {
        eprintln!("{error:#}; once more");
        attempt()
    });
    if let Err(error) = outcome {
        clear(folder)?;
        return Err(error);
    }
    fs::write(&stamp, wanted).with_context(|| format!("writing {}", stamp.display()))?;
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{} installed in {seconds:.1}s", folder.display());
    Ok(())
}

fn clear(folder: &Path) -> Result<()> {
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

    /// A folder of the test's own, empty, with pins in it.
    fn place(name: &str, pins: &str) -> (PathBuf, PathBuf) {
        let own = std::env::temp_dir().join(format!("sparring-{name}-{}", std::process::id()));
        clear(&own).unwrap();
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("pins"), pins).unwrap();
        (own.join("pins"), own.join("made"))
    }

    #[test]
    fn installs_again_only_when_the_pins_change() {
        let (pins, folder) = place("pins-change", "a==1");
        let made = Cell::new(0);
        let work = || {
            made.set(made.get() + 1);
            Ok(())
        };
        once(&pins, &folder, work).unwrap();
        once(&pins, &folder, work).unwrap();
        assert_eq!(made.get(), 1);
        fs::write(&pins, "a==2").unwrap();
        once(&pins, &folder, work).unwrap();
        assert_eq!(made.get(), 2);
        clear(folder.parent().unwrap()).unwrap();
    }

    #[test]
    fn tries_twice_and_leaves_nothing_half_made() {
        let (pins, folder) = place("half-made", "a==1");
        let tried = Cell::new(0);
        let outcome = once(&pins, &folder, || {
            tried.set(tried.get() + 1);
            fs::write(folder.join("half"), "")?;
            bail!("no network")
        });
        assert_eq!(outcome.unwrap_err().to_string(), "no network");
        assert_eq!(tried.get(), 2);
        assert!(!folder.exists());
        clear(folder.parent().unwrap()).unwrap();
    }
}
