//! What a mock remembers from one request to the next.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use serde_json::Value;

use crate::model::Delay;

/// Random numbers, counters, and the last arguments of each tool.
#[derive(Debug)]
pub(super) struct Memory {
    random: Mutex<Rng>,
    counters: Mutex<HashMap<String, u64>>,
    last: Mutex<HashMap<String, Value>>,
}

impl Memory {
    pub(super) fn new(seed: Option<u64>) -> Self {
        let random = seed.map_or_else(Rng::new, Rng::with_seed);
        Memory { random: Mutex::new(random), counters: Mutex::default(), last: Mutex::default() }
    }

    /// Makes everything as it was at first.
    pub(super) fn reset(&self, seed: Option<u64>) {
        *held(&self.random) = seed.map_or_else(Rng::new, Rng::with_seed);
        held(&self.counters).clear();
        held(&self.last).clear();
    }

    /// The next random value of a kind.
    pub(super) fn random(&self, kind: &str) -> Option<Value> {
        let mut random = held(&self.random);
        Some(match kind {
            "int" => random.u32(0..=i32::MAX.cast_unsigned()).into(),
            "float" => random.f64().into(),
            "hex" => format!("{:016x}", random.u64(..)).into(),
            "uuid" => uuid(random.u128(..)).into(),
            _ => return None,
        })
    }

    /// A time within a delay.
    pub(super) fn pick(&self, delay: Delay) -> Duration {
        if delay.least == delay.most {
            return delay.least;
        }
        let share = held(&self.random).f64();
        delay.least + (delay.most - delay.least).mul_f64(share)
    }

    /// The next number of a counter, from 1 on.
    pub(super) fn count(&self, name: &str) -> u64 {
        let mut counters = held(&self.counters);
        let counter = counters.entry(name.to_owned()).or_default();
        *counter += 1;
        *counter
    }

    /// Keeps the arguments of a call.
    pub(super) fn keep(&self, tool: &str, args: Value) {
        held(&self.last).insert(tool.to_owned(), args);
    }

    /// The arguments of the last call before this one.
    pub(super) fn last(&self, tool: &str) -> Option<Value> {
        held(&self.last).get(tool).cloned()
    }
}

/// A random UUID (RFC 9562, version 4).
fn uuid(bits: u128) -> String {
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_values_again() {
        let values = |seed| {
            let memory = Memory::new(Some(seed));
            ["int", "float", "hex", "uuid"].map(|kind| memory.random(kind).unwrap())
        };
        assert_eq!(values(7), values(7));
        assert_ne!(values(7), values(8));
        let uuid = values(7)[3].as_str().unwrap().to_owned();
        assert!(uuid.len() == 36 && uuid.as_bytes()[14] == b'4', "{uuid}");
    }

    #[test]
    fn a_delay_lies_within_its_bounds() {
        let memory = Memory::new(Some(1));
        let (least, most) = (Duration::from_millis(10), Duration::from_millis(20));
        for _ in 0..100 {
            let picked = memory.pick(Delay { least, most });
            assert!((least..=most).contains(&picked), "{picked:?}");
        }
    }
}
