//! Waits until the messages that a step expects have arrived. If the step forbids some
//! messages, also waits until no more arrive.

use std::time::Duration;

use sparring_script::Scope;
use tokio::time::{Instant, sleep};

use crate::judge;
use crate::model::{Collection, Expectation, Expectations};
use crate::step_result::StepResult;

/// The maximum wait for an expected message.
pub(super) const WAIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The time without new messages after which a step that forbids messages ends.
const QUIET_TIME: Duration = Duration::from_millis(100);

/// The number of looks without new messages after which such a step ends. On a busy machine, much
/// time can pass between two looks.
const QUIET_POLLS: u32 = 10;

const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Calls `update` again and again until everything expected has arrived and, if
/// something must not arrive, until nothing has arrived for a while.
pub(super) async fn expected(
    expect: &Expectations,
    limit: Duration,
    scope: &dyn Scope,
    result: &mut StepResult,
    mut update: impl FnMut(&mut StepResult),
) {
    let expectations: Vec<&Expectation> =
        expect.0.iter().map(|(_, expectation)| expectation).filter(may_come_late).collect();
    if expectations.is_empty() {
        return;
    }
    let end = Instant::now() + limit;
    let has_come =
        |result: &StepResult| expectations.iter().all(|it| judge::has_come(it, result, scope));
    while Instant::now() < end && !has_come(result) {
        sleep(POLL_INTERVAL).await;
        update(result);
    }
    let forbids = expectations.iter().any(|expectation| judge::forbids_more(expectation, scope));
    let (mut sizes, mut since, mut polls) = (collected(result), Instant::now(), 0);
    let is_quiet = |since: Instant, polls| since.elapsed() >= QUIET_TIME && polls >= QUIET_POLLS;
    while forbids && !is_quiet(since, polls) && Instant::now() < end + QUIET_TIME {
        sleep(POLL_INTERVAL).await;
        update(result);
        polls += 1;
        if collected(result) != sizes {
            (sizes, since, polls) = (collected(result), Instant::now(), 0);
        }
    }
}

/// Returns true if an expectation checks something that may arrive after the answer.
fn may_come_late(expectation: &&Expectation) -> bool {
    match expectation {
        Expectation::Items(collection, _) => *collection != Collection::List,
        Expectation::Stderr(_)
        | Expectation::Status(_)
        | Expectation::Headers(_)
        | Expectation::Journal { .. } => true,
        Expectation::Value(..)
        | Expectation::Exit(_)
        | Expectation::Stdout(_)
        | Expectation::Files(_)
        | Expectation::Within(_)
        | Expectation::Snapshot(_) => false,
    }
}

/// The amounts of frames, requests, violations, stderr bytes and journal entries so far.
fn collected(result: &StepResult) -> [usize; 5] {
    let received = result.journals.values().map(Vec::len).sum();
    let (frames, requests) = (result.frames.len(), result.requests.len());
    [frames, requests, result.violations.len(), result.stderr.len(), received]
}
