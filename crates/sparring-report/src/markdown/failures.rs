//! The failures: the first ones whole, to unfold, then a line each, then how many
//! more there are.

use super::code::{block, code};
use super::{MOST, NAME, name};
use crate::alike::{self, Alike};
use crate::bounded::Bounded;
use crate::spoken::Exchange;
use crate::{Failure, Run, Test, counts, cut, spoken, story};

/// The most bytes of one failure, and about the least.
const ONE: usize = 16_000;
const LEAST: usize = 300;
/// How much of a message is shown, how much of a line of a diff or an output, and
/// how many of those.
const LONGEST: usize = 1_000;
const LINE: usize = 200;
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
    let left = text.add_fitting(&failed, limit, LEAST, whole);
    if left.is_empty() {
        return;
    }
    text.add("\n", MOST);
    let rest = |left| format!("\nand {} more\n", counts::of(left, "failure"));
    text.add_all(left.into_iter().map(brief), SHORT, rest);
}

fn whole(alike: &Alike<'_>) -> String {
    let Alike { first, others } = alike;
    let again = titled("Again", "sh", &[cut::line(&first.again, LONGEST)]);
    let end = format!("{again}\n</details>\n");
    let most = ONE - end.len();
    let mut text = Bounded::new(ONE);
    let last = first.failure();
    let why = last.map(|last| story::headline(last, LINE)).unwrap_or_default();
    let (name, why) = (name(first, &first.title()), code(&why, LINE));
    text.add(&format!("\n<details><summary>{name}: {why}</summary>\n\n"), most);
    let failures = last.map(|last| last.failures.as_slice()).unwrap_or_default();
    let told = story::with_source(failures).take(TOGETHER);
    let told = told.map(|(it, source)| failure(it, source));
    let told = told.take_while(|it| text.add(it, most - LEAST)).count();
    if told < failures.len() {
        text.add(&format!("\nand {} more\n", failures.len() - told), most);
    }
    if !others.is_empty() {
        text.add(&format!("\nThe same in {}\n", same(others)), most - LEAST);
    }
    let output = |output: &str| cut::last_lines(output, LINES, LINE);
    for (title, lines) in [
        ("What was said last", spoken::last_exchange(first).map(|it| exchange(&it))),
        ("stderr", last.map(|last| output(&last.stderr))),
        ("stdout", last.map(|last| output(&last.stdout))),
    ] {
        if !text.add(&titled(title, "", &lines.unwrap_or_default()), most - LEAST) {
            text.add(&format!("\n{title}: left out here\n"), most);
        }
    }
    text.add(&end, ONE);
    text.into_text()
}

fn failure(failure: &Failure, source: &str) -> String {
    let Failure { place, message, diff, .. } = failure;
    let at = format!("{}: {}", story::at(place), cut::line(message, LONGEST));
    let source = cut::line(source, LONGEST);
    let source = (!source.is_empty()).then(|| format!("{:>4} | {source}", place.line));
    let mut text = block("", &std::iter::once(at).chain(source).collect::<Vec<_>>());
    if let Some(diff) = diff {
        let lines = cut::first_lines(diff, LINES, LINE);
        text.push_str(&titled("Difference (- expected, + found)", "diff", &lines));
    }
    text
}

/// A request, its response, and what is wrong with that, a line each.
fn exchange(exchange: &Exchange<'_>) -> Vec<String> {
    let mut lines = vec![format!("-> {}", spoken::brief(exchange.request, LONGEST))];
    if let Some(response) = exchange.response {
        lines.push(format!("<- {}", spoken::brief(response, LONGEST)));
        lines.extend(spoken::wrong(response, LONGEST).iter().map(|wrong| format!("   ! {wrong}")));
    }
    lines
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
    let why = first.failure().map(|last| story::headline(last, NAME)).unwrap_or_default();
    let more = match others.len() {
        0 => String::new(),
        count => format!(" (and {} of the same)", counts::of(count, "test")),
    };
    format!("- {}: {}{more}\n", name(first, &first.title()), code(&why, NAME))
}
