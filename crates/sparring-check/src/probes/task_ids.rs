//! Estimates how hard it is to guess the id of a task from the ids of other tasks.

/// The smallest number of bits that two ids of a server must differ in.
const MIN_BITS: f64 = 40.0;

/// Returns what is weak about the ids of different tasks.
pub(super) fn weakness(ids: &[String]) -> Option<String> {
    let first = ids.first()?;
    let common = |one: &str, other: &str| {
        one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
    };
    let prefix = ids.iter().map(|id| common(first, id)).min()?;
    let reversed = |id: &str| id.bytes().rev().collect::<Vec<u8>>();
    let end = reversed(first);
    let suffix = ids
        .iter()
        .map(|id| end.iter().zip(&reversed(id)).take_while(|(one, other)| one == other).count())
        .min()?;
    let varying = ids.iter().map(|id| id.len().saturating_sub(prefix + suffix)).max()?;
    let parts = ids.iter().flat_map(|id| id.bytes().skip(prefix).take(varying));
    let bits = varying as f64 * bits_per_character(parts);
    (bits < MIN_BITS).then(|| format!("they differ in {varying} characters"))
}

fn bits_per_character(bytes: impl Iterator<Item = u8>) -> f64 {
    let kinds = bytes.fold((false, false, false), |(digit, hex, other), byte| {
        let is_hex = byte.is_ascii_hexdigit() && !byte.is_ascii_digit();
        (
            digit || byte.is_ascii_digit(),
            hex || is_hex,
            other || !byte.is_ascii_hexdigit() && byte != b'-',
        )
    });
    match kinds {
        (_, _, true) => 5.5,
        (_, true, false) => 4.0,
        _ => 3.3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_counters_times_and_random_ids() {
        let is_weak = |ids: &[&str]| {
            let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            weakness(&ids).is_some()
        };
        assert!(is_weak(&["task-1", "task-2", "task-3"]));
        assert!(is_weak(&["1", "2"]));
        assert!(is_weak(&["task-1763560000123", "task-1763560000345"]));
        assert!(is_weak(&["a3f29c1e", "9be01277"]));
        assert!(!is_weak(&[
            "786512e2-9e0d-44bd-8f29-789f320fe840",
            "1f0e3dad-9990-4345-b743-9f8ffabdffc4",
        ]));
        // UUIDs of version 7 have the time in front.
        assert!(!is_weak(&[
            "019a9b1e-7c00-7a31-9d5e-3c7b8b1f2a44",
            "019a9b1e-7c02-74ce-8f0b-5d2e11c09b7a",
        ]));
        assert!(!is_weak(&["V1StGXR8_Z5jdHi6B-myT", "qX0kLmB2vWz9cRt4yUe7a"]));
    }
}
