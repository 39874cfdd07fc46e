//! Times and sizes as a person writes them: `500ms`, `30s`, `8MiB`.

use std::time::Duration;

const TIMES: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

const SIZES: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// The longest time that makes sense, in milliseconds: a day.
const LONGEST: u64 = 86_400_000;

/// Reads a time.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    match quantity(text, &TIMES)? {
        0 => Err("a time must be more than nothing".to_owned()),
        milliseconds if milliseconds > LONGEST => Err("more than 24h".to_owned()),
        milliseconds => Ok(Duration::from_millis(milliseconds)),
    }
}

/// Reads a size in bytes.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    match usize::try_from(quantity(text, &SIZES)?) {
        Ok(0) => Err("a size must be more than nothing".to_owned()),
        Ok(size) if u32::try_from(size).is_ok() => Ok(size),
        _ => Err("more than 4 GiB".to_owned()),
    }
}

fn quantity(text: &str, units: &[(&str, u64)]) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()));
    let read = number.parse::<u64>().ok().zip(factor);
    let product = read.and_then(|(number, (_, factor))| number.checked_mul(*factor));
    product.ok_or_else(|| {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        format!("write a whole number and a unit: {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_with_their_unit() {
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["", "5", "s", "-1s", "1.5s", "0s", "25h", "99999999999999999999s"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn reads_sizes_with_their_unit() {
        assert_eq!(size("8MiB"), Ok(8 * 1024 * 1024));
        assert_eq!(size("1mb"), Ok(1_000_000));
        assert_eq!(size("512B"), Ok(512));
        for wrong in ["", "8", "MiB", "0B", "8GiB", "8 parsecs"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
