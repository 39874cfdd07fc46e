//! Ping.

use std::time::Duration;

use sparring_wire::{Rule, code};
use tokio::time::Instant;

use super::{Probe, probe};
use crate::context::{Context, ProbeResult};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[probe!([SlowPing, NonEmptyPing], pings)];

/// The longest time in which a server answers a ping promptly.
pub(super) const PROMPT: Duration = Duration::from_secs(1);

/// The number of slow pings in a row that show a slow server.
const SLOW_PINGS: usize = 3;

async fn pings(context: &Context) -> ProbeResult {
    let mut shortest = Duration::MAX;
    // The wire checker looks at the result.
    context.pass(Rule::NonEmptyPing);
    for _ in 0..SLOW_PINGS {
        let start = Instant::now();
        let ping = context.request("ping", None).await;
        match ping.error_code() {
            Some(code::METHOD_NOT_FOUND) => {
                context.not_applicable(Rule::SlowPing, "the server does not implement `ping`");
                return Ok(());
            }
            None if ping.is_answered() => {}
            _ => {
                context.fail(Rule::SlowPing, ping.finding("expected an empty result for a ping"));
                return Ok(());
            }
        }
        shortest = shortest.min(start.elapsed());
        if shortest <= PROMPT {
            context.pass(Rule::SlowPing);
            return Ok(());
        }
    }
    let message = format!("each of {SLOW_PINGS} pings took longer than {PROMPT:?}");
    context.fail(Rule::SlowPing, Finding::new(message));
    Ok(())
}
