//! The steps of a test.

use serde_json::json;
use sparring_peer::client::ListKind;
use sparring_script::{MapEntry, Node, Path, Span, TemplateTree, parse_duration};
use sparring_wire::{Revision, Side};

use super::{Loader, is_almost};
use crate::grammar::TEST;
use crate::model::{Completion, Step, Verb};
use crate::step_result::STEP_KEYS;

/// The verbs.
pub(super) const VERBS: [&str; 17] = [
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
    "check",
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
        self.check_keys_of_check(node, &verb);
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
                    let takes_with = found.iter().any(|it| WITH.contains(&&*it.key));
                    let has_input = found.iter().any(|it| it.key == "input");
                    let help = "`input` is the input of an agent; did you mean 'with'?";
                    let help = (takes_with && has_input).then(|| help.to_owned());
                    self.problems.add_with_help(second.key_span, message, help);
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
        self.check_misplaced_keys(node, entry);
        let name = self.read_text(node, key)?;
        let with = self.read_tree(node, "with");
        let arguments = || with.clone().unwrap_or(TemplateTree::Literal(json!({})));
        let verb = match key {
            "call" => {
                let entries = node.get("with").map(Node::entries).unwrap_or_default();
                let names = entries.iter().map(|it| (it.key.clone(), it.key_span)).collect();
                Verb::Call { tool: name, arguments: arguments(), names }
            }
            "read" => Verb::Read { uri: self.read_url(node, key)? },
            "prompt" => Verb::Prompt { name, arguments: arguments() },
            "list" => Verb::List(listing(entry.value.as_str()?)?),
            "complete" => Verb::Complete(self.read_completion(&entry.value, with)?),
            "request" => Verb::Request { method: name, params: with },
            "notify" => Verb::Notify { method: name, params: with },
            "subscribe" => Verb::Subscribe { uri: self.read_url(node, key)? },
            "send" => Verb::Send(self.read_raw(node)?),
            "wait" => Verb::Wait(self.read_wait(node, entry)?),
            "check" => Verb::Check(Box::new(self.read_check(&entry.value))),
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

    /// Refuses keys of the step below `with`, if they cannot be arguments there. Those of a
    /// call are compared with the input schema of its tool when the step runs.
    fn check_misplaced_keys(&mut self, node: &Node, verb: &MapEntry) {
        let entries = node.get("with").map(Node::entries).unwrap_or_default();
        for entry in entries.iter().filter(|it| STEP_KEYS.contains(&&*it.key)) {
            let is_argument = match &*verb.key {
                // The arguments of prompts are strings.
                "prompt" | "complete" => entry.value.as_str().is_some(),
                "request" | "notify" => !verb.value.as_str().is_some_and(is_protocol_method),
                _ => true,
            };
            if !is_argument {
                let message = format!("`{}` is below `with`; move it to the step", entry.key);
                self.problems.add(entry.key_span, message);
            }
        }
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

/// Returns true if the protocol has a request or a notification of this name in any revision.
/// None of these has a parameter with the name of a key of a step.
fn is_protocol_method(method: &str) -> bool {
    let sides = [Side::Client, Side::Server];
    Revision::ALL.into_iter().any(|revision| {
        sides.into_iter().any(|from| {
            revision.request(from, method).is_some()
                || revision.notification(from, method).is_some()
        })
    })
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
