//! Formats counts and durations.

/// Formats a number of things: `1 test`, `2 tests`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// Formats a number of additional things: `1 more test`, `2 more tests`.
pub(crate) fn more(number: usize, noun: &str) -> String {
    count(number, &format!("more {noun}"))
}

/// Converts milliseconds to seconds. A number that is not a duration becomes 0.
pub(crate) fn seconds(ms: f64) -> f64 {
    if ms.is_finite() && ms > 0.0 { ms / 1e3 } else { 0.0 }
}

/// Formats a duration for a person.
pub(crate) fn duration(ms: f64) -> String {
    match seconds(ms) {
        s if s < 0.0095 => format!("{:.1} ms", s * 1e3),
        s if s < 0.9995 => format!("{:.0} ms", s * 1e3),
        s if s < 60.0 => format!("{s:.1} s"),
        s => format!("{:.0} min {:02.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_fitting_unit() {
        let formatted =
            [1.25, 12.5, 999.6, 1_234.0, 61_000.0, -1.0, f64::NAN, f64::INFINITY].map(duration);
        let expected =
            ["1.2 ms", "12 ms", "1.0 s", "1.2 s", "1 min 01 s", "0.0 ms", "0.0 ms", "0.0 ms"];
        assert_eq!(formatted, expected);
    }
}
