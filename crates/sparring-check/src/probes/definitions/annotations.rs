//! Annotations of tools that contradict each other or the name of the tool.

use serde_json::Value;
use sparring_wire::Rule;

use crate::probes::definition_findings::{DefinitionFindings, name_of};

/// The first words of names of tools that destroy something.
const DESTRUCTIVE_WORDS: [&str; 8] =
    ["delete", "destroy", "drop", "erase", "purge", "remove", "truncate", "wipe"];

/// Checks the annotations of all tools.
pub(super) fn check(tools: &[Value], findings: &mut DefinitionFindings) {
    for tool in tools {
        let (name, hints) = (name_of(tool), &tool["annotations"]);
        if hints["readOnlyHint"] != true {
            continue;
        }
        let mut add = |message| findings.add(Rule::ContradictingAnnotations, name, message);
        let expected = "expected annotations that do not contradict each other";
        if hints["destructiveHint"] == true {
            let found = "the server sets `readOnlyHint` and `destructiveHint`";
            add(format!("{expected}; {found} of the tool {name:?} to true"));
        } else if hints["idempotentHint"] == false {
            let found = "sets `readOnlyHint` to true and `idempotentHint` to false";
            add(format!("{expected}; the server {found} for the tool {name:?}"));
        } else if DESTRUCTIVE_WORDS.contains(&&*first_word(name)) {
            let found = format!("the server sets `readOnlyHint` of the tool {name:?} to true");
            add(format!("expected annotations that fit the name of the tool; {found}"));
        }
    }
}

/// Returns the first word of a name such as `deleteFile` or `delete-file`, in lower case.
fn first_word(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        let starts_a_word = letter.is_uppercase() && word.ends_with(char::is_lowercase);
        if !letter.is_alphanumeric() || starts_a_word {
            break;
        }
        word.push(letter);
    }
    word.to_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_hints(name: &str, hints: Value, is_bad: bool) {
        let mut findings = DefinitionFindings::default();
        check(&[json!({"name": name, "annotations": hints})], &mut findings);
        assert_eq!(!findings.found().is_empty(), is_bad, "{name} {hints}");
    }

    #[test]
    fn finds_contradicting_annotations() {
        check_hints("a", json!({"readOnlyHint": true, "destructiveHint": true}), true);
        check_hints("a", json!({"readOnlyHint": true, "idempotentHint": false}), true);
        check_hints("deleteAll", json!({"readOnlyHint": true}), true);
        check_hints("delete_all", json!({"readOnlyHint": true}), true);
        check_hints("deleted_items", json!({"readOnlyHint": true}), false);
        check_hints("a", json!({"readOnlyHint": true, "idempotentHint": true}), false);
        check_hints("a", json!({"readOnlyHint": true, "destructiveHint": false}), false);
        check_hints("a", json!({"readOnlyHint": false, "destructiveHint": true}), false);
        check_hints("a", json!({"destructiveHint": true}), false);
    }
}
