//! Pages of lists: they come, they end, and their cursors are stable.

use std::collections::{HashMap, HashSet};

use serde_json::json;
use sparring_peer::client::ListKind;
use sparring_wire::{Rule, code};

use super::lists::{LISTS, ListEnd, ListLook, kind_name};
use super::refusals::Refusal;
use super::{Probe, probe};
use crate::context::{Context, ProbeResult};
use crate::verdict::Finding;

/// The cursor of no server.
const INVALID_CURSOR: &str = "sparring-invalid-cursor";

/// The number of cursors of one list that are used again.
const MAX_CURSORS: usize = 3;

const RULES: [Rule; 5] = [
    Rule::ListFails,
    Rule::EndlessList,
    Rule::RepeatedItem,
    Rule::UnstableCursor,
    Rule::InvalidCursor,
];

pub(super) const PROBES: &[Probe] =
    &[probe!([ListFails, EndlessList, RepeatedItem, UnstableCursor, InvalidCursor], check_lists)];

async fn check_lists(context: &Context) -> ProbeResult {
    let declared = LISTS.into_iter().filter(|it| context.facts().declares(it.capability()));
    let declared: Vec<ListKind> = declared.collect();
    if declared.is_empty() {
        let reason = "the server declares no tools, resources or prompts";
        RULES.iter().for_each(|rule| context.not_applicable(*rule, reason));
        return Ok(());
    }
    let mut answered = Vec::new();
    for kind in declared {
        let look = ListLook::new(context.main(), kind).await;
        check_end(context, &look);
        // Templates are optional, also for a server with resources.
        if look.has_result() {
            check_repeated_items(context, &look);
            check_cursors(context, &look).await;
            answered.push(kind);
        }
    }
    check_invalid_cursors(context, &answered).await;
    context.not_applicable(Rule::UnstableCursor, "no list has more than one page");
    let no_list = "the server answers no list";
    context.not_applicable(Rule::RepeatedItem, no_list);
    context.not_applicable(Rule::InvalidCursor, no_list);
    Ok(())
}

/// Checks that the server answers the list, and that the list ends.
fn check_end(context: &Context, look: &ListLook) {
    let Some(last) = look.pages.last() else { return };
    let list = kind_name(look.kind);
    match &look.end {
        ListEnd::Complete | ListEnd::Stopped => {
            context.pass(Rule::ListFails);
            context.pass(Rule::EndlessList);
        }
        ListEnd::Failed => {
            let is_template = look.kind == ListKind::ResourceTemplates;
            match last.reply.error_code() {
                Some(code::METHOD_NOT_FOUND) if is_template && last.cursor.is_none() => {}
                Some(_) => {
                    let which = match last.cursor {
                        Some(_) => format!("the next page of the list of {list}"),
                        None => format!("the list of {list}"),
                    };
                    let finding = last.reply.finding(format!("expected {which}"));
                    context.fail(Rule::ListFails, finding.about(look.kind.method()));
                }
                None if last.reply.result().is_some() => {
                    context.pass(Rule::ListFails);
                }
                None => context.undecided(Rule::ListFails, last.reply.describe()),
            }
            context.not_applicable(Rule::EndlessList, "the server answers no list to its end");
        }
        ListEnd::RepeatedCursor(cursor) => {
            context.pass(Rule::ListFails);
            let message = format!(
                "expected a list of {list} that ends; the server sent the cursor {cursor:?} again"
            );
            fail_endless(context, look, message);
        }
        ListEnd::NothingNew => {
            context.pass(Rule::ListFails);
            let message = format!(
                "expected a list of {list} that ends; the last of {} pages had nothing new",
                look.pages.len()
            );
            fail_endless(context, look, message);
        }
    }
}

fn fail_endless(context: &Context, look: &ListLook, message: String) {
    let shown = look.pages.iter().rev().take(2).rev();
    let frames: Vec<_> = shown.flat_map(|page| page.reply.frames().to_vec()).collect();
    let finding = Finding::new(message).with_frames(&frames);
    context.fail(Rule::EndlessList, finding.about(look.kind.method()));
}

/// Checks that no page has an item of an earlier page.
fn check_repeated_items(context: &Context, look: &ListLook) {
    context.pass(Rule::RepeatedItem);
    if !matches!(look.end, ListEnd::Complete | ListEnd::Failed) {
        return;
    }
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (index, page) in look.pages.iter().enumerate() {
        for key in &page.keys {
            if *seen.entry(key).or_insert(index) != index {
                let list = kind_name(look.kind);
                let expected = format!("expected each of the {list} on one page");
                let message = format!("{expected}; the server repeats {key:?} on a later page");
                let finding = Finding::new(message).with_frames(page.reply.frames());
                context.fail(Rule::RepeatedItem, finding.about(key));
                return;
            }
        }
    }
}

/// Uses the first cursors again.
async fn check_cursors(context: &Context, look: &ListLook) {
    if look.end != ListEnd::Complete {
        return;
    }
    let with_cursor = look.pages.iter().filter_map(|page| Some((page.cursor.as_ref()?, page)));
    for (cursor, page) in with_cursor.take(MAX_CURSORS) {
        let method = look.kind.method();
        let reply = context.request(method, Some(json!({"cursor": cursor}))).await;
        let found = ListLook::keys_of(look.kind, &reply);
        let list = kind_name(look.kind);
        let expected = format!("expected the same page of the list of {list} for the same cursor");
        match (found, reply.error_code()) {
            (Some(keys), _) if keys == page.keys => context.pass(Rule::UnstableCursor),
            (Some(_), _) => {
                let message = format!("{expected}; the second page differs from the first");
                let frames = page.reply.frames().iter().chain(reply.frames());
                let finding = Finding::new(message).with_frames(frames);
                context.fail(Rule::UnstableCursor, finding.about(method));
            }
            (None, Some(_)) => {
                context.fail(Rule::UnstableCursor, reply.finding(expected).about(method));
            }
            (None, None) => context.undecided(Rule::UnstableCursor, reply.describe()),
        }
    }
}

/// Sends a cursor of no server to these lists. Those with the same answer make one finding.
async fn check_invalid_cursors(context: &Context, lists: &[ListKind]) {
    let mut wrong: Vec<(String, Vec<&str>, Finding)> = Vec::new();
    for kind in lists {
        let params = json!({"cursor": INVALID_CURSOR});
        let reply = context.request(kind.method(), Some(params)).await;
        match (reply.error_code(), Refusal::of(&reply)) {
            (Some(code::INVALID_PARAMS), _) => context.pass(Rule::InvalidCursor),
            (None, Refusal::Unknown) => context.undecided(Rule::InvalidCursor, reply.describe()),
            _ => {
                let found = wrong.iter_mut().find(|(answer, ..)| *answer == reply.describe());
                match found {
                    Some((_, methods, _)) => methods.push(kind.method()),
                    None => wrong.push((
                        reply.describe(),
                        vec![kind.method()],
                        reply.finding("expected the error -32602 for an invalid cursor"),
                    )),
                }
            }
        }
    }
    for (_, methods, finding) in wrong {
        context.fail(Rule::InvalidCursor, finding.about(methods.join(", ")));
    }
}

/// Returns true if these keys have nothing that is not known yet, and remembers them.
pub(super) fn has_nothing_new(seen: &mut HashSet<String>, keys: &[String]) -> bool {
    let mut is_known = true;
    for key in keys {
        is_known &= !seen.insert(key.clone());
    }
    is_known
}
