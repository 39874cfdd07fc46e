//! Response times by request: `--timings`.

use std::collections::BTreeMap;
use std::time::Duration;

use sparring_report::Timing;

use crate::output::{Paint, line};

/// Minimum width of a column of times, so that most runs look the same.
const TIME_COLUMN_WIDTH: usize = 8;

/// Renders a line for each request, with its response times.
pub(super) fn render_timings<'a>(
    timings: impl Iterator<Item = &'a Timing>,
    paint: Paint,
) -> String {
    let mut by_asked: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    for timing in timings {
        by_asked
            .entry(&timing.request)
            .or_default()
            .push(Duration::from_secs_f64(timing.took_ms / 1e3));
    }
    if by_asked.is_empty() {
        return String::new();
    }
    let rows = by_asked.into_iter().map(|(asked, mut times)| {
        times.sort_unstable();
        let at = |percent| format_milliseconds(percentile(&times, percent));
        [times.len().to_string(), at(50), at(95), at(100), line::clean(asked)]
    });
    let head = ["answers", "p50", "p95", "max", "to"];
    let head: [String; 5] = std::array::from_fn(|column| match column {
        1..=3 => format!("{:>TIME_COLUMN_WIDTH$}", head[column]),
        _ => head[column].to_owned(),
    });
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..4).map(width).collect();
    let lines = rows.iter().enumerate().map(|(number, row)| {
        let numbers = (0..4).map(|column| format!("  {:>1$}", row[column], widths[column]));
        let text = format!("{}  {}", numbers.collect::<String>(), row[4]);
        match number {
            0 => format!("{}\n", paint.dim(&text)),
            _ => format!("{text}\n"),
        }
    });
    format!("\n{}", lines.collect::<String>())
}

/// Returns the smallest time that this percentage of the times does not exceed.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// Formats all times in milliseconds, so that a column can be compared.
fn format_milliseconds(time: Duration) -> String {
    format!("{:.1}ms", time.as_secs_f64() * 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_times() {
        let times: Vec<Duration> = (1..=20).map(Duration::from_millis).collect();
        let at = |percent| percentile(&times, percent).as_millis();
        assert_eq!([at(50), at(95), at(100)], [10, 19, 20]);
        assert_eq!(percentile(&times[..1], 50), times[0]);
    }

    #[test]
    fn every_request_has_a_line() {
        let timing = |asked: &str, ms| Timing { request: asked.to_owned(), took_ms: ms };
        let timings = [timing("call b", 4.0), timing("call a", 1.0), timing("call b", 1_000.0)];
        let expected = "\n  answers       p50       p95       max  to\n        1     1.0ms     \
                        1.0ms     1.0ms  call a\n        2     4.0ms  1000.0ms  1000.0ms  call b\n";
        assert_eq!(render_timings(timings.iter(), Paint::new(false, false)), expected);
        assert_eq!(render_timings([].iter(), Paint::new(false, false)), "");
    }
}
