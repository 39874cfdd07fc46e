//! Runs the requirements of clients on our client.

use anyhow::{Result, ensure};

use super::requirements::{self, Outcomes};
use super::suite::Suite;

/// Scenarios of extensions that must pass as well.
const REQUIRED_EXTENSIONS: [&str; 2] =
    ["auth/client-credentials-basic", "auth/client-credentials-jwt"];

/// Runs the suite on the built client.
pub(super) fn run(suite: &Suite) -> Result<Outcomes> {
    let run = |revision: &str| Suite::run(suite.client_command(&["--requirements", revision]));
    let outcomes = requirements::run(run)?;
    for scenario in REQUIRED_EXTENSIONS {
        let at = outcomes.get(scenario).map(|at| at.iter().flatten()).into_iter().flatten();
        let passed = at.filter(|outcome| outcome.passed).count();
        ensure!(passed > 0, "scenario {scenario} fails, or the suite no longer has it");
    }
    Ok(outcomes)
}
