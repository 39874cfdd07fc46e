//! Checks the result of a step against its expectations. It neither waits nor sends
//! anything.

mod agent;
mod arguments;
mod defaults;
mod items;
mod journals;
mod transcript;
mod value;

pub(crate) use defaults::violation_failures;

use sparring_script::Scope;

use crate::event::{Failure, Note};
use crate::model::{Aspect, Collection, Expectation, Items, Journal, MatcherTemplate, Step};
use crate::step_result::StepResult;

/// The largest count that [`forbids_more`] tries one by one.
const MAX_TRIED_COUNT: u32 = 100;

/// Returns remarks that are no failures: unknown arguments, answers for which the server did not
/// ask, and warnings unless they fail.
pub(crate) fn notes(
    step: &Step,
    result: &StepResult,
    scope: &dyn Scope,
    strict: bool,
) -> Vec<Note> {
    let mut notes = arguments::notes(step, result);
    let unused = result.unused_answers.iter();
    notes.extend(unused.map(|it| Note { span: step.span, message: it.clone() }));
    if !strict {
        notes.extend(defaults::warnings(step, result, scope));
    }
    notes
}

/// Returns every expectation that does not hold. If `strict` is true, a warning fails too.
pub(crate) fn judge(
    step: &Step,
    result: &StepResult,
    scope: &dyn Scope,
    strict: bool,
) -> Vec<Failure> {
    let misplaced: Vec<Failure> = arguments::misplaced(result).collect();
    if !misplaced.is_empty() {
        return misplaced;
    }
    let mut failures = defaults::check(step, result, scope, strict);
    let agent = result.answer.agent();
    failures.extend(agent.and_then(|agent| agent::check_exit(step, agent)));
    for (span, expectation) in &step.expect.0 {
        match expectation {
            Expectation::Value(aspect, matcher) => {
                // `defaults` reports an unexpected error.
                if result.answer.error().is_none() || *aspect == Aspect::Error {
                    failures.extend(value::check(*aspect, matcher, *span, result, scope));
                }
            }
            Expectation::Items(Collection::List, _) if result.answer.error().is_some() => {}
            Expectation::Items(collection, items) => {
                failures.extend(items::check(
                    *collection,
                    items,
                    items_of(*collection, result),
                    scope,
                ));
            }
            Expectation::Stderr(matcher) => {
                failures.extend(value::check_text("stderr", matcher, &result.stderr, scope));
            }
            Expectation::Status(matcher) | Expectation::Headers(matcher) => {
                failures.extend(value::check_response(expectation, matcher, *span, result, scope));
            }
            Expectation::Journal { journal, name, expected, .. } => {
                let entries = result.journal(*journal, name);
                let check = |it| {
                    let mut failure = journals::check(*journal, name, it, entries, scope)?;
                    if *journal == Journal::Called && entries.is_empty() {
                        failure.message += &transcript::explain_missing_call(&result.transcript);
                    }
                    Some(failure)
                };
                failures.extend(expected.iter().filter_map(check));
            }
            Expectation::Exit(_) | Expectation::Stdout(_) | Expectation::Files(_) => {
                failures
                    .extend(agent.into_iter().flat_map(|it| agent::check(expectation, it, scope)));
            }
            Expectation::Within(within) if result.took > *within => {
                let took = result.took;
                let message =
                    format!("expected an answer within {within:?}, but it took {took:.1?}");
                failures.push(Failure::new(*span, message));
            }
            // The runner checks the snapshot if everything else holds.
            Expectation::Within(_) | Expectation::Snapshot(_) => {}
        }
    }
    failures
}

/// Returns true if an expectation about messages that may arrive late holds already.
pub(crate) fn has_come(expectation: &Expectation, result: &StepResult, scope: &dyn Scope) -> bool {
    match expectation {
        Expectation::Items(collection, items) => {
            let found = items_of(*collection, result);
            items::missing(*collection, items, found, scope).is_empty()
                && items::check_count(*collection, items, found, scope).is_empty()
        }
        Expectation::Stderr(matcher) => {
            value::check_text("stderr", matcher, &result.stderr, scope).is_empty()
        }
        Expectation::Status(matcher) | Expectation::Headers(matcher) => {
            let found = value::check_response(expectation, matcher, matcher.span(), result, scope);
            !result.over_http || found.is_empty()
        }
        Expectation::Journal { journal, name, expected, .. } => {
            let entries = result.journal(*journal, name);
            expected.iter().all(|it| journals::check(*journal, name, it, entries, scope).is_none())
        }
        Expectation::Value(..)
        | Expectation::Exit(_)
        | Expectation::Stdout(_)
        | Expectation::Files(_)
        | Expectation::Within(_)
        | Expectation::Snapshot(_) => true,
    }
}

/// Returns true if an expectation could fail when more messages arrive.
pub(crate) fn forbids_more(expectation: &Expectation, scope: &dyn Scope) -> bool {
    let bounded = |count: &Option<MatcherTemplate>| {
        count.as_ref().is_some_and(|it| forbids_larger(it, scope))
    };
    match expectation {
        Expectation::Stderr(_) => true,
        Expectation::Items(_, Items { lacks, count, .. }) => !lacks.is_empty() || bounded(count),
        Expectation::Journal { expected, .. } => expected.iter().any(|it| bounded(&it.count)),
        _ => false,
    }
}

/// Returns true if a matcher of a count matches some number but not all larger ones.
fn forbids_larger(count: &MatcherTemplate, scope: &dyn Scope) -> bool {
    let fits = |number: u32| {
        let number = serde_json::Value::from(number);
        count.check(Some(&number), scope).is_ok_and(|it| it.is_empty())
    };
    !fits(u32::MAX) || (0..=MAX_TRIED_COUNT).skip_while(|it| !fits(*it)).any(|larger| !fits(larger))
}

/// The items of a collection.
fn items_of(collection: Collection, result: &StepResult) -> &[serde_json::Value] {
    match collection {
        Collection::List => result.answer.list(),
        Collection::Violations => &result.violations,
        Collection::Notifications => &result.notifications,
        Collection::Requests => &result.requests,
        Collection::Frames => &result.frames,
    }
}
