//! Expectations of the requests that a mock received.

use serde_json::Value;
use sparring_script::Scope;
use sparring_script::matcher::MatchSummary;

use super::items::undecided;
use super::value::{check_value, invalid_matcher, short};
use crate::event::Failure;
use crate::model::{Journal, JournalExpectation, MatcherTemplate};
use crate::step_result::JournalEntry;

/// The maximum number of reasons of the nearest mismatch in a message.
const MAX_REASONS: usize = 3;

/// A reason, and the diff if both sides are long.
type Reason = (String, Option<String>);

pub(super) fn check(
    journal: Journal,
    name: &str,
    expected: &JournalExpectation,
    entries: &[JournalEntry],
    scope: &dyn Scope,
) -> Option<Failure> {
    let values = || entries.iter().map(|it| &it.value);
    let matching = match count_matches(expected.matcher.as_ref(), values(), scope) {
        Ok(matching) => matching,
        Err(failure) => return Some(*failure),
    };
    let (one, what) = match journal {
        Journal::Received => ("request to", "requests to"),
        Journal::Called => ("call of", "calls of"),
    };
    let total = entries.len();
    let mut failure = match &expected.count {
        Some(count) => {
            let that_match = if expected.matcher.is_some() { " that match" } else { "" };
            let counted = format!("the count of {what} `{name}`{that_match}");
            check_value(&counted, count, Some(&Value::from(matching)), scope).into_iter().next()?
        }
        None if matching > 0 => return None,
        None if total == 0 => Failure::new(expected.span, format!("found no {what} `{name}`")),
        None if total == 1 => {
            Failure::new(expected.span, format!("the only {one} `{name}` does not match"))
        }
        None => Failure::new(expected.span, format!("none of the {total} {what} `{name}` matches")),
    };
    if let Some((nearest, reasons)) = nearest(expected, entries, scope) {
        let shown: Vec<&str> = reasons.iter().take(MAX_REASONS).map(|(text, _)| &**text).collect();
        let nearest = entry_line(journal, nearest);
        failure.message += &format!("; the nearest is {nearest}: {}", shown.join("; "));
        failure.diff = reasons.into_iter().find_map(|(_, diff)| diff);
    }
    Some(failure)
}

/// Counts the values that match.
fn count_matches<'a>(
    matcher: Option<&MatcherTemplate>,
    values: impl Iterator<Item = &'a Value>,
    scope: &dyn Scope,
) -> Result<usize, Box<Failure>> {
    let Some(matcher) = matcher else { return Ok(values.count()) };
    let mut matching = 0;
    for value in values {
        let mismatches =
            matcher.check(Some(value), scope).map_err(|it| Box::new(invalid_matcher(it)))?;
        if let Some(undecided) = undecided(&mismatches) {
            return Err(Box::new(undecided));
        }
        matching += usize::from(mismatches.is_empty());
    }
    Ok(matching)
}

/// The entry that comes nearest to matching, without its secrets, and the reasons why it
/// does not match.
fn nearest<'a>(
    expected: &JournalExpectation,
    entries: &'a [JournalEntry],
    scope: &dyn Scope,
) -> Option<(&'a Value, Vec<Reason>)> {
    let matcher = expected.matcher.as_ref()?;
    let reasons = |value: &Value| -> Vec<Reason> {
        let mismatches = matcher.check(Some(value), scope).unwrap_or_default();
        mismatches.into_iter().map(|it| (it.mismatch.to_string(), it.mismatch.diff)).collect()
    };
    let others = entries.iter().filter(|it| !reasons(&it.value).is_empty());
    let shown = others.map(|it| it.masked.as_ref().unwrap_or(&it.value));
    MatchSummary::from_values(shown, |value| {
        let reasons = reasons(value);
        // The masked value may match.
        if reasons.is_empty() { vec![("a header differs".to_owned(), None)] } else { reasons }
    })
    .nearest
}

/// An entry in one line.
fn entry_line(journal: Journal, value: &Value) -> String {
    match journal {
        Journal::Called => {
            format!("{} {}", value["tool"].as_str().unwrap_or("?"), short(&value["args"]))
        }
        Journal::Received => {
            let text = |key: &str| value[key].as_str().unwrap_or_default();
            let subject = if value.get("path").is_some() { text("path") } else { text("name") };
            format!("{} {subject}", text("method")).trim_end().to_owned()
        }
    }
}
