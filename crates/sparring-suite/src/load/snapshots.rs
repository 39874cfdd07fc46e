//! What is not kept of answers that are to be as they were kept.

use sparring_script::{Entry, Node, matcher};

use super::{Loader, texts};
use crate::model::{Facet, Rules, Verb};

impl Loader {
    /// What one `snapshot` says, with what all of them do.
    pub(super) fn snapshot(&mut self, entry: &Entry, verb: &Verb) -> Facet {
        if !(verb.is_request() || matches!(verb, Verb::List(_))) {
            self.no_such(entry.key_span, "snapshot", verb);
        }
        if entry.value.as_bool() == Some(false) {
            self.problems.add(entry.value.span, "only `snapshot: true` makes sense");
        }
        let (mut rules, own) = (self.snapshots.clone(), self.rules(&entry.value));
        rules.without.extend(own.without);
        rules.replace.extend(own.replace);
        Facet::Snapshot(rules)
    }

    pub(super) fn rules(&mut self, node: &Node) -> Rules {
        let replace = node.get("replace").map(Node::entries).unwrap_or_default().iter();
        let replace = replace.filter_map(|entry| {
            let rule = matcher::pattern(&entry.key);
            let rule = rule.map_err(|told| self.problems.add(entry.key_span, told)).ok()?;
            Some((rule, entry.value.as_str()?.to_owned()))
        });
        Rules { replace: replace.collect(), without: texts(node, "without") }
    }
}
