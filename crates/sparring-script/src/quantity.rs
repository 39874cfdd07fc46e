//! Times as a person writes them: `200ms`, `30s`, `5m`, `1h`.

use std::time::Duration;

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

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
}
