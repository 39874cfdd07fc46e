//! Times and sizes as a person writes them: `200ms`, `30s`, `5m`, `1.5h`, `8MiB`.

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

/// The longest time that makes sense, in milliseconds: thirty days.
const LONGEST: u64 = 30 * 24 * 3_600_000;

/// Reads a time; a fraction may be written with a dot, as `1.5s`.
///
/// # Errors
/// When it is no number with a unit, or is longer than thirty days.
pub fn duration(text: &str) -> Result<Duration, String> {
    match quantity(text, &TIMES, |unit, written| unit == written)? {
        Some(milliseconds) if milliseconds <= LONGEST => Ok(Duration::from_millis(milliseconds)),
        _ => Err("it is longer than thirty days".to_owned()),
    }
}

/// Reads a size in bytes; a fraction may be written with a dot, and units in any case.
///
/// # Errors
/// When it is no number with a unit, is nothing, or more than 4 GiB.
pub fn size(text: &str) -> Result<usize, String> {
    match quantity(text, &SIZES, str::eq_ignore_ascii_case)?.map(u32::try_from) {
        Some(Ok(0)) => Err("a size must be more than nothing".to_owned()),
        Some(Ok(size)) => Ok(size as usize),
        _ => Err("more than 4 GiB".to_owned()),
    }
}

/// Reads a number with a unit, in terms of the smallest unit; nothing where that is more than fits.
fn quantity(
    text: &str,
    units: &[(&str, u64)],
    same: impl Fn(&str, &str) -> bool,
) -> Result<Option<u64>, String> {
    let number = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(number);
    let factor = units.iter().find(|(name, _)| same(name, unit.trim()));
    let Some((thousandths, (_, factor))) = thousandths(number).zip(factor) else {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        return Err(format!("write a number and a unit: {}", names.join(", ")));
    };
    let product = u128::from(*factor).checked_mul(thousandths);
    Ok(product.and_then(|product| u64::try_from(product / 1_000).ok()))
}

/// A decimal number in thousandths.
fn thousandths(number: &str) -> Option<u128> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || part.is_empty() || part.len() > 3 || part.contains('.') {
        return None;
    }
    let part: u128 = format!("{part:0<3}").parse().ok()?;
    // What has more digits than fit is too much whatever the unit.
    let whole: u128 = whole.parse().unwrap_or(u128::MAX);
    Some(whole.saturating_mul(1_000).saturating_add(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_with_their_unit() {
        assert_eq!(duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(duration("5 m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("720h"), Ok(Duration::from_secs(720 * 3_600)));
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        for wrong in ["", "5", "s", "-1s", "1.s", ".5s", "1.2.3s", "1.2345s", "1d", "5S"] {
            assert_eq!(duration(wrong), Err("write a number and a unit: ms, s, m, h".to_owned()));
        }
        for wrong in ["721h", "99999999999999999999h", &format!("{}ms", "9".repeat(60))] {
            assert_eq!(duration(wrong), Err("it is longer than thirty days".to_owned()), "{wrong}");
        }
    }

    #[test]
    fn reads_sizes_with_their_unit() {
        assert_eq!(size("8MiB"), Ok(8 * 1024 * 1024));
        assert_eq!(size("1mb"), Ok(1_000_000));
        assert_eq!(size("1.5 KiB"), Ok(1_536));
        assert_eq!(size("512B"), Ok(512));
        for (wrong, expected) in [
            ("", "write a number and a unit: B, kB, "),
            ("8", "write a number and a unit"),
            ("MiB", "write a number and a unit"),
            ("8 parsecs", "write a number and a unit"),
            ("0B", "a size must be more than nothing"),
            ("8GiB", "more than 4 GiB"),
            ("99999999999999999999GiB", "more than 4 GiB"),
        ] {
            let told = size(wrong).unwrap_err();
            assert!(told.starts_with(expected), "{wrong}: {told}");
        }
    }
}
