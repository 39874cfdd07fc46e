//! Values that templates use and that change between requests: random numbers, counters and the
//! last arguments of each tool.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use serde_json::Value;

use crate::model::Delay;

/// Random numbers, counters and the last arguments of each tool.
#[derive(Debug)]
pub(super) struct TemplateState {
    random: Mutex<Rng>,
    counters: Mutex<HashMap<String, u64>>,
    last: Mutex<HashMap<String, Value>>,
}

impl TemplateState {
    pub(super) fn new(seed: Option<u64>) -> Self {
        let random = seed.map_or_else(Rng::new, Rng::with_seed);
        TemplateState {
            random: Mutex::new(random),
            counters: Mutex::default(),
            last: Mutex::default(),
        }
    }

    /// Restores the initial state.
    pub(super) fn reset(&self, seed: Option<u64>) {
        *lock(&self.random) = seed.map_or_else(Rng::new, Rng::with_seed);
        lock(&self.counters).clear();
        lock(&self.last).clear();
    }

    /// Returns the next random value of a kind.
    pub(super) fn next_random(&self, kind: &str) -> Option<Value> {
        let mut random = lock(&self.random);
        Some(match kind {
            "int" => random.u32(0..=i32::MAX.cast_unsigned()).into(),
            "float" => random.f64().into(),
            "hex" => format!("{:016x}", random.u64(..)).into(),
            "uuid" => format_uuid(random.u128(..)).into(),
            _ => return None,
        })
    }

    /// Picks a random duration within a delay.
    pub(super) fn pick_delay(&self, delay: Delay) -> Duration {
        if delay.min == delay.max {
            return delay.min;
        }
        let fraction = lock(&self.random).f64();
        delay.min + (delay.max - delay.min).mul_f64(fraction)
    }

    /// Returns the next number of a counter, from 1.
    pub(super) fn next_count(&self, name: &str) -> u64 {
        let mut counters = lock(&self.counters);
        let counter = counters.entry(name.to_owned()).or_default();
        *counter += 1;
        *counter
    }

    /// Stores the arguments of a call.
    pub(super) fn set_last_arguments(&self, tool: &str, args: Value) {
        lock(&self.last).insert(tool.to_owned(), args);
    }

    /// Returns the arguments of the previous call.
    pub(super) fn last_arguments(&self, tool: &str) -> Option<Value> {
        lock(&self.last).get(tool).cloned()
    }
}

/// Formats a random UUID (RFC 9562, version 4).
fn format_uuid(bits: u128) -> String {
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_values_again() {
        let values = |seed| {
            let state = TemplateState::new(Some(seed));
            ["int", "float", "hex", "uuid"].map(|kind| state.next_random(kind).unwrap())
        };
        assert_eq!(values(7), values(7));
        assert_ne!(values(7), values(8));
        let uuid = values(7)[3].as_str().unwrap().to_owned();
        assert!(uuid.len() == 36 && uuid.as_bytes()[14] == b'4', "{uuid}");
    }

    #[test]
    fn picks_a_delay_within_its_bounds() {
        let state = TemplateState::new(Some(1));
        let (min, max) = (Duration::from_millis(10), Duration::from_millis(20));
        for _ in 0..100 {
            let picked = state.pick_delay(Delay { min, max });
            assert!((min..=max).contains(&picked), "{picked:?}");
        }
    }
}
