//! What a coding agent needs to mend what failed, and nothing else: it pays for
//! every word, and has no use for what passed.
//!
//! Tests that failed of the same are told once. Whatever comes from a target is
//! indented below a word of ours, so that it cannot pass for one.

use crate::alike::{self, Alike};
use crate::bounded::Bounded;
use crate::{Failure, Outcome, Run, Test, counts, cut, duration, spoken, story, variants};

/// The most bytes of all; how far failures may be told whole, and how far in a
/// line each.
const MOST: usize = 16 * 1024;
const WHOLE: usize = 12 * 1024;
const SHORT: usize = 2 * 1024;
const FLAKY: usize = 1024;
/// The most bytes of one failure, and about the least.
const ONE: usize = 6 * 1024;
const LEAST: usize = 200;
/// How much is told of one failure: of a message and a response, of what is less
/// telling, of a name, and how many lines.
const LONGEST: usize = 800;
const SHORTER: usize = 400;
const NAME: usize = 200;
const LINES: usize = 24;
const LINE: usize = 120;
const OUTPUT: usize = 10;
/// How many things of one kind are told side by side.
const TOGETHER: usize = 4;

/// The failures of a run, for a coding agent. It has at most 16 KiB: the first
/// failures whole, the others in a line each, the rest counted.
pub fn agent(run: &Run) -> String {
    let mut text = Bounded::new(MOST);
    text.add(&headline(run), MOST);
    let failed = alike::failed(run);
    let left = text.add_fitting(&failed, WHOLE, LEAST, |alike| whole(run, alike));
    if !left.is_empty() {
        text.add("\n", MOST);
    }
    text.add_all(left.into_iter().map(brief), SHORT, |left| {
        let more = counts::of(left, "failure");
        format!("and {more} more: run one suite at a time, or --report json=FILE for all\n")
    });
    let flaky: Vec<String> = run.tests.iter().filter(|test| test.is_flaky()).map(flaky).collect();
    if !flaky.is_empty() {
        text.add("\n", MOST);
    }
    let more = |left| format!("and {} more\n", counts::of(left, "flaky test"));
    text.add_all(flaky.into_iter(), FLAKY, more);
    text.into_text()
}

fn headline(run: &Run) -> String {
    let stopped = if run.stopped { "; the run was ended early" } else { "" };
    let shard = run.shard.as_deref().map(|shard| format!("; shard {}", cut::line(shard, NAME)));
    let (counts, time) = (run.summary, duration::shown(run.took_ms));
    format!("{counts} in {time}{}{stopped}\n", shard.unwrap_or_default())
}

/// All that helps: what did not hold, what was asked and answered, what the
/// target wrote, and the command that runs it again.
fn whole(run: &Run, alike: &Alike<'_>) -> String {
    let test = alike.first;
    let again = format!("  again: {}\n", cut::line(&test.again, LONGEST));
    let most = ONE - again.len();
    let mut text = Bounded::new(ONE);
    text.add(&format!("\nFAIL {}\n{}", name(test), also(run, alike)), most);
    text.add(&tries(test), most);
    let last = test.failure();
    let failures = last.map(|last| last.failures.as_slice()).unwrap_or_default();
    let told = story::with_source(failures).take(TOGETHER);
    let told = told.map(|(it, source)| failure(it, source));
    let told = told.take_while(|it| text.add(it, most - SHORTER)).count();
    if told < failures.len() {
        text.add(&format!("  and {} more did not hold\n", failures.len() - told), most);
    }
    let outputs = last.map(|last| [("stderr", &last.stderr), ("stdout", &last.stdout)]);
    let outputs = outputs.into_iter().flatten().map(|(name, output)| {
        (name, block(&format!("end of {name}"), &cut::last_lines(output, OUTPUT, LINE)))
    });
    for (name, part) in std::iter::once(("the last request", exchange(test))).chain(outputs) {
        if !text.add(&part, most - SHORTER / 2) {
            text.add(&format!("  ({name} is left out here)\n"), most);
        }
    }
    text.add(&again, ONE);
    text.into_text()
}

