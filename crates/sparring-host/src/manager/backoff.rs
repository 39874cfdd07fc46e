//! Computes the delay before a lost server is tried again.

use std::time::Duration;

use crate::config::Reconnect;

/// The delay never exceeds this, however often it has doubled.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// The delay before the next try, after `tries` tries. It doubles with each
/// try, and half of it is random, so that servers which were lost together do
/// not reconnect together.
pub(super) fn retry_delay(reconnect: &Reconnect, tries: u32) -> Duration {
    let doubled = reconnect.delay.saturating_mul(2_u32.saturating_pow(tries)).min(MAX_DELAY);
    doubled.mul_f64(0.5 + fastrand::f64() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_up_to_a_minute_and_is_random() {
        let reconnect = Reconnect { attempts: 100, delay: Duration::from_secs(2) };
        for (tries, longest) in [(0, 2), (1, 4), (2, 8), (4, 32), (5, 60), (40, 60), (4_000, 60)] {
            let longest = Duration::from_secs(longest);
            let waits: Vec<Duration> = (0..100).map(|_| retry_delay(&reconnect, tries)).collect();
            for wait in &waits {
                assert!(*wait >= longest / 2 && *wait <= longest, "{tries}: {wait:?}");
            }
            assert!(waits.iter().any(|wait| *wait != waits[0]), "{tries}");
        }
    }
}
