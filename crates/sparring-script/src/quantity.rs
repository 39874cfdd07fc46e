//! Times and sizes as a person writes them: `200ms`, `30s`, `5m`, `1h`, `8MiB`.

use std::time::Duration;

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

const SIZES: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// The longest time that makes sense, in milliseconds: thirty days.
const LONGEST: u64 = 30 * 24 * 3_600_000;

/// Reads a time; a fraction may be written with a dot, as `1.5s`.
///
/// # Errors
/// When it is no number with a unit, or is longer than thirty days.
pub fn duration(text: &str) -> Result<Duration, String> {
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let factor = UNITS.iter().find(|(name, _)| *name == unit.trim());
    let Some((number, (_, factor))) = read(number).zip(factor) else {
        return Err(format!("`{text}` is no time; write a number and a unit: ms, s, m, h"));
    };
    let milliseconds = number.checked_mul(*factor).map(|product| product / 1_000);
    match milliseconds {
        Some(milliseconds) if milliseconds <= LONGEST => Ok(Duration::from_millis(milliseconds)),
        _ => Err(format!("`{text}` is longer than thirty days")),
    }
}

/// Reads a size in bytes.
///
/// # Errors
/// When it is no whole number with a unit, is nothing, or more than 4 GiB.
pub fn size(text: &str) -> Result<usize, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()));
    let read = number.parse::<u64>().ok().zip(factor);
    let product = read.and_then(|(number, (_, factor))| number.checked_mul(*factor));
    match product.map(usize::try_from) {
        None => {
            let names: Vec<&str> = SIZES.iter().map(|(name, _)| *name).collect();
            Err(format!("write a whole number and a unit: {}", names.join(", ")))
        }
        Some(Ok(0)) => Err("a size must be more than nothing".to_owned()),
        Some(Ok(size)) if u32::try_from(size).is_ok() => Ok(size),
        Some(_) => Err("more than 4 GiB".to_owned()),
    }
}

/// A decimal number in thousandths.
fn read(number: &str) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || part.len() > 3 || number.ends_with('.') || part.contains('.') {
        return None;
    }
    let part: u64 = format!("{part:0<3}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_with_their_unit() {
        assert_eq!(duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        for wrong in ["", "5", "s", "-1s", "1.s", ".5s", "1.2.3s", "1.2345s", "1d", "721h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        assert!(duration("99999999999999999999h").is_err());
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
