//! Expectations of things of which there are many.

use serde_json::Value;
use sparring_script::Scope;

use super::value::{held, short, unreadable};
use crate::event::Failure;
use crate::model::{Collection, Items, Pattern, Unfit};

/// How many reasons of the nearest miss are told.
const REASONS: usize = 3;

pub(super) fn check(
    collection: Collection,
    items: &Items,
    found: &[Value],
    scope: &dyn Scope,
) -> Vec<Failure> {
    let mut failures = lacking(collection, items, found, scope);
    failures.extend(
        items.lacks.iter().filter_map(|pattern| surplus(collection, pattern, found, scope)),
    );
    failures.extend(count(collection, items, found, scope));
    failures
}

/// What should be there and is not.
pub(super) fn lacking(
    collection: Collection,
    items: &Items,
    found: &[Value],
    scope: &dyn Scope,
) -> Vec<Failure> {
    let missing = |pattern: &Pattern| {
        let mut nearest: Option<(&Value, Vec<String>)> = None;
        for item in found {
            let unfit = match pattern.check(Some(item), scope) {
                Ok(unfit) if unfit.is_empty() => return None,
                Ok(unfit) => unfit,
                Err(problem) => return Some(unreadable(problem)),
            };
            if nearest.as_ref().is_none_or(|(_, reasons)| unfit.len() < reasons.len()) {
                let reasons = unfit.iter().map(|it| it.mismatch.to_string()).collect();
                nearest = Some((item, reasons));
            }
        }
        Some(Failure::new(pattern.span(), miss(collection, nearest)))
    };
    items.has.iter().filter_map(missing).collect()
}

/// How many there are, where that is not how many there should be.
pub(super) fn count(
    collection: Collection,
    items: &Items,
    found: &[Value],
    scope: &dyn Scope,
) -> Vec<Failure> {
    let Some(pattern) = &items.count else { return Vec::new() };
    let name = format!("the count of {}", what(collection));
    held(&name, pattern, Some(&Value::from(found.len())), scope)
}

/// Something that is there and should not be.
fn surplus(
    collection: Collection,
    pattern: &Pattern,
    found: &[Value],
    scope: &dyn Scope,
) -> Option<Failure> {
    found.iter().find_map(|item| match pattern.check(Some(item), scope) {
        Ok(unfit) if unfit.is_empty() => {
            let message = format!("one of the {} fits this: {}", what(collection), short(item));
            Some(Failure::new(pattern.span(), message))
        }
        Ok(unfit) => doubt(&unfit),
        Err(problem) => Some(unreadable(problem)),
    })
}

/// What is told of a value where it cannot be found out whether it fits: where it
/// must not, that it does not is not known either.
pub(super) fn doubt(unfit: &[Unfit]) -> Option<Failure> {
    let only = unfit.iter().all(|it| it.mismatch.unsure);
    let first = unfit.first().filter(|_| only)?;
    Some(Failure::new(first.span, first.mismatch.to_string()))
}

fn miss(collection: Collection, nearest: Option<(&Value, Vec<String>)>) -> String {
    let what = what(collection);
    match nearest {
        None => format!("there are no {what}"),
        Some((item, reasons)) => {
            let told = &reasons[..reasons.len().min(REASONS)];
            format!("none of the {what} fits; the nearest is {}: {}", short(item), told.join("; "))
        }
    }
}

fn what(collection: Collection) -> &'static str {
    match collection {
        Collection::List => "items",
        collection => collection.key(),
    }
}
