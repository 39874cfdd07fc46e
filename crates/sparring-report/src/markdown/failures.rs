//! Renders the failures: the first ones completely in foldable sections, others in one line
//! each, and the number of the rest.

use super::code::{block, code};
use super::{MAX_BYTES, MAX_NAME_BYTES, test_label};
use crate::bounded_text::BoundedText;
use crate::grouping::{FailureGroup, group_failures};
use crate::traffic::Exchange;
use crate::{Failure, Run, Test, failure_text, format, traffic, truncate};

/// The maximum size of one failure in bytes, and the approximate minimum.
const MAX_FAILURE_BYTES: usize = 16_000;
const MIN_FAILURE_BYTES: usize = 300;
/// The maximum bytes of a message, and of a line of a diff or an output, and the maximum
/// number of such lines.
const MAX_MESSAGE_BYTES: usize = 1_000;
const MAX_LINE_BYTES: usize = 200;
const MAX_LINES: usize = 40;
/// The maximum number of failures or tests in one list.
const MAX_LISTED: usize = 5;
/// The maximum bytes for failures in one line each.
const MAX_FAILURE_LINES_BYTES: usize = 4_000;

/// Adds the section of failures, which takes about `share` bytes.
pub(super) fn add(text: &mut BoundedText, run: &Run, share: usize) {
    let failed = group_failures(run);
    if failed.is_empty() {
        return;
    }
    text.add("\n### Failures\n", MAX_BYTES);
    let limit = text.len() + share;
    let left = text.add_fitting(&failed, limit, MIN_FAILURE_BYTES, render_group);
    if left.is_empty() {
        return;
    }
    text.add("\n", MAX_BYTES);
    let rest = |left| format!("\nand {}\n", format::more(left, "failure"));
    text.add_all(left.into_iter().map(render_group_line), MAX_FAILURE_LINES_BYTES, rest);
}

fn render_group(group: &FailureGroup<'_>) -> String {
    let FailureGroup { first, others, .. } = group;
    let rerun =
        titled_block("Rerun", "sh", &[truncate::one_line(&first.rerun_command, MAX_MESSAGE_BYTES)]);
    let end = format!("{rerun}\n</details>\n");
    let max_bytes = MAX_FAILURE_BYTES - end.len();
    let mut text = BoundedText::new(MAX_FAILURE_BYTES);
    let last = first.failure();
    let why = last.map(|last| failure_text::headline(last, MAX_LINE_BYTES)).unwrap_or_default();
    let (label, why) = (test_label(first, &first.title()), code(&why, MAX_LINE_BYTES));
    text.add(&format!("\n<details><summary>{label}: {why}</summary>\n\n"), max_bytes);
    let failures = last.map(|last| last.failures.as_slice()).unwrap_or_default();
    let rendered = failure_text::with_source(failures).take(MAX_LISTED);
    let rendered = rendered.map(|(failure, source)| render_failure(failure, source));
    let added = rendered.take_while(|it| text.add(it, max_bytes - MIN_FAILURE_BYTES)).count();
    if added < failures.len() {
        let rest = format::more(failures.len() - added, "failure");
        text.add(&format!("\nand {rest}\n"), max_bytes);
    }
    if !others.is_empty() {
        text.add(
            &format!("\nSame failure in {}\n", render_titles(others)),
            max_bytes - MIN_FAILURE_BYTES,
        );
    }
    let rule = titled_block("Rule", "", &failure_text::render_rule(first));
    text.add(&rule, max_bytes - MIN_FAILURE_BYTES);
    let output = |output: &str| truncate::last_lines(output, MAX_LINES, MAX_LINE_BYTES);
    for (title, lines) in [
        ("Last exchange", traffic::last_exchange(first).map(|it| render_exchange(&it))),
        ("stderr", last.map(|last| output(&last.stderr))),
        ("stdout", last.map(|last| output(&last.stdout))),
    ] {
        if !text.add(
            &titled_block(title, "", &lines.unwrap_or_default()),
            max_bytes - MIN_FAILURE_BYTES,
        ) {
            text.add(&format!("\n{title}: omitted\n"), max_bytes);
        }
    }
    text.add(&end, MAX_FAILURE_BYTES);
    text.into_text()
}

fn render_failure(failure: &Failure, source: &str) -> String {
    let Failure { place, message, diff, .. } = failure;
    let message = truncate::one_line(message, MAX_MESSAGE_BYTES);
    let at = failure_text::with_location(place, &message);
    let source = truncate::one_line(source, MAX_MESSAGE_BYTES);
    let source = (!source.is_empty()).then(|| format!("{:>4} | {source}", place.line));
    let mut text = block("", &std::iter::once(at).chain(source).collect::<Vec<_>>());
    if let Some(diff) = diff {
        let lines = truncate::first_lines(diff, MAX_LINES, MAX_LINE_BYTES);
        text.push_str(&titled_block("Difference (- expected, + found)", "diff", &lines));
    }
    text
}

/// Renders a request, its response, and the violations of the response in one line each.
fn render_exchange(exchange: &Exchange<'_>) -> Vec<String> {
    let mut lines =
        vec![format!("-> {}", traffic::summarize_frame(exchange.request, MAX_MESSAGE_BYTES))];
    if let Some(response) = exchange.response {
        lines.push(format!("<- {}", traffic::summarize_frame(response, MAX_MESSAGE_BYTES)));
        lines.extend(
            traffic::render_violations(response, MAX_MESSAGE_BYTES)
                .iter()
                .map(|it| format!("   ! {it}")),
        );
    }
    lines
}

/// Renders the titles of the tests with the same failures.
fn render_titles(others: &[&Test]) -> String {
    let titles = others.iter().take(MAX_LISTED).map(|test| code(&test.title(), MAX_NAME_BYTES));
    let titles = titles.collect::<Vec<_>>().join(", ");
    match others.len().saturating_sub(MAX_LISTED) {
        0 => titles,
        left => format!("{titles} and {}", format::more(left, "test")),
    }
}

fn titled_block(title: &str, language: &str, lines: &[String]) -> String {
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n{title}:\n{}", block(language, lines)),
    }
}

fn render_group_line(group: &FailureGroup<'_>) -> String {
    let FailureGroup { first, others, .. } = group;
    let why = first
        .failure()
        .map(|last| failure_text::headline(last, MAX_NAME_BYTES))
        .unwrap_or_default();
    let more = match others.len() {
        0 => String::new(),
        count => format!(" (same failure in {})", format::count(count, "other test")),
    };
    format!("- {}: {}{more}\n", test_label(first, &first.title()), code(&why, MAX_NAME_BYTES))
}
