//! What is required of a client.

use anyhow::{Result, ensure};

use super::required::{self, Outcomes};
use super::suite::Suite;

/// What must pass besides, though it belongs to an extension.
const BESIDES: [&str; 2] = ["auth/client-credentials-basic", "auth/client-credentials-jwt"];

/// Judges the client, which is built.
pub(super) fn run(suite: &Suite) -> Result<Outcomes> {
    let judge = |revision: &str| Suite::said(suite.on_client(&["--requirements", revision]));
    let outcomes = required::run(judge)?;
    for scenario in BESIDES {
        let at = outcomes.get(scenario).map(|at| at.iter().flatten()).into_iter().flatten();
        let passed = at.filter(|outcome| outcome.passed).count();
        ensure!(passed > 0, "{scenario} does not pass, or is not there any more");
    }
    Ok(outcomes)
}
