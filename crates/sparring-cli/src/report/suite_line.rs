//! Renders the results of a suite in one line, the tests of a suite in one line each, and
//! the skipped tests in one line for each reason.

use std::time::Duration;

use sparring_report::{Note, Outcome, Run, SourceLocation, Summary, Test};
use sparring_suite::PlannedTest;

use crate::output::{Paint, line};

/// The duration from which the line of a test or a suite shows its time.
const SLOW: Duration = Duration::from_secs(1);

/// The maximum number of suites that the line of a reason names.
const MAX_NAMED_SUITES: usize = 3;

/// The width of a label, so that names are below each other.
const LABEL_COLUMNS: usize = 6;

/// Renders the results of a suite in one line, with the notes and the flaky tests below it.
/// Returns `None` if no test ran.
pub(super) fn render_suite(name: &str, tests: &[Test], paint: Paint) -> Option<String> {
    let Summary { passed, failed, skipped, not_run, flaky } = Summary::from_tests(tests);
    if passed + failed == 0 {
        return None;
    }
    let label = if failed == 0 { paint.success("ok    ") } else { paint.error("FAIL  ") };
    let counts = [
        (failed, "failed"),
        (passed, "passed"),
        (skipped, "skipped"),
        (not_run, "not run"),
        (flaky, "flaky"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, outcome)| format!("{count} {outcome}")).collect();
    let took = render_slow_time(tests.iter().map(|test| test.took_ms).sum(), paint);
    let mut text = format!("{label}{}: {}{took}\n", line::clean(name), counts.join(", "));
    let indent = " ".repeat(LABEL_COLUMNS);
    for test in tests.iter().filter(|test| test.is_flaky()) {
        let flaky = paint.warning("flaky:");
        let title = line::clean(&test.title());
        text.push_str(&format!("{indent}{flaky} {title} ({})\n", render_tries(test)));
    }
    // A test has the same notes in each variant.
    let mut notes: Vec<&Note> = Vec::new();
    for note in tests.iter().flat_map(|test| &test.notes) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    text.extend(notes.into_iter().map(|note| format!("{indent}{}\n", render_note(note, paint))));
    Some(text)
}

/// Renders the line of a test, with its notes below it. Returns `None` if it did not run.
pub(super) fn render_test(planned: PlannedTest<'_>, test: &Test, paint: Paint) -> Option<String> {
    let name = format!("{}{}", line::clean(&planned.test.name), planned.variant);
    let took = render_slow_time(test.took_ms, paint);
    let notes = test.notes.iter().map(|note| format!("        {}\n", render_note(note, paint)));
    let notes: String = notes.collect();
    Some(match test.outcome {
        Outcome::Passed => {
            let tries = match test.is_flaky() {
                true => paint.warning(&format!(" (flaky: {})", render_tries(test))),
                false => String::new(),
            };
            format!("  {}{name}{tries}{took}\n{notes}", paint.success("ok    "))
        }
        Outcome::Failed => format!("  {}{name}{took}\n{notes}", paint.error("FAIL  ")),
        Outcome::Skipped => {
            let reason = paint.dim(&format!("({})", reason(test)));
            format!("  {}{name} {reason}\n", paint.warning("skip  "))
        }
        Outcome::NotRun => return None,
    })
}

/// Renders a line for each reason for which tests were skipped, in the order of the run.
pub(super) fn render_skipped(run: &Run, paint: Paint) -> String {
    let mut reasons: Vec<(String, Vec<&Test>)> = Vec::new();
    for test in run.tests.iter().filter(|test| test.outcome == Outcome::Skipped) {
        let reason = reason(test);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, tests)) => tests.push(test),
            None => reasons.push((reason, vec![test])),
        }
    }
    let lines = reasons.iter().map(|(reason, tests)| {
        let counted = match tests.len() {
            1 => "1 test".to_owned(),
            count => format!("{count} tests"),
        };
        let mut suites: Vec<&str> = tests.iter().map(|test| &*test.suite).collect();
        suites.dedup();
        let more = match suites.len().saturating_sub(MAX_NAMED_SUITES) {
            0 => String::new(),
            1 => " and 1 more suite".to_owned(),
            left => format!(" and {left} more suites"),
        };
        suites.truncate(MAX_NAMED_SUITES);
        let suites = format!("{}{more}", suites.join(", "));
        format!("{}{counted} of {suites}: {reason}\n", paint.warning("skip  "))
    });
    lines.collect()
}

/// Renders a duration for the end of a line.
pub(crate) fn render_time(ms: f64) -> String {
    let time = Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default();
    match time.as_secs() {
        0 => format!("{}ms", time.as_millis()),
        seconds @ 1..60 => format!("{seconds}.{}s", time.subsec_millis() / 100),
        seconds => format!("{}m {:02}s", seconds / 60, seconds % 60),
    }
}

/// Renders the time of a slow test or suite, or nothing.
fn render_slow_time(ms: f64, paint: Paint) -> String {
    match ms >= SLOW.as_secs_f64() * 1e3 {
        true => paint.dim(&format!(" (took {})", render_time(ms))),
        false => String::new(),
    }
}

fn render_tries(test: &Test) -> String {
    format!("passed at try {}", test.failed_tries.len() + 1)
}

fn render_note(note: &Note, paint: Paint) -> String {
    let SourceLocation { file, line: row, column } = &note.place;
    paint.dim(&format!("note: {file}:{row}:{column}: {}", line::clean(&note.message)))
}

fn reason(test: &Test) -> String {
    line::clean(test.reason.as_deref().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::render_time;

    #[test]
    fn times_have_a_fitting_unit() {
        let rendered = [0.4, 12.5, 999.9, 1_000.0, 59_960.0, 61_000.0, f64::NAN].map(render_time);
        assert_eq!(rendered, ["0ms", "12ms", "999ms", "1.0s", "59.9s", "1m 01s", "0ms"]);
    }
}
