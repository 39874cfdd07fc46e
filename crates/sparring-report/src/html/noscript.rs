//! Renders the content for browsers without scripts: the summary and the failures.

use crate::{Failure, Run, Test, sanitize, truncate};

/// The maximum number of failed tests, and of lines for each failure.
const MAX_TESTS: usize = 200;
const MAX_LINES: usize = 20;
/// The maximum length of a line, in bytes.
const MAX_LINE_BYTES: usize = 600;

/// Renders the title of the page: `3 of 20 failed · Sparring`.
pub(super) fn render_title(run: &Run) -> String {
    let all = run.tests.len();
    match run.summary.failed {
        0 if run.stopped => format!("stopped early, 0 of {all} failed · Sparring"),
        failed => format!("{failed} of {all} failed · Sparring"),
    }
}

/// Writes the summary and the failed tests.
pub(super) fn write(run: &Run, page: &mut String) {
    page.push_str(&format!("<p>{}. Enable scripts to see the whole report.</p>\n", run.summary));
    let failed: Vec<(&Test, &[Failure])> = run
        .tests
        .iter()
        .filter_map(|test| Some((test, test.failure()?.failures.as_slice())))
        .collect();
    page.push_str("<ol>\n");
    for (test, failures) in failed.iter().take(MAX_TESTS) {
        page.push_str("<li><strong>");
        write_escaped(&truncate::one_line(&test.title(), MAX_LINE_BYTES), page);
        page.push_str("</strong><pre>");
        for Failure { place, message, .. } in *failures {
            let file = truncate::one_line(&place.file, MAX_LINE_BYTES);
            let place = place.has_file().then(|| format!("{file}:{}:{}", place.line, place.column));
            let mut lines: Vec<String> = place.into_iter().collect();
            lines.extend(truncate::first_lines(message, MAX_LINES, MAX_LINE_BYTES));
            write_escaped(&lines.join("\n"), page);
            page.push('\n');
        }
        page.push_str("</pre></li>\n");
    }
    page.push_str("</ol>\n");
    if let Some(more @ 1..) = failed.len().checked_sub(MAX_TESTS) {
        page.push_str(&format!("<p>and {more} more</p>\n"));
    }
}

/// Writes a text as the content of an element, with invisible characters escaped.
pub(super) fn write_escaped(text: &str, out: &mut String) {
    let text = sanitize::escape_invisible(text).replace('&', "&amp;");
    out.push_str(&text.replace('<', "&lt;").replace('>', "&gt;"));
}

#[cfg(test)]
mod tests {
    use super::write_escaped;

    fn check(text: &str, expected: &str) {
        let mut out = String::new();
        write_escaped(text, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn a_text_contains_no_markup() {
        check("<img onerror='x'> &amp;", "&lt;img onerror='x'&gt; &amp;amp;");
        check("a\nb\u{0}\u{202e}gnp.exe", "a\nb\\u0000\\u202egnp.exe");
    }
}
