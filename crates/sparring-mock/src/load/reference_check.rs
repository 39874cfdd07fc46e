//! Checks that names of entries are unique and that references to entries exist.

use std::collections::HashSet;

use sparring_script::{Node, Span, did_you_mean};

use super::Loader;
use crate::model::EntryKind;

const LISTS: [(EntryKind, &str, &str); 4] = [
    (EntryKind::Tool, "tools", "name"),
    (EntryKind::Resource, "resources", "uri"),
    (EntryKind::Template, "templates", "uri_template"),
    (EntryKind::Prompt, "prompts", "name"),
];

impl Loader<'_> {
    pub(super) fn check_entry_names(&mut self, script: &Node) {
        for (kind, list, key) in LISTS {
            let mut seen = HashSet::new();
            for (id, span) in entry_ids(script, list, key) {
                if !seen.insert(id) {
                    self.problems.add(span, format!("duplicate {} `{id}`", kind.name()));
                }
            }
        }
        self.check_references(script, script);
    }

    /// Checks `show`, `hide` and completions.
    fn check_references(&mut self, script: &Node, node: &Node) {
        for entry in node.entries() {
            match &*entry.key {
                "show" | "hide" => self.check_reference(script, &entry.value),
                "completions" => {
                    let all = entry.value.items().iter();
                    all.for_each(|completion| self.check_reference(script, completion));
                }
                // These contain arbitrary values of the user.
                "input_schema" | "output_schema" | "result" | "json" | "structured" => {}
                _ => self.check_references(script, &entry.value),
            }
        }
        node.items().iter().for_each(|item| self.check_references(script, item));
    }

    fn check_reference(&mut self, script: &Node, node: &Node) {
        for (kind, list, key) in LISTS {
            let Some(id) = node.get(kind.name()) else { continue };
            let Some(name) = id.as_str() else { continue };
            let known: Vec<&str> = entry_ids(script, list, key).map(|(id, _)| id).collect();
            if !known.contains(&name) {
                let message = format!("no such {}: `{name}`", kind.name());
                self.problems.add_with_help(id.span, message, did_you_mean(name, known));
            }
        }
    }
}

fn entry_ids<'a>(
    script: &'a Node,
    list: &str,
    key: &'a str,
) -> impl Iterator<Item = (&'a str, Span)> {
    let entries = script.get(list).map(Node::items).unwrap_or_default();
    entries.iter().filter_map(move |entry| {
        let id = entry.get(key)?;
        Some((id.as_str()?, id.span))
    })
}
