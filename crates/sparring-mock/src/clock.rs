//! What time it is, in UTC: for journals and templates.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time, counted from the beginning of 1970; before that there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment(Duration);

impl Moment {
    pub(crate) fn now() -> Self {
        Moment(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    pub(crate) fn as_second(self) -> u64 {
        self.0.as_secs()
    }

    pub(crate) fn as_millisecond(self) -> u64 {
        u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX)
    }
}

/// As RFC 3339 has it, with no more digits than are needed.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0.as_secs() / 86_400, self.0.as_secs() % 86_400);
        let (year, month, day) = date(days);
        let (hour, minute) = (second / 3_600, second / 60 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}", second % 60)?;
        match format!("{:09}", self.0.subsec_nanos()).trim_end_matches('0') {
            "" => f.write_str("Z"),
            fraction => write!(f, ".{fraction}Z"),
        }
    }
}

/// The date of a day, counted from 1970-01-01. Years are taken to begin in March here, so
/// that a leap day is the last of its year, and come in eras of 400.
fn date(days: u64) -> (u64, u64, u64) {
    let from_march = days + 719_468;
    let (era, day) = (from_march / 146_097, from_march % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_people_write_them() {
        for (nanoseconds, written) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399_500_000_000, "2000-02-28T23:59:59.5Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00Z"),
            (1_709_164_800_000_000_001, "2024-02-29T00:00:00.000000001Z"),
            (1_735_689_599_999_000_000, "2024-12-31T23:59:59.999Z"),
            (1_740_787_200_000_000_000, "2025-03-01T00:00:00Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(Moment(Duration::from_nanos(nanoseconds)).to_string(), written);
        }
    }
}
