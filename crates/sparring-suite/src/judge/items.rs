//! Expectations of lists, notifications, requests, frames and violations.

use serde_json::Value;
use sparring_script::Scope;

use super::value::{check_value, invalid_matcher, short};
use crate::event::Failure;
use crate::model::{Collection, Items, MatcherTemplate, ValueMismatch};

/// The maximum number of reasons of the nearest mismatch in a message.
const MAX_REASONS: usize = 3;

pub(super) fn check(
    collection: Collection,
    items: &Items,
    found: &[Value],
    scope: &dyn Scope,
) -> Vec<Failure> {
    let mut failures = missing(collection, items, found, scope);
    failures.extend(
        items.lacks.iter().filter_map(|matcher| forbidden(collection, matcher, found, scope)),
    );
    failures.extend(check_count(collection, items, found, scope));
    failures
}

/// Checks `has`: every matcher must match an item.
pub(super) fn missing(
    collection: Collection,
    items: &Items,
    found: &[Value],
    scope: &dyn Scope,
) -> Vec<Failure> {
    let check = |matcher: &MatcherTemplate| {
        let mut nearest: Option<(&Value, Vec<String>)> = None;
        for item in found {
            let mismatches = match matcher.check(Some(item), scope) {
                Ok(mismatches) if mismatches.is_empty() => return None,
                Ok(mismatches) => mismatches,
                Err(problem) => return Some(invalid_matcher(problem)),
            };
            if nearest.as_ref().is_none_or(|(_, reasons)| mismatches.len() < reasons.len()) {
                let reasons = mismatches.iter().map(|it| it.mismatch.to_string()).collect();
                nearest = Some((item, reasons));
            }
        }
        Some(Failure::new(matcher.span(), nearest_mismatch(collection, nearest)))
    };
    items.has.iter().filter_map(check).collect()
}

/// Checks `count`: the number of items that match `has`, or of all items without `has`.
pub(super) fn check_count(
    collection: Collection,
    items: &Items,
    found: &[Value],
    scope: &dyn Scope,
) -> Vec<Failure> {
    let Some(matcher) = &items.count else { return Vec::new() };
    let that_match = if items.has.is_empty() { "" } else { " that match" };
    let name = format!("the count of {}{that_match}", noun(collection));
    match count_matches(items, found, scope) {
        Ok(matching) => check_value(&name, matcher, Some(&Value::from(matching)), scope),
        Err(failure) => vec![*failure],
    }
}

/// Counts the items that a matcher of `has` matches, or all items without `has`.
fn count_matches(items: &Items, found: &[Value], scope: &dyn Scope) -> Result<usize, Box<Failure>> {
    if items.has.is_empty() {
        return Ok(found.len());
    }
    let mut matching = 0;
    for item in found {
        let mut doubt = None;
        let mut matches = false;
        for matcher in &items.has {
            let mismatches =
                matcher.check(Some(item), scope).map_err(|it| Box::new(invalid_matcher(it)))?;
            matches |= mismatches.is_empty();
            doubt = doubt.or_else(|| undecided(&mismatches));
        }
        match doubt.filter(|_| !matches) {
            Some(doubt) => return Err(Box::new(doubt)),
            None => matching += usize::from(matches),
        }
    }
    Ok(matching)
}

/// Checks one matcher of `lacks`: it must not match any item.
fn forbidden(
    collection: Collection,
    matcher: &MatcherTemplate,
    found: &[Value],
    scope: &dyn Scope,
) -> Option<Failure> {
    found.iter().find_map(|item| match matcher.check(Some(item), scope) {
        Ok(mismatches) if mismatches.is_empty() => {
            let message = format!("one of the {} matches this: {}", noun(collection), short(item));
            Some(Failure::new(matcher.span(), message))
        }
        Ok(mismatches) => undecided(&mismatches),
        Err(problem) => Some(invalid_matcher(problem)),
    })
}

/// A failure if a matcher could not decide about a value. A value that must not match
/// then counts as a failure too.
pub(super) fn undecided(mismatches: &[ValueMismatch]) -> Option<Failure> {
    let all = mismatches.iter().all(|it| it.mismatch.undecided);
    let first = mismatches.first().filter(|_| all)?;
    Some(Failure::new(first.span, first.mismatch.to_string()))
}

fn nearest_mismatch(collection: Collection, nearest: Option<(&Value, Vec<String>)>) -> String {
    let what = noun(collection);
    match nearest {
        None => format!("found no {what}"),
        Some((item, reasons)) => {
            let reasons = reasons[..reasons.len().min(MAX_REASONS)].join("; ");
            format!("none of the {what} matches; the nearest is {}: {reasons}", short(item))
        }
    }
}

fn noun(collection: Collection) -> &'static str {
    match collection {
        Collection::List => "items",
        collection => collection.key(),
    }
}
