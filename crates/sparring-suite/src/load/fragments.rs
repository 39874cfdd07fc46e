//! Steps that have a name, and are used where a step says so.

use sparring_script::{Entry, Node, did_you_mean};

use super::Loader;
use crate::model::Step;

impl Loader {
    /// Takes note of all fragments, and finds what is wrong with them, used or
    /// not.
    pub(super) fn fragments(&mut self, node: &Node) {
        let entries = node.get("fragments").map(Node::entries).unwrap_or_default();
        self.fragments = entries.to_vec();
        for Entry { key, key_span, value } in entries {
            if value.items().is_empty() {
                self.problems.add(*key_span, format!("the fragment `{key}` has no step"));
            }
            self.using.push(key.clone());
            self.steps(value.items());
            self.using.pop();
        }
    }

    /// Steps one after the other, those of fragments in place of their names.
    pub(super) fn steps(&mut self, nodes: &[Node]) -> Vec<Step> {
        let mut steps = Vec::new();
        for node in nodes {
            match node.entry("use") {
                None => steps.extend(self.step(node)),
                Some(named) => steps.extend(self.used(node, named)),
            }
        }
        steps
    }

    /// The steps of a fragment; `node` is all that stands beside its name.
    pub(super) fn used(&mut self, node: &Node, named: &Entry) -> Vec<Step> {
        for other in node.entries().iter().filter(|it| super::tests::is_of_a_step(&it.key)) {
            if other.key != "use" {
                let message = format!("`{}` does not go with `use`", other.key);
                self.problems.add(other.key_span, message);
            }
        }
        let Some(name) = named.value.as_str() else { return Vec::new() };
        if self.using.iter().any(|using| using == name) {
            self.problems.add(named.value.span, format!("the fragment `{name}` uses itself"));
            return Vec::new();
        }
        let Some(fragment) = self.fragments.iter().find(|it| it.key == name).cloned() else {
            let help = did_you_mean(name, self.fragments.iter().map(|it| &*it.key));
            let message = format!("there is no fragment `{name}`");
            self.problems.add_with_help(named.value.span, message, help);
            return Vec::new();
        };
        self.using.push(name.to_owned());
        let steps = self.steps(fragment.value.items());
        self.using.pop();
        steps
    }
}
