//! Times as a person types them: `500ms`, `30s`.

use std::time::Duration;

/// The longest time that makes sense in a flag: a day.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads a time as files have it, with units in any case, within the bounds of a flag.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    match sparring_script::duration(&text.to_ascii_lowercase())? {
        Duration::ZERO => Err("a time must be more than nothing".to_owned()),
        time if time > LONGEST => Err("more than 24h".to_owned()),
        time => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_within_the_bounds_of_a_flag() {
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("1.5S"), Ok(Duration::from_millis(1_500)));
        assert_eq!(time("24h"), Ok(LONGEST));
        for wrong in ["", "5", "-1s", "0s", "25h", "99999999999999999999s"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
