//! The story of a test that failed: what did not hold and where it stands, what
//! was said, and how to run it again.

use sparring_script::Problems;
use sparring_suite::{Failure, Planned, Spoken, Story};

use super::again;
use crate::output::{Paint, line};

/// How much of one line is shown.
const LONGEST: usize = 1_000;

pub(super) fn told(planned: Planned<'_>, story: &Story, paint: Paint) -> String {
    let Planned { suite, test, variant, .. } = planned;
    let (failed, name) = (paint.bad("FAIL"), line::clean(&test.name));
    let mut text = format!("\n{failed} {}: {name}{variant}\n", suite.name());
    let failures = story.failures.iter().map(|failure| shown(planned, failure, paint));
    text.push_str(&failures.collect::<Vec<_>>().join("\n"));
    text.push_str(&conversation(&story.spoken, story.unheard, paint));
    text.push_str(&block("stdout", &story.stdout, paint));
    text.push_str(&block("stderr", &story.stderr, paint));
    text.push_str(&block("again", &again::command(planned), paint));
    text
}

/// What did not hold, with its line in the suite and a caret.
fn shown(planned: Planned<'_>, failure: &Failure, paint: Paint) -> String {
    let (source, span) = planned.suite.place(failure.span);
    let mut problems = Problems::new(source);
    problems.add(span, line::cut(&line::clean(&failure.message), LONGEST));
    let diff = failure.diff.as_deref().map(|diff| difference(diff, paint)).unwrap_or_default();
    format!("{}\n{diff}", problems.shown(paint.is_on()))
}

fn difference(diff: &str, paint: Paint) -> String {
    let painted = |text: &str| match text.as_bytes().first() {
        Some(b'-') => paint.good(text),
        Some(b'+') => paint.bad(text),
        _ => text.to_owned(),
    };
    let lines = diff.lines().map(|text| format!("  {}\n", painted(&one_line(text))));
    let head = paint.aside("difference (- expected, + found):");
    std::iter::once(format!("{head}\n")).chain(lines).collect()
}

fn conversation(spoken: &[Spoken], unheard: usize, paint: Paint) -> String {
    if spoken.is_empty() {
        return String::new();
    }
    let said = |it: &Spoken| {
        let who = if it.by_server { "<-" } else { "->" };
        format!("{who} {}\n", one_line(&it.text))
    };
    let mut lines: Vec<String> = spoken.iter().map(said).collect();
    if unheard > 0 {
        lines.insert(spoken.len() / 2, format!("   ({unheard} more)\n"));
    }
    block("what was said", &lines.concat(), paint)
}

fn block(name: &str, text: &str, paint: Paint) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let lines = text.lines().map(|text| format!("  {}\n", one_line(text).trim_end()));
    std::iter::once(format!("{}\n", paint.aside(&format!("{name}:")))).chain(lines).collect()
}

fn one_line(text: &str) -> String {
    line::cut(&line::clean(text), LONGEST)
}
