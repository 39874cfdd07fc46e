//! Parses durations and sizes with a unit: `200ms`, `30s`, `5m`, `1.5h`, `8MiB`.

use std::time::Duration;

const TIME_UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

const SIZE_UNITS: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// The maximum duration in milliseconds: 30 days.
const MAX_DURATION_MS: u64 = 30 * 24 * 3_600_000;

/// Parses a duration. It may have a fraction: `1.5s`.
///
/// # Errors
/// Returns the end of the sentence "the value is …" if the text is not a number with a
/// unit, or is longer than 30 days.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    match parse_quantity(text, &TIME_UNITS, |unit, written| unit == written) {
        None => Err("not a duration (try `200ms` or `2s`)".to_owned()),
        Some(Some(milliseconds)) if milliseconds <= MAX_DURATION_MS => {
            Ok(Duration::from_millis(milliseconds))
        }
        Some(_) => Err("longer than 30 days".to_owned()),
    }
}

/// Parses a size in bytes. It may have a fraction, and its unit may be in any case.
///
/// # Errors
/// Returns the end of the sentence "the value is …" if the text is not a number with a
/// unit, is zero, or is larger than 4 GiB.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let Some(bytes) = parse_quantity(text, &SIZE_UNITS, str::eq_ignore_ascii_case) else {
        return Err("not a size (try `64KiB` or `8MiB`)".to_owned());
    };
    match bytes.map(u32::try_from) {
        Some(Ok(0)) => Err("not greater than zero".to_owned()),
        Some(Ok(size)) => Ok(size as usize),
        _ => Err("larger than 4 GiB".to_owned()),
    }
}

/// Parses a number with a unit and converts it to the smallest unit. The outer option is
/// empty if the text is malformed, the inner one if the result does not fit into 64 bits.
fn parse_quantity(
    text: &str,
    units: &[(&str, u64)],
    is_same: impl Fn(&str, &str) -> bool,
) -> Option<Option<u64>> {
    let number = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(number);
    let (_, factor) = units.iter().find(|(name, _)| is_same(name, unit.trim()))?;
    let product = u128::from(*factor).checked_mul(parse_thousandths(number)?);
    Some(product.and_then(|product| u64::try_from(product / 1_000).ok()))
}

/// Parses a decimal number to thousandths.
fn parse_thousandths(number: &str) -> Option<u128> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || part.is_empty() || part.len() > 3 || part.contains('.') {
        return None;
    }
    let part: u128 = format!("{part:0<3}").parse().ok()?;
    // A number with more digits than fit is too large in every unit.
    let whole: u128 = whole.parse().unwrap_or(u128::MAX);
    Some(whole.saturating_mul(1_000).saturating_add(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_durations_with_a_unit() {
        assert_eq!(parse_duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(parse_duration("5 m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_duration("720h"), Ok(Duration::from_secs(720 * 3_600)));
        assert_eq!(parse_duration("0s"), Ok(Duration::ZERO));
        for wrong in ["", "5", "s", "-1s", "1.s", ".5s", "1.2.3s", "1.2345s", "1d", "5S"] {
            assert_eq!(
                parse_duration(wrong),
                Err("not a duration (try `200ms` or `2s`)".to_owned())
            );
        }
        for wrong in ["721h", "99999999999999999999h", &format!("{}ms", "9".repeat(60))] {
            assert_eq!(parse_duration(wrong), Err("longer than 30 days".to_owned()), "{wrong}");
        }
    }

    #[test]
    fn parses_sizes_with_a_unit() {
        assert_eq!(parse_size("8MiB"), Ok(8 * 1024 * 1024));
        assert_eq!(parse_size("1mb"), Ok(1_000_000));
        assert_eq!(parse_size("1.5 KiB"), Ok(1_536));
        assert_eq!(parse_size("512B"), Ok(512));
        for (wrong, expected) in [
            ("", "not a size (try `64KiB` or `8MiB`)"),
            ("8", "not a size (try `64KiB` or `8MiB`)"),
            ("MiB", "not a size (try `64KiB` or `8MiB`)"),
            ("8 parsecs", "not a size (try `64KiB` or `8MiB`)"),
            ("0B", "not greater than zero"),
            ("8GiB", "larger than 4 GiB"),
            ("99999999999999999999GiB", "larger than 4 GiB"),
        ] {
            assert_eq!(parse_size(wrong), Err(expected.to_owned()), "{wrong}");
        }
    }
}
