//! Whether there is a Chromium, which the tests of the HTML report drive.

use crate::command::works;

/// By these names the tests look for it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Whether one is on the PATH and works.
pub(crate) fn is_installed() -> bool {
    NAMES.iter().any(|name| works(&format!("{name} --version")))
}
