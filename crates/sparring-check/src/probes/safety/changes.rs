//! Definitions that change without a notification.

use std::collections::HashMap;

use serde_json::Value;
use sparring_peer::client::{Error, ListKind};
use sparring_wire::{Rule, Side};

use crate::context::{Context, ProbeResult};
use crate::facts::parsed;
use crate::probes::definition_findings::name_of;
use crate::verdict::Finding;

/// The number of characters of a definition that a finding shows.
const MAX_SHOWN: usize = 200;

/// The number of further looks at each list.
const LOOKS: usize = 2;

/// Asks for the lists of tools and prompts again, and compares them with the ones before.
pub(super) async fn changed_definitions(context: &Context) -> ProbeResult {
    let rule = Rule::ChangedDefinition;
    let facts = context.facts();
    let lists = [(ListKind::Tools, &facts.tools), (ListKind::Prompts, &facts.prompts)];
    for (kind, first) in lists.into_iter().filter(|(_, first)| !first.is_empty()) {
        let mut known = first.clone();
        for _ in 0..LOOKS {
            let items = match list(context, kind).await {
                Ok(items) => items,
                Err(error) => {
                    let reason = format!("the list failed the second time: {error}");
                    context.not_applicable(rule, reason);
                    break;
                }
            };
            context.pass(rule);
            if !was_notified(context, kind) {
                let found = differences(&known, &items, !context.revision.is_modern());
                found.into_iter().for_each(|it| context.fail(rule, it));
            }
            known = items;
        }
    }
    if facts.tools.is_empty() && facts.prompts.is_empty() {
        context.not_applicable(rule, "the server lists no tools and no prompts");
    }
    Ok(())
}

async fn list(context: &Context, kind: ListKind) -> Result<Vec<Value>, Error> {
    let connection = context.main();
    let items = connection.client().with_timeout(connection.request_timeout()).list(kind).await?;
    Ok(parsed(items.iter().map(|item| item.text())))
}

/// Returns true if the server notified the client about a change of the list.
fn was_notified(context: &Context, kind: ListKind) -> bool {
    let method = match kind {
        ListKind::Prompts => "notifications/prompts/list_changed",
        _ => "notifications/tools/list_changed",
    };
    let entries = context.main().recording().entries_from(0);
    entries.iter().any(|it| it.from == Side::Server && it.frame.method() == Some(method))
}

/// Returns the differences between two looks at a list. Without sessions a client asks for
/// notifications only with a subscription, so a new list of the same definitions is normal then.
fn differences(first: &[Value], second: &[Value], with_missing: bool) -> Vec<Finding> {
    let (in_first, in_second) = (by_name(first), by_name(second));
    let mut found = Vec::new();
    for before in first {
        let name = name_of(before);
        match in_second.get(name) {
            Some(after) => found.extend(difference(name, before, after)),
            None if with_missing => {
                let message = "expected the same definitions; the second list does not have it";
                found.push(Finding::new(message).about(name));
            }
            None => {}
        }
    }
    let added = second.iter().filter(|it| with_missing && !in_first.contains_key(name_of(it)));
    found.extend(added.map(|it| {
        let message = "expected the same definitions; only the second list has it";
        Finding::new(message).about(name_of(it))
    }));
    found
}

/// Of several definitions with one name the first counts.
fn by_name(list: &[Value]) -> HashMap<&str, &Value> {
    list.iter().rev().map(|it| (name_of(it), it)).collect()
}

fn difference(name: &str, before: &Value, after: &Value) -> Option<Finding> {
    let (old, new) = (before.as_object()?, after.as_object()?);
    let keys = old.keys().chain(new.keys());
    let key = keys.into_iter().find(|key| old.get(*key) != new.get(*key))?;
    let shown = |value: Option<&Value>| match value {
        Some(value) => value.to_string().chars().take(MAX_SHOWN).collect(),
        None => "nothing".to_owned(),
    };
    let message = format!(
        "expected the same definition in the second list; `{key}` was {} and is {}",
        shown(old.get(key)),
        shown(new.get(key))
    );
    Some(Finding::new(message).about(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_changed_definitions_but_no_other_order() {
        let tool = |name: &str, text: &str| json!({"name": name, "description": text});
        let first = [tool("a", "A."), tool("b", "B.")];
        let again = [tool("b", "B."), tool("a", "A.")];
        assert!(differences(&first, &again, true).is_empty());
        let changed = [tool("a", "Evil."), tool("c", "C.")];
        let subjects = |with_missing| -> Vec<String> {
            let found = differences(&first, &changed, with_missing);
            found.into_iter().map(|it| it.subject).collect()
        };
        assert_eq!(subjects(true), ["a", "b", "c"]);
        assert_eq!(subjects(false), ["a"]);
    }
}
