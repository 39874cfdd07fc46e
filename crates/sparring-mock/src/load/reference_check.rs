//! Checks that names of entries are unique and that references to entries exist.

use std::collections::HashSet;

use sparring_script::{Node, Span, did_you_mean};

use super::Loader;
use crate::model::{EntryKind, UriTemplate};

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
                    all.for_each(|completion| {
                        self.check_reference(script, completion);
                        self.check_completed_argument(script, completion);
                    });
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

impl Loader<'_> {
    /// Checks that the prompt has the argument of a completion, or the template the variable.
    fn check_completed_argument(&mut self, script: &Node, completion: &Node) {
        let Some(argument) = completion.get("argument") else { return };
        let Some(name) = argument.as_str() else { return };
        let prompt = entry_of(script, completion, EntryKind::Prompt);
        let arguments = prompt.map(|it| it.get("arguments").map(Node::items).unwrap_or_default());
        let template = entry_of(script, completion, EntryKind::Template);
        let template = template.and_then(|it| it.get("uri_template")?.as_str());
        let template = template.and_then(|it| UriTemplate::parse(it).ok());
        let (known, of): (Vec<&str>, _) = match (arguments, &template) {
            (Some(arguments), _) => {
                (arguments.iter().filter_map(|it| it.get("name")?.as_str()).collect(), "prompt")
            }
            (None, Some(template)) => (template.variable_names().collect(), "template"),
            (None, None) => return,
        };
        if !known.contains(&name) {
            let message = format!("the {of} has no argument `{name}`");
            self.problems.add_with_help(argument.span, message, did_you_mean(name, known));
        }
    }
}

/// Returns the entry of this kind to which a node refers.
fn entry_of<'a>(script: &'a Node, node: &Node, kind: EntryKind) -> Option<&'a Node> {
    let id = node.get(kind.name())?.as_str()?;
    let (_, list, key) = LISTS.into_iter().find(|it| it.0 == kind)?;
    let entries = script.get(list).map(Node::items).unwrap_or_default();
    entries.iter().find(|entry| entry.get(key).and_then(Node::as_str) == Some(id))
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
