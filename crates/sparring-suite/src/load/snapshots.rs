//! Reads the rules of snapshots.

use sparring_script::{MapEntry, Node, matcher};

use super::{Loader, texts};
use crate::model::{Expectation, SnapshotRules, Verb};

impl Loader {
    /// Reads a `snapshot`: its own rules and those of the suite.
    pub(super) fn read_snapshot(&mut self, entry: &MapEntry, verb: &Verb) -> Expectation {
        if !(verb.is_request() || matches!(verb, Verb::List(_))) {
            self.add_not_checkable(entry.key_span, "snapshot", verb);
        }
        if entry.value.as_bool() == Some(false) {
            self.problems.add(entry.value.span, "`snapshot` can only be true");
        }
        let (mut rules, own) = (self.snapshots.clone(), self.read_rules(&entry.value));
        rules.without.extend(own.without);
        rules.replace.extend(own.replace);
        Expectation::Snapshot(rules)
    }

    pub(super) fn read_rules(&mut self, node: &Node) -> SnapshotRules {
        let replace = node.get("replace").map(Node::entries).unwrap_or_default().iter();
        let replace = replace.filter_map(|entry| {
            let rule = matcher::parse_pattern(&entry.key);
            let rule = rule.map_err(|error| self.problems.add(entry.key_span, error)).ok()?;
            Some((rule, entry.value.as_str()?.to_owned()))
        });
        SnapshotRules { replace: replace.collect(), without: texts(node, "without") }
    }
}
