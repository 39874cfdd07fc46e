//! What must hold between the entries: no name twice, and nobody speaks of an
//! entry that is not there.

use std::collections::HashSet;

use sparring_script::{Node, Span, did_you_mean};

use super::Loader;
use crate::model::Kind;

const LISTS: [(Kind, &str, &str); 4] = [
    (Kind::Tool, "tools", "name"),
    (Kind::Resource, "resources", "uri"),
    (Kind::Template, "templates", "uri_template"),
    (Kind::Prompt, "prompts", "name"),
];

impl Loader<'_> {
    pub(super) fn check_lists(&mut self, script: &Node) {
        for (kind, list, key) in LISTS {
            let mut seen = HashSet::new();
            for (id, span) in ids(script, list, key) {
                if !seen.insert(id) {
                    self.problems.add(span, format!("a second {} of the name `{id}`", kind.name()));
                }
            }
        }
        self.check_names(script, script);
    }

    /// Looks for `show`, `hide` and completions of what is not there.
    fn check_names(&mut self, script: &Node, node: &Node) {
        for entry in node.entries() {
            match &*entry.key {
                "show" | "hide" => self.check_reference(script, &entry.value),
                "completions" => {
                    let all = entry.value.items().iter();
                    all.for_each(|completion| self.check_reference(script, completion));
                }
                // Values of the user's own.
                "input_schema" | "output_schema" | "result" | "json" | "structured" => {}
                _ => self.check_names(script, &entry.value),
            }
        }
        node.items().iter().for_each(|item| self.check_names(script, item));
    }

    fn check_reference(&mut self, script: &Node, node: &Node) {
        for (kind, list, key) in LISTS {
            let Some(id) = node.get(kind.name()) else { continue };
            let Some(name) = id.as_str() else { continue };
            let known: Vec<&str> = ids(script, list, key).map(|(id, _)| id).collect();
            if !known.contains(&name) {
                let message = format!("there is no {} `{name}`", kind.name());
                self.problems.add_with_help(id.span, message, did_you_mean(name, known));
            }
        }
    }
}

fn ids<'a>(script: &'a Node, list: &str, key: &'a str) -> impl Iterator<Item = (&'a str, Span)> {
    let entries = script.get(list).map(Node::items).unwrap_or_default();
    entries.iter().filter_map(move |entry| {
        let id = entry.get(key)?;
        Some((id.as_str()?, id.span))
    })
}
