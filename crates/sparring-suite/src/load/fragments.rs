//! Reads fragments: named steps that other steps use.

use sparring_script::{MapEntry, Node, did_you_mean};

use super::Loader;
use crate::model::Step;

impl Loader {
    /// Reads and checks all fragments, even unused ones.
    pub(super) fn read_fragments(&mut self, node: &Node) {
        let entries = node.get("fragments").map(Node::entries).unwrap_or_default();
        self.fragments = entries.to_vec();
        for MapEntry { key, key_span, value } in entries {
            if value.items().is_empty() {
                self.problems.add(*key_span, format!("the fragment `{key}` has no step"));
            }
            self.using.push(key.clone());
            self.read_steps(value.items());
            self.using.pop();
        }
    }

    /// Reads steps, and replaces each `use` by the steps of its fragment.
    pub(super) fn read_steps(&mut self, nodes: &[Node]) -> Vec<Step> {
        let mut steps = Vec::new();
        for node in nodes {
            match node.entry("use") {
                None => steps.extend(self.read_step(node)),
                Some(named) => steps.extend(self.read_used_fragment(node, named)),
            }
        }
        steps
    }

    /// Reads the steps of the fragment that `node` uses.
    pub(super) fn read_used_fragment(&mut self, node: &Node, named: &MapEntry) -> Vec<Step> {
        for other in node.entries().iter().filter(|it| super::tests::is_step_key(&it.key)) {
            if other.key != "use" {
                let message = format!("`{}` cannot be used with `use`", other.key);
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
            let message = format!("no fragment named `{name}`");
            self.problems.add_with_help(named.value.span, message, help);
            return Vec::new();
        };
        self.using.push(name.to_owned());
        let steps = self.read_steps(fragment.value.items());
        self.using.pop();
        steps
    }
}
