//! The failures: the first ones whole, to unfold, then a line each, then how many
//! more there are.

use super::code::{block, code};
use super::{MOST, NAME};
use crate::alike::{self, Alike};
use crate::bounded::Bounded;
use crate::{Failure, Run, Test, counts, cut, spoken, story};

/// How much of a line is shown, and how many lines of a diff and of an output.
const LONGEST: usize = 1_000;
const LINES: usize = 40;
/// How many things that did not hold are shown of one test.
const TOGETHER: usize = 5;
/// What is kept for failures that are told in a line each.
const SHORT: usize = 4_000;

pub(super) fn add(text: &mut Bounded, run: &Run, share: usize) {
    let failed = alike::failed(run);
    if failed.is_empty() {
        return;
    }
    text.add("\n### Failures\n", MOST);
    let limit = text.len() + share;
    let whole = failed.iter().take_while(|alike| text.add(&whole(alike), limit)).count();
    let short = &failed[whole..];
    if short.is_empty() {
        return;
    }
    text.add("\n", MOST);
    let rest = |left| format!("\nand {} more\n", counts::of(left, "failure"));
    text.add_all(short.iter().map(brief), SHORT, rest);
}

fn whole(alike: &Alike<'_>) -> String {
    let Alike { first, others } = alike;
    let summary = code(&format!("{}: {}", first.suite, cut::line(&first.title(), NAME)), 2 * NAME);
    let mut text = format!("\n<details><summary>{summary}</summary>\n\n");
    let last = first.failure();
    let failures = last.map(|last| last.failures.as_slice()).unwrap_or_default();
    text.extend(failures.iter().take(TOGETHER).map(failure));
    if failures.len() > TOGETHER {
        text.push_str(&format!("\nand {} more\n", failures.len() - TOGETHER));
    }
    if !others.is_empty() {
        text.push_str(&format!("\nThe same in {}\n", same(others)));
    }
    let said = spoken::last_exchange(first).into_iter().flat_map(|it| {
        let frames = std::iter::once(it.request).chain(it.response);
        frames.flat_map(|frame| spoken::lines(frame, LONGEST))
    });
    text.push_str(&titled("What was said last", "", &said.collect::<Vec<_>>()));
    for (title, output) in [
        ("stdout", last.map(|last| last.stdout.as_str())),
        ("stderr", last.map(|last| last.stderr.as_str())),
    ] {
        let lines = cut::last_lines(output.unwrap_or_default(), LINES, LONGEST);
        text.push_str(&titled(title, "", &lines));
    }
    text.push_str(&titled("Again", "sh", &[cut::line(&first.again, LONGEST)]));
    text.push_str("\n</details>\n");
    text
}

fn failure(failure: &Failure) -> String {
    let Failure { place, source, message, diff } = failure;
    let at = format!("{}: {}", story::at(place), cut::line(message, LONGEST));
    let source = cut::line(source, LONGEST);
    let source = (!source.is_empty()).then(|| format!("{:>4} | {source}", place.line));
    let mut text = block("", &std::iter::once(at).chain(source).collect::<Vec<_>>());
    if let Some(diff) = diff {
        text.push_str(&block("diff", &cut::first_lines(diff, LINES, LONGEST)));
    }
    text
}

/// The tests that failed of the same.
fn same(others: &[&Test]) -> String {
    let shown = others.iter().take(TOGETHER).map(|test| code(&test.title(), NAME));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match others.len().saturating_sub(TOGETHER) {
        0 => shown,
        left => format!("{shown} and {} more", counts::of(left, "test")),
    }
}

fn titled(title: &str, language: &str, lines: &[String]) -> String {
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n{title}:\n{}", block(language, lines)),
    }
}

fn brief(alike: &Alike<'_>) -> String {
    let Alike { first, others } = alike;
    let name = code(&format!("{}: {}", first.suite, cut::line(&first.title(), NAME)), 2 * NAME);
    let why = first.failure().map(|last| story::headline(last, NAME)).unwrap_or_default();
    let more = match others.len() {
        0 => String::new(),
        count => format!(" (and {} of the same)", counts::of(count, "test")),
    };
    format!("- {name}: {}{more}\n", code(&why, NAME))
}
