//! Measures the contestants in alternating rounds, and computes medians.

use std::future::Future;
use std::time::{Duration, Instant};

/// The number of calls in flight at once in the second discipline.
const CALLS_IN_FLIGHT: usize = 64;

/// A contestant that makes trivial calls.
pub(crate) trait Contestant: Sync {
    /// Makes one call and waits for its response.
    fn call(&self) -> impl Future<Output = ()> + Send;
}

/// Runs a contestant in both disciplines, one call at a time and many at once,
/// and adds the microseconds for each call to `times`.
pub(crate) async fn measure_round(
    contestant: &impl Contestant,
    calls: usize,
    times: &mut [Vec<f64>; 2],
) {
    let start = Instant::now();
    for _ in 0..calls {
        contestant.call().await;
    }
    times[0].push(micros_per_call(start.elapsed(), calls));

    let start = Instant::now();
    let caller = || async {
        for _ in 0..calls / CALLS_IN_FLIGHT {
            contestant.call().await;
        }
    };
    futures_util::future::join_all((0..CALLS_IN_FLIGHT).map(|_| caller())).await;
    times[1].push(micros_per_call(start.elapsed(), calls));
}

/// Returns the microseconds for each call.
pub(crate) fn micros_per_call(time: Duration, calls: usize) -> f64 {
    time.as_secs_f64() * 1e6 / calls as f64
}

/// Returns the speed of ours as a multiple of theirs: the median of the ratios
/// of each round, because a disturbance affects all contestants of a round.
pub(crate) fn ratio(theirs: &[f64], ours: &[f64]) -> f64 {
    median(&mut theirs.iter().zip(ours).map(|(theirs, ours)| theirs / ours).collect::<Vec<_>>())
}

/// Prints a ratio and its minimum. Returns true if the ratio reaches the
/// minimum.
pub(crate) fn check(what: &str, ratio: f64, minimum: f64) -> bool {
    let verdict = if ratio >= minimum { "met" } else { "MISSED" };
    println!("{what}: {ratio:.2}, minimum {minimum:.2}: {verdict}");
    ratio >= minimum
}

pub(crate) fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
