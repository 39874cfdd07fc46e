//! How long answers took, by what was asked: `--timings`.

use std::collections::BTreeMap;
use std::time::Duration;

use sparring_suite::Timing;

use crate::output::{Paint, line};

/// How wide a column of times is at least: the same for most runs.
const WIDE: usize = 8;

/// A line for everything that was asked, with the times of its answers.
pub(super) fn told<'a>(timings: impl Iterator<Item = &'a Timing>, paint: Paint) -> String {
    let mut by_asked: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    for timing in timings {
        by_asked.entry(&timing.asked).or_default().push(timing.took);
    }
    if by_asked.is_empty() {
        return String::new();
    }
    let rows = by_asked.into_iter().map(|(asked, mut times)| {
        times.sort_unstable();
        let at = |percent| shown(percentile(&times, percent));
        [times.len().to_string(), at(50), at(95), at(100), line::clean(asked)]
    });
    let head = ["answers", "p50", "p95", "max", "to"];
    let head: [String; 5] = std::array::from_fn(|column| match column {
        1..=3 => format!("{:>WIDE$}", head[column]),
        _ => head[column].to_owned(),
    });
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..4).map(width).collect();
    let lines = rows.iter().enumerate().map(|(number, row)| {
        let numbers = (0..4).map(|column| format!("  {:>1$}", row[column], widths[column]));
        let text = format!("{}  {}", numbers.collect::<String>(), row[4]);
        match number {
            0 => format!("{}\n", paint.aside(&text)),
            _ => format!("{text}\n"),
        }
    });
    format!("\n{}", lines.collect::<String>())
}

/// The smallest time that so many of a hundred do not exceed.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// In milliseconds, so that a column can be compared.
fn shown(time: Duration) -> String {
    format!("{:.1}ms", time.as_secs_f64() * 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times: Vec<Duration> = (1..=20).map(Duration::from_millis).collect();
        let at = |percent| percentile(&times, percent).as_millis();
        assert_eq!([at(50), at(95), at(100)], [10, 19, 20]);
        assert_eq!(percentile(&times[..1], 50), times[0]);
    }

    #[test]
    fn everything_that_was_asked_has_a_line() {
        let timing =
            |asked: &str, ms| Timing { asked: asked.to_owned(), took: Duration::from_millis(ms) };
        let timings = [timing("call b", 4), timing("call a", 1), timing("call b", 1_000)];
        let expected = "\n  answers       p50       p95       max  to\n        1     1.0ms     \
                        1.0ms     1.0ms  call a\n        2     4.0ms  1000.0ms  1000.0ms  call b\n";
        assert_eq!(told(timings.iter(), Paint::new(false, false)), expected);
        assert_eq!(told([].iter(), Paint::new(false, false)), "");
    }
}
