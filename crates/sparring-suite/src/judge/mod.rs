//! Holds what came of a step against what was expected of it. Nothing here
//! waits or asks.

mod defaults;
mod items;
mod journals;
mod ran;
mod value;

pub(crate) use defaults::breach;

use sparring_script::Scope;

use crate::event::Failure;
use crate::model::{Aspect, Collection, Facet, Items, Pattern, Step};
use crate::run::Heard;

/// All that does not hold.
pub(crate) fn judge(step: &Step, heard: &Heard, scope: &dyn Scope) -> Vec<Failure> {
    let mut failures = defaults::check(step, heard, scope);
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
            Facet::Status(pattern) | Facet::Headers(pattern) => {
                failures.extend(value::of_response(facet, pattern, *span, heard, scope));
            }
            Facet::Journal { journal, name, coming, .. } => {
                let came = heard.came_to(name);
                let check = |it| journals::check(*journal, name, it, came, scope);
                failures.extend(coming.iter().filter_map(check));
            }
            Facet::Exit(_) | Facet::Stdout(_) | Facet::Files(_) => {
                failures.extend(ran.into_iter().flat_map(|ran| ran::check(facet, ran, scope)));
            }
            Facet::Within(within) if heard.took > *within => {
                let took = heard.took;
                let message = format!("expected an answer within {within:?}, it took {took:.1?}");
                failures.push(Failure::new(*span, message));
            }
            // Held against what was kept once all else holds.
            Facet::Within(_) | Facet::Snapshot(_) => {}
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
        Facet::Status(pattern) | Facet::Headers(pattern) => {
            let found = value::of_response(facet, pattern, pattern.span(), heard, scope);
            !heard.over_http || found.is_empty()
        }
        Facet::Journal { journal, name, coming, .. } => {
            let came = heard.came_to(name);
            coming.iter().all(|it| journals::check(*journal, name, it, came, scope).is_none())
        }
        Facet::Value(..)
        | Facet::Exit(_)
        | Facet::Stdout(_)
        | Facet::Files(_)
        | Facet::Within(_)
        | Facet::Snapshot(_) => true,
    }
}

/// Whether it would not hold any more if more came.
pub(crate) fn may_not_come(facet: &Facet, scope: &dyn Scope) -> bool {
    let many = serde_json::Value::from(u32::MAX);
    let bounded = |count: &Option<Pattern>| {
        let fits = |it: &Pattern| it.check(Some(&many), scope).is_ok_and(|it| it.is_empty());
        count.as_ref().is_some_and(|it| !fits(it))
    };
    match facet {
        Facet::Stderr(_) => true,
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
        Collection::Frames => &heard.frames,
    }
}
