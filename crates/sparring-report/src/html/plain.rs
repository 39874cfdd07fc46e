//! What a browser without scripts shows: the summary, and what failed.

use crate::{Failure, Run, Test};

use super::escape;

/// How many failed tests are told, and how much of each text: this is not
/// where a run with thousands of them is read.
const MOST_TESTS: usize = 200;
const MOST_LETTERS: usize = 600;

/// The run in a line, as `3 failed of 20 · Sparring`.
pub(super) fn verdict(run: &Run) -> String {
    let all = run.tests.len();
    match run.summary.failed {
        0 if run.stopped => format!("stopped · {} of {all} passed · Sparring", run.summary.passed),
        0 => format!("{} passed · Sparring", run.summary.passed),
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
        escape::text(&cut(&test.title()), page);
        page.push_str("</strong><pre>");
        for failure in *failures {
            let Failure { place, message, .. } = failure;
            let place = format!("{}:{}:{}", cut(&place.file), place.line, place.column);
            escape::text(&format!("{place}\n{}\n", cut(message)), page);
        }
        page.push_str("</pre></li>\n");
    }
    page.push_str("</ol>\n");
    if let Some(more @ 1..) = failed.len().checked_sub(MOST_TESTS) {
        page.push_str(&format!("<p>and {more} more</p>\n"));
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_LETTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
