//! The suite judges our server: `spar mock examples/conformance.mock.yaml`, one
//! script and nothing else, held against all that each revision requires.

use anyhow::Result;

use super::mock::Mock;
use super::required::{self, Outcomes};
use super::suite::Suite;

/// The script, from the root of the repository on.
const SCRIPT: &str = "examples/conformance.mock.yaml";

/// Judges the server, whose program is built.
pub(super) fn run(suite: &Suite) -> Result<Outcomes> {
    // One for each revision: what the last one left behind must not help.
    let mut mock = None;
    required::run(|revision| {
        let mock = mock.insert(Mock::start(SCRIPT)?);
        let args = ["server", "--url", &mock.url, "--requirements", revision];
        Suite::said(suite.command(&args))
    })
}