fn failure(failure: &Failure, source: &str) -> String {
    let Failure { place, message, diff, .. } = failure;
    let source = cut::line(source.trim(), SHORTER);
    let source = if source.is_empty() { source } else { format!(" | {source}") };
    let mut text = format!("  at {}{source}\n", story::at(place));
    text.push_str(&format!("    {}\n", cut::line(message, LONGEST)));
    let diff = diff.as_deref().unwrap_or_default();
    text.push_str(&block("diff (- expected, + found)", &cut::first_lines(diff, LINES, LINE)));
    text
}

/// Whether it failed of something else before.
fn tries(test: &Test) -> String {
    match test.failed_tries.as_slice() {
        [] | [_] => String::new(),
        [earlier @ .., last] if earlier.iter().all(|it| it.failures == last.failures) => {
            format!("  tries: {}, all alike\n", earlier.len() + 1)
        }
        [earlier @ .., last] => {
            let others = earlier.iter().filter(|it| it.failures != last.failures);
            let others = others.map(|it| story::headline(it, NAME)).next().unwrap_or_default();
            format!("  tries: {}, not alike; before: {others}\n", earlier.len() + 1)
        }
    }
}

/// Where else it fails of the same, and where it does not fail.
fn also(run: &Run, alike: &Alike<'_>) -> String {
    let test = alike.first;
    let is_same = |other: &&&Test| variants::identity(other) == variants::identity(test);
    let (same, others): (Vec<&Test>, Vec<&Test>) =
        alike.others.iter().copied().partition(|other| is_same(&other));
    let passed = run.tests.iter().filter(|other| other.outcome == Outcome::Passed);
    let passed: Vec<&Test> = passed.filter(|other| is_same(&other)).collect();
    let variants = |tests: &[&Test]| listed(tests.iter().map(|test| variants::variant(test)));
    let mut text = String::new();
    if !same.is_empty() {
        text.push_str(&format!("  fails alike in: {}\n", variants(&same)));
    }
    if !passed.is_empty() {
        text.push_str(&format!("  passes in: {}\n", variants(&passed)));
    }
    if !others.is_empty() {
        let count = counts::of(others.len(), "other test");
        let names = listed(others.iter().map(|test| format!("\"{}\"", test.title())));
        text.push_str(&format!("  fails {count} too: {names}\n"));
    }
    text
}

fn listed(texts: impl ExactSizeIterator<Item = String>) -> String {
    let left = texts.len().saturating_sub(TOGETHER);
    let shown: Vec<String> = texts.take(TOGETHER).map(|text| cut::line(&text, LINE)).collect();
    match left {
        0 => shown.join(", "),
        _ => format!("{} and {left} more", shown.join(", ")),
    }
}

/// The last request and its response, and what breaks the protocol in them.
fn exchange(test: &Test) -> String {
    let Some(it) = spoken::last_exchange(test) else { return String::new() };
    let response = it.response.map(|frame| spoken::brief(frame, LONGEST));
    let response = response.unwrap_or_else(|| "none".to_owned());
    let mut text = format!("  request: {}\n", spoken::brief(it.request, SHORTER));
    text.push_str(&format!("  response: {response}\n"));
    let wrong = it.response.map(|frame| spoken::wrong(frame, SHORTER)).unwrap_or_default();
    text.extend(wrong.iter().take(TOGETHER).map(|wrong| format!("  violation: {wrong}\n")));
    text
}

fn block(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    format!("  {title}:\n{lines}")
}

fn brief(alike: &Alike<'_>) -> String {
    let Alike { first, others } = alike;
    let why = first.failure().map(|last| story::headline(last, NAME)).unwrap_or_default();
    let more = match others.len() {
        0 => String::new(),
        count => format!(" (and {} alike)", counts::of(count, "test")),
    };
    format!("FAIL {}: {why}{more}\n", name(first))
}

fn flaky(test: &Test) -> String {
    let tries = test.failed_tries.len() + 1;
    let why = test.failed_tries.last().map(|last| story::headline(last, NAME));
    format!("FLAKY {}: passed at try {tries}, before: {}\n", name(test), why.unwrap_or_default())
}

/// A test with its place, and the server that it is about.
fn name(test: &Test) -> String {
    let server =
        test.server.as_deref().map(|server| format!(" (server {})", cut::line(server, NAME)));
    let (place, title) = (story::at(&test.place), cut::line(&test.title(), NAME));
    format!("{place} \"{title}\"{}", server.unwrap_or_default())
}
