//! Durations as reports show them. What a file says is taken for none where it
//! cannot be one.

/// In seconds.
pub(crate) fn seconds(ms: f64) -> f64 {
    if ms.is_finite() && ms > 0.0 { ms / 1e3 } else { 0.0 }
}

/// For a person.
pub(crate) fn shown(ms: f64) -> String {
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
    fn durations_have_the_unit_that_fits() {
        let told = [1.25, 12.5, 999.6, 1_234.0, 61_000.0, -1.0, f64::NAN, f64::INFINITY].map(shown);
        let right =
            ["1.2 ms", "12 ms", "1.0 s", "1.2 s", "1 min 01 s", "0.0 ms", "0.0 ms", "0.0 ms"];
        assert_eq!(told, right);
    }
}
