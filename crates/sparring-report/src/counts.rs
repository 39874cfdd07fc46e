//! How many tests came to what, in words.

use crate::Summary;

/// As the last line of a run has it: `5 passed, 1 failed, 0 skipped, 2 flaky`.
pub(crate) fn told(summary: &Summary) -> String {
    let Summary { passed, failed, skipped, not_run, flaky } = summary;
    let mut told = format!("{passed} passed, {failed} failed, {skipped} skipped");
    for (count, what) in [(not_run, "not run"), (flaky, "flaky")] {
        if *count > 0 {
            told.push_str(&format!(", {count} {what}"));
        }
    }
    told
}

/// A number of things.
pub(crate) fn of(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
