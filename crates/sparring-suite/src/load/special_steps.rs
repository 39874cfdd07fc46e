//! Reads the steps `send`, `wait` and `check`, and `cancel`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::time::Duration;

use sparring_check::{CheckOptions, rules_named, server_rules};
use sparring_script::{MapEntry, Node, TemplateTree, did_you_mean, parse_duration};
use sparring_wire::{Rule, RuleLevel};

use super::{Loader, one_or_many};
use crate::model::{Cancel, RawMessage, Verb};

/// The expectations that `wait` can wait for.
const WAITABLE: [&str; 7] =
    ["notifications", "requests", "frames", "violations", "stderr", "received", "called"];

impl Loader {
    /// Reads the message that `send` sends unchanged.
    pub(super) fn read_raw(&mut self, node: &Node) -> Option<RawMessage> {
        let sent = node.get("send")?;
        if sent.as_str().is_some() {
            return self.read_text(node, "send").map(RawMessage::Text);
        }
        match (self.read_tree(sent, "json"), sent.get("base64")) {
            (Some(json), None) => Some(RawMessage::Text(TemplateTree::json_text(json))),
            (None, Some(bytes)) => match STANDARD.decode(bytes.as_str()?) {
                Ok(bytes) => Some(RawMessage::Bytes(bytes)),
                Err(error) => {
                    self.problems.add(bytes.span, format!("not Base64: {error}"));
                    None
                }
            },
            _ => {
                self.problems.add(sent.span, "write a string, `json` or `base64`");
                None
            }
        }
    }

    /// Reads the timeout of `wait`, and checks that the step expects something.
    pub(super) fn read_wait(&mut self, node: &Node, entry: &MapEntry) -> Option<Duration> {
        let expected = node.get("expect").map(Node::entries).unwrap_or_default();
        if !expected.iter().any(|it| WAITABLE.contains(&&*it.key)) {
            let message = format!("`wait` needs an `expect` of one of {}", WAITABLE.join(", "));
            let help = Some("use `sleep` to let time pass".to_owned());
            self.problems.add_with_help(entry.key_span, message, help);
        }
        parse_duration(entry.value.as_str()?).ok()
    }

    /// Reads the cancellation of a request.
    pub(super) fn read_cancel(&mut self, node: &Node, verb: &Verb) -> Option<Cancel> {
        let entry = node.entry("cancel")?;
        if !verb.is_request() {
            let message = format!("`cancel` cannot be used with `{}`", verb.name());
            self.problems.add(entry.key_span, message);
        }
        let of_answer = ["text", "json", "structured", "content", "is_error", "error", "result"];
        let of_answer = of_answer.iter().chain(&["within", "snapshot", "has", "lacks", "count"]);
        let expected = node.get("expect").map(Node::entries).unwrap_or_default();
        for other in expected.iter().filter(|it| of_answer.clone().any(|key| *key == it.key)) {
            let message = format!("a cancelled request has no answer for `{}`", other.key);
            self.problems.add(other.key_span, message);
        }
        if let Some(save) = node.entry("save") {
            self.problems.add(save.key_span, "a cancelled request has no answer to save from");
        }
        let after = entry.value.get("after").and_then(Node::as_str);
        let after = after.and_then(|text| parse_duration(text).ok())?;
        Some(Cancel { after, reason: self.read_text(&entry.value, "reason") })
    }

    /// Reads the options of a check.
    pub(super) fn read_check(&mut self, node: &Node) -> CheckOptions {
        let max_tokens = node.get("max_tokens").and_then(Node::as_u64);
        let options = CheckOptions {
            only: self.read_rule_names(node, "only"),
            skip: self.read_rule_names(node, "skip"),
            level: match node.get("level").and_then(Node::as_str) {
                Some("must") => RuleLevel::Must,
                Some("should") => RuleLevel::Should,
                _ => RuleLevel::Lint,
            },
            max_tokens: max_tokens.map(|it| usize::try_from(it).unwrap_or(usize::MAX)),
            ..CheckOptions::default()
        };
        if !server_rules().any(|rule| options.selects(rule)) {
            self.problems.add(node.span, "no rule is left by `only`, `skip` and `level`");
        }
        options
    }

    fn read_rule_names(&mut self, node: &Node, key: &str) -> Vec<Rule> {
        let mut rules = Vec::new();
        for name in node.get(key).map(one_or_many).unwrap_or_default() {
            let Some(text) = name.as_str() else { continue };
            let named = rules_named(text);
            if named.is_empty() {
                let help = did_you_mean(text, server_rules().map(Rule::id));
                let help = help.or_else(|| Some("`spar check --list` lists all rules".to_owned()));
                self.problems.add_with_help(name.span, format!("unknown rule `{text}`"), help);
            }
            rules.extend(named);
        }
        rules
    }

    /// Refuses the keys of a step that a check cannot have.
    pub(super) fn check_keys_of_check(&mut self, node: &Node, verb: &Verb) {
        if !matches!(verb, Verb::Check(_)) {
            return;
        }
        for entry in ["expect", "answer"].iter().filter_map(|key| node.entry(key)) {
            self.add_not_checkable(entry.key_span, &entry.key, verb);
        }
    }
}
