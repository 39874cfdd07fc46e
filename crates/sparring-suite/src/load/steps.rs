//! The steps of a test.

use serde_json::json;
use sparring_peer::client::Listing;
use sparring_script::{Node, Path, Span, Tree, duration};

use super::{Loader, is_almost};
use crate::grammar::TEST;
use crate::model::{Completion, Step, Verb};

/// The verbs there are.
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

/// The verbs that `with` says more about.
const WITH: [&str; 5] = ["call", "prompt", "complete", "request", "notify"];

impl Loader {
    pub(super) fn step(&mut self, node: &Node) -> Option<Step> {
        let (span, verb) = self.verb(node)?;
        let cancel = self.cancel(node, &verb);
        let expect = self.expect(node, &verb);
        let save = self.save(node, &verb);
        Some(Step { span, answers: self.answers(node), cancel, expect, save, verb })
    }

    fn verb(&mut self, node: &Node) -> Option<(Span, Verb)> {
        let found: Vec<_> =
            node.entries().iter().filter(|entry| VERBS.contains(&&*entry.key)).collect();
        let runs = |key: &str| key == "input" || key == "agent";
        if let Some(first) = found.first().filter(|_| found.iter().all(|it| runs(&it.key))) {
            for entry in node.entries().iter().filter(|it| it.key == "with" || it.key == "answer") {
                let message = format!("`{}` does not go with an agent", entry.key);
                self.problems.add(entry.key_span, message);
            }
            return Some((first.key_span, self.run_agent(node)));
        }
        let [entry] = found[..] else {
            match found.get(1) {
                Some(second) => {
                    let message = format!("`{}` is a second verb; a step has one", second.key);
                    self.problems.add(second.key_span, message);
                }
                // An unknown key has been told with the verb that is meant.
                None if node.entries().iter().any(|it| is_almost(it, &TEST, VERBS)) => {}
                None => {
                    let message = format!("a step must have a verb: {}", VERBS.join(", "));
                    self.problems.add(node.span, message);
                }
            }
            return None;
        };
        let key = &*entry.key;
        if let Some(with) = node.entry("with").filter(|_| !WITH.contains(&key)) {
            self.problems.add(with.key_span, format!("`with` does not go with `{key}`"));
        }
        let name = self.text(node, key)?;
        let with = self.tree(node, "with");
        let arguments = || with.clone().unwrap_or(Tree::Plain(json!({})));
        let verb = match key {
            "call" => Verb::Call { tool: name, arguments: arguments() },
            "read" => Verb::Read { uri: self.url(node, key)? },
            "prompt" => Verb::Prompt { name, arguments: arguments() },
            "list" => Verb::List(listing(entry.value.as_str()?)?),
            "complete" => Verb::Complete(self.completion(&entry.value, with)?),
            "request" => Verb::Request { method: name, params: with },
            "notify" => Verb::Notify { method: name, params: with },
            "subscribe" => Verb::Subscribe { uri: self.url(node, key)? },
            "send" => Verb::Send(self.raw(node)?),
            "wait" => Verb::Wait(self.wait(node, entry)?),
            "sleep" => Verb::Sleep(duration(entry.value.as_str()?).ok()?),
            key => {
                if entry.value.as_bool() == Some(false) {
                    let message = format!("only `{key}: true` makes sense");
                    self.problems.add(entry.value.span, message);
                }
                if key == "restart" { Verb::Restart } else { Verb::Ping }
            }
        };
        let end = entry.value.as_str().map_or(entry.key_span.end, |_| entry.value.span.end);
        Some((Span { start: entry.key_span.start, end }, verb))
    }

    fn completion(&mut self, node: &Node, context: Option<Tree>) -> Option<Completion> {
        let reference = match (self.text(node, "prompt"), self.text(node, "template")) {
            (Some(name), None) => {
                Tree::map([("type", Tree::Plain(json!("ref/prompt"))), ("name", name)])
            }
            (None, Some(uri)) => {
                Tree::map([("type", Tree::Plain(json!("ref/resource"))), ("uri", uri)])
            }
            _ => {
                self.problems
                    .add(node.span, "a completion must have one of `prompt` and `template`");
                return None;
            }
        };
        let argument = self.text(node, "argument")?;
        let value = self.text(node, "value")?;
        Some(Completion { reference, argument, value, context })
    }

    fn save(&mut self, node: &Node, verb: &Verb) -> Vec<(String, Span, Path)> {
        let entries = node.get("save").map(Node::entries).unwrap_or_default();
        let mut saved = Vec::new();
        for entry in entries {
            let Some(text) = entry.value.as_str() else { continue };
            let span = entry.value.span;
            if let Some(reserved) = super::holes::RESERVED.iter().find(|it| **it == entry.key) {
                let message = format!("`{reserved}` has a meaning of its own in templates");
                self.problems.add(entry.key_span, message);
            }
            match Path::parse(text) {
                Ok(path) => {
                    self.check_root(&path, span, verb);
                    saved.push((entry.key.clone(), span, path.to_wire()));
                }
                Err(bad) => {
                    self.problems.add(span, format!("this is no path: {}", bad.message));
                }
            }
        }
        saved
    }
}

fn listing(name: &str) -> Option<Listing> {
    match name {
        "tools" => Some(Listing::Tools),
        "resources" => Some(Listing::Resources),
        "templates" => Some(Listing::ResourceTemplates),
        "prompts" => Some(Listing::Prompts),
        _ => None,
    }
}
