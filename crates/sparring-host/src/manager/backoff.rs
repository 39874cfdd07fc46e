//! How long to wait before a server that was lost is tried again.

use std::time::Duration;

use crate::config::Reconnect;

/// No wait is longer, however often it has doubled.
const LONGEST: Duration = Duration::from_secs(60);

/// The wait before the next try, after so many: doubled each time, and of that
/// at least half. The rest is chance, so that what was lost together does not
/// come back together.
pub(super) fn wait(reconnect: &Reconnect, tries: u32) -> Duration {
    let doubled = reconnect.delay.saturating_mul(2_u32.saturating_pow(tries)).min(LONGEST);
    doubled.mul_f64(0.5 + fastrand::f64() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_doubles_up_to_a_minute_and_no_two_are_alike() {
        let reconnect = Reconnect { attempts: 100, delay: Duration::from_secs(2) };
        for (tries, longest) in [(0, 2), (1, 4), (2, 8), (4, 32), (5, 60), (40, 60), (4_000, 60)] {
            let longest = Duration::from_secs(longest);
            let waits: Vec<Duration> = (0..100).map(|_| wait(&reconnect, tries)).collect();
            for wait in &waits {
                assert!(*wait >= longest / 2 && *wait <= longest, "{tries}: {wait:?}");
            }
            assert!(waits.iter().any(|wait| *wait != waits[0]), "{tries}");
        }
    }
}
