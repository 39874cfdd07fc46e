//! Holds what came of a step against what was expected of it. Nothing here
//! waits or asks.

mod defaults;
mod items;
mod journals;
mod ran;
mod value;

use sparring_script::Scope;

use crate::event::Failure;
use crate::model::{Aspect, Collection, Facet, Items, Pattern, Step};
use crate::run::{Heard, Ran};

/// All that does not hold.
pub(crate) fn judge(step: &Step, heard: &Heard, scope: &dyn Scope) -> Vec<Failure> {
    let mut failures = defaults::check(step, heard);
    let ran = heard.answer.ran();
    failures.extend(ran.and_then(|ran| ran::ended_badly(step, ran)));
    for (span, facet) in &step.expect.0 {
        match facet {
            Facet::Value(aspect, pattern) => {
                // Why there is no result has been told once.
                if heard.answer.error().is_none() || *aspect == Aspect::Error {
                    failures.extend(value::check(*aspect, pattern, *span, heard, scope));
                }
            }
            Facet::Items(Collection::List, _) if heard.answer.error().is_some() => {}
            Facet::Items(collection, items) => {
                failures.extend(items::check(*collection, items, of(*collection, heard), scope));
            }
            Facet::Stderr(pattern) => {
                failures.extend(value::text("stderr", pattern, &heard.stderr, scope));
            }
            Facet::Journal { journal, name, coming, .. } => {
                let came = heard.came_to(name);
                let check = |it| journals::check(*journal, name, it, came, scope);
                failures.extend(coming.iter().filter_map(check));
            }
            Facet::Exit(pattern) => {
                let exit = ran.map(Ran::exit).unwrap_or_default();
                failures.extend(value::held("exit", pattern, Some(&exit), scope));
            }
            Facet::Stdout(pattern) => {
                let stdout = ran.map(|ran| &*ran.stdout).unwrap_or_default();
                failures.extend(value::text("stdout", pattern, stdout, scope));
            }
            Facet::Files(wanted) => {
                let looks = ran.map(|ran| &*ran.files).unwrap_or_default();
                failures.extend(ran::files(wanted, looks, scope));
            }
            Facet::Within(within) if heard.took > *within => {
                let message =
                    format!("expected an answer within {within:?}, it took {:?}", heard.took);
                failures.push(Failure::new(*span, message));
            }
            Facet::Within(_) => {}
        }
    }
    failures
}

/// Whether that has come which is expected to come.
pub(crate) fn has_come(facet: &Facet, heard: &Heard, scope: &dyn Scope) -> bool {
    match facet {
        Facet::Items(collection, items) => {
            let found = of(*collection, heard);
            items::lacking(*collection, items, found, scope).is_empty()
                && items::count(*collection, items, found, scope).is_empty()
        }
        Facet::Stderr(pattern) => value::text("stderr", pattern, &heard.stderr, scope).is_empty(),
        Facet::Journal { journal, name, coming, .. } => {
            let came = heard.came_to(name);
            coming.iter().all(|it| journals::check(*journal, name, it, came, scope).is_none())
        }
        Facet::Value(..)
        | Facet::Exit(_)
        | Facet::Stdout(_)
        | Facet::Files(_)
        | Facet::Within(_) => true,
    }
}

/// Whether something is expected not to come.
pub(crate) fn may_not_come(facet: &Facet, scope: &dyn Scope) -> bool {
    let none = serde_json::Value::from(0);
    let bounded = |count: &Option<Pattern>| {
        let fits = |it: &Pattern| it.check(Some(&none), scope).is_ok_and(|it| it.is_empty());
        count.as_ref().is_some_and(fits)
    };
    match facet {
        Facet::Items(_, Items { lacks, count, .. }) => !lacks.is_empty() || bounded(count),
        Facet::Journal { coming, .. } => coming.iter().any(|it| bounded(&it.count)),
        _ => false,
    }
}

/// The things that came.
fn of(collection: Collection, heard: &Heard) -> &[serde_json::Value] {
    match collection {
        Collection::List => heard.answer.list(),
        Collection::Violations => &heard.violations,
        Collection::Notifications => &heard.notifications,
        Collection::Requests => &heard.requests,
    }
}
