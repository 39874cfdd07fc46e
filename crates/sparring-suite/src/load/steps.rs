//! The steps of a test.

use serde_json::json;
use sparring_peer::client::ListKind;
use sparring_script::{Node, Path, Span, TemplateTree, parse_duration};

use super::{Loader, is_almost};
use crate::grammar::TEST;
use crate::model::{Completion, Step, Verb};

/// The verbs.
pub(super) const VERBS: [&str; 16] = [
    "call",
    "read",
    "prompt",
    "list",
    "complete",
    "ping",
    "request",
    "notify",
    "subscribe",
    "send",
    "wait",
    "sleep",
    "restart",
    "use",
    "input",
    "agent",
];

/// The verbs that take `with`.
const WITH: [&str; 5] = ["call", "prompt", "complete", "request", "notify"];

impl Loader {
    pub(super) fn read_step(&mut self, node: &Node) -> Option<Step> {
        let (span, verb) = self.read_verb(node)?;
        let cancel = self.read_cancel(node, &verb);
        let expect = self.read_expectations(node, &verb);
        let save = self.read_save(node, &verb);
        Some(Step { span, answers: self.read_answers(node), cancel, expect, save, verb })
    }

    fn read_verb(&mut self, node: &Node) -> Option<(Span, Verb)> {
        let found: Vec<_> =
            node.entries().iter().filter(|entry| VERBS.contains(&&*entry.key)).collect();
        let runs = |key: &str| key == "input" || key == "agent";
        if let Some(first) = found.first().filter(|_| found.iter().all(|it| runs(&it.key))) {
            for entry in node.entries().iter().filter(|it| it.key == "with" || it.key == "answer") {
                let message = format!("`{}` cannot be used with an agent", entry.key);
                self.problems.add(entry.key_span, message);
            }
            return Some((first.key_span, self.read_agent_step(node)));
        }
        let [entry] = found[..] else {
            match found.get(1) {
                Some(second) => {
                    let message = format!("`{}` is a second verb; a step has one", second.key);
                    self.problems.add(second.key_span, message);
                }
                // The grammar reported an unknown key and suggested the verb.
                None if node.entries().iter().any(|it| is_almost(it, &TEST, VERBS)) => {}
                None => {
                    let message = format!("a step needs a verb: {}", VERBS.join(", "));
                    self.problems.add(node.span, message);
                }
            }
            return None;
        };
        let key = &*entry.key;
        if let Some(with) = node.entry("with").filter(|_| !WITH.contains(&key)) {
            self.problems.add(with.key_span, format!("`with` cannot be used with `{key}`"));
        }
        let name = self.read_text(node, key)?;
        let with = self.read_tree(node, "with");
        let arguments = || with.clone().unwrap_or(TemplateTree::Literal(json!({})));
        let verb = match key {
            "call" => Verb::Call { tool: name, arguments: arguments() },
            "read" => Verb::Read { uri: self.read_url(node, key)? },
            "prompt" => Verb::Prompt { name, arguments: arguments() },
            "list" => Verb::List(listing(entry.value.as_str()?)?),
            "complete" => Verb::Complete(self.read_completion(&entry.value, with)?),
            "request" => Verb::Request { method: name, params: with },
            "notify" => Verb::Notify { method: name, params: with },
            "subscribe" => Verb::Subscribe { uri: self.read_url(node, key)? },
            "send" => Verb::Send(self.read_raw(node)?),
            "wait" => Verb::Wait(self.read_wait(node, entry)?),
            "sleep" => Verb::Sleep(parse_duration(entry.value.as_str()?).ok()?),
            key => {
                if entry.value.as_bool() == Some(false) {
                    let message = format!("`{key}` can only be true");
                    self.problems.add(entry.value.span, message);
                }
                if key == "restart" { Verb::Restart } else { Verb::Ping }
            }
        };
        let end = entry.value.as_str().map_or(entry.key_span.end, |_| entry.value.span.end);
        Some((Span { start: entry.key_span.start, end }, verb))
    }

    fn read_completion(
        &mut self,
        node: &Node,
        context: Option<TemplateTree>,
    ) -> Option<Completion> {
        let reference = match (self.read_text(node, "prompt"), self.read_text(node, "template")) {
            (Some(name), None) => TemplateTree::map([
                ("type", TemplateTree::Literal(json!("ref/prompt"))),
                ("name", name),
            ]),
            (None, Some(uri)) => TemplateTree::map([
                ("type", TemplateTree::Literal(json!("ref/resource"))),
                ("uri", uri),
            ]),
            _ => {
                self.problems.add(node.span, "a completion needs either `prompt` or `template`");
                return None;
            }
        };
        let argument = self.read_text(node, "argument")?;
        let value = self.read_text(node, "value")?;
        Some(Completion { reference, argument, value, context })
    }

    fn read_save(&mut self, node: &Node, verb: &Verb) -> Vec<(String, Span, Path)> {
        let entries = node.get("save").map(Node::entries).unwrap_or_default();
        let mut saved = Vec::new();
        for entry in entries {
            let Some(text) = entry.value.as_str() else { continue };
            let span = entry.value.span;
            if let Some(reserved) =
                super::template_check::RESERVED.iter().find(|it| **it == entry.key)
            {
                let message = format!("`{reserved}` is reserved in templates");
                self.problems.add(entry.key_span, message);
            }
            match Path::parse(text) {
                Ok(path) => {
                    self.check_saved_path(&path, span, verb);
                    saved.push((entry.key.clone(), span, path.to_wire()));
                }
                Err(bad) => {
                    self.problems.add(span, format!("not a path: {}", bad.message));
                }
            }
        }
        saved
    }
}

fn listing(name: &str) -> Option<ListKind> {
    match name {
        "tools" => Some(ListKind::Tools),
        "resources" => Some(ListKind::Resources),
        "templates" => Some(ListKind::ResourceTemplates),
        "prompts" => Some(ListKind::Prompts),
        _ => None,
    }
}
