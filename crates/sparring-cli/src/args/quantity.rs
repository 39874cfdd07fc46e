//! Times as a person types them: `500ms`, `30s`.

use std::time::Duration;

const TIMES: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// The longest time that makes sense, in milliseconds: a day.
const LONGEST: u64 = 86_400_000;

/// Reads a time.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    match quantity(text)? {
        0 => Err("a time must be more than nothing".to_owned()),
        milliseconds if milliseconds > LONGEST => Err("more than 24h".to_owned()),
        milliseconds => Ok(Duration::from_millis(milliseconds)),
    }
}

fn quantity(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = TIMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()));
    let read = number.parse::<u64>().ok().zip(factor);
    let product = read.and_then(|(number, (_, factor))| number.checked_mul(*factor));
    product.ok_or_else(|| {
        let names = TIMES.map(|(name, _)| name);
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
}
