//! Contestants that take turns, and the medians of what they needed.

use std::future::Future;
use std::time::{Duration, Instant};

/// How many calls are in flight at once in the second discipline.
const AT_ONCE: usize = 64;

/// Something that makes trivial calls.
pub(crate) trait Contestant: Sync {
    /// Makes one call and waits for its answer.
    fn call(&self) -> impl Future<Output = ()> + Send;
}

/// Takes one turn of that many calls in both disciplines, one at a time and
/// many at once; times are microseconds a call.
pub(crate) async fn take(contestant: &impl Contestant, calls: usize, times: &mut [Vec<f64>; 2]) {
    let start = Instant::now();
    for _ in 0..calls {
        contestant.call().await;
    }
    times[0].push(each(start.elapsed(), calls));

    let start = Instant::now();
    let lane = || async {
        for _ in 0..calls / AT_ONCE {
            contestant.call().await;
        }
    };
    futures_util::future::join_all((0..AT_ONCE).map(|_| lane())).await;
    times[1].push(each(start.elapsed(), calls));
}

/// Microseconds for each of so many.
pub(crate) fn each(time: Duration, calls: usize) -> f64 {
    time.as_secs_f64() * 1e6 / calls as f64
}

/// How many times as fast ours is: the median over the rounds, each apart, since
/// what disturbs one contestant disturbs its neighbours as well.
pub(crate) fn ratio(theirs: &[f64], ours: &[f64]) -> f64 {
    median(&mut theirs.iter().zip(ours).map(|(theirs, ours)| theirs / ours).collect::<Vec<_>>())
}

/// Prints whether a ratio is what was wanted.
pub(crate) fn check(what: &str, ratio: f64, least: f64) -> bool {
    let verdict = if ratio >= least { "met" } else { "MISSED" };
    println!("{what}: {ratio:.2}, at least {least:.2} wanted: {verdict}");
    ratio >= least
}

pub(crate) fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
