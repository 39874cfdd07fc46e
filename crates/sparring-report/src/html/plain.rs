//! What a browser without scripts shows: the summary, and what failed.

use crate::{Failure, Run, Test, cut};

use super::escape;

/// How many failed tests are told, and how much of each: this is not where a
/// run with thousands of them is read.
const MOST_TESTS: usize = 200;
const MOST_LINES: usize = 20;
/// In bytes.
const LONGEST: usize = 600;

/// The run in a line, as `3 failed of 20 · Sparring`.
pub(super) fn verdict(run: &Run) -> String {
    let all = run.tests.len();
    match run.summary.failed {
        0 if run.stopped => format!("ended early, none failed of {all} · Sparring"),
        0 => format!("none failed of {all} · Sparring"),
        failed => format!("{failed} failed of {all} · Sparring"),
    }
}

/// Writes the summary and the tests that failed.
pub(super) fn write(run: &Run, page: &mut String) {
    page.push_str(&format!(
        "<p>{}. The whole report needs scripts, which are switched off here.</p>\n",
        run.summary
    ));
    let failed: Vec<(&Test, &[Failure])> = run
        .tests
        .iter()
        .filter_map(|test| Some((test, test.failure()?.failures.as_slice())))
        .collect();
    page.push_str("<ol>\n");
    for (test, failures) in failed.iter().take(MOST_TESTS) {
        page.push_str("<li><strong>");
        escape::text(&cut::line(&test.title(), LONGEST), page);
        page.push_str("</strong><pre>");
        for Failure { place, message, .. } in *failures {
            let file = cut::line(&place.file, LONGEST);
            let mut lines = vec![format!("{file}:{}:{}", place.line, place.column)];
            lines.extend(cut::first_lines(message, MOST_LINES, LONGEST));
            escape::text(&lines.join("\n"), page);
            page.push('\n');
        }
        page.push_str("</pre></li>\n");
    }
    page.push_str("</ol>\n");
    if let Some(more @ 1..) = failed.len().checked_sub(MOST_TESTS) {
        page.push_str(&format!("<p>and {more} more</p>\n"));
    }
}
