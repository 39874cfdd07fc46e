//! Steps that are more than a request: bytes as they are, waiting, giving up.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::time::Duration;

use sparring_script::{Entry, Node, Tree, duration};

use super::Loader;
use crate::model::{Cancel, Raw, Verb};

/// What may come by itself.
const COMING: [&str; 7] =
    ["notifications", "requests", "frames", "violations", "stderr", "received", "called"];

impl Loader {
    /// What is sent as it is.
    pub(super) fn raw(&mut self, node: &Node) -> Option<Raw> {
        let sent = node.get("send")?;
        if sent.as_str().is_some() {
            return self.text(node, "send").map(Raw::Text);
        }
        match (self.tree(sent, "json"), sent.get("base64")) {
            (Some(json), None) => Some(Raw::Text(Tree::json(json))),
            (None, Some(bytes)) => match STANDARD.decode(bytes.as_str()?) {
                Ok(bytes) => Some(Raw::Bytes(bytes)),
                Err(error) => {
                    self.problems.add(bytes.span, format!("this is no Base64: {error}"));
                    None
                }
            },
            _ => {
                self.problems.add(sent.span, "give a text, or one of `json` and `base64`");
                None
            }
        }
    }

    /// How long to wait for something, which must be said.
    pub(super) fn wait(&mut self, node: &Node, entry: &Entry) -> Option<Duration> {
        let expected = node.get("expect").map(Node::entries).unwrap_or_default();
        if !expected.iter().any(|it| COMING.contains(&&*it.key)) {
            let message = format!("`wait` needs an `expect` of one of {}", COMING.join(", "));
            let help = Some("`sleep` just lets time pass".to_owned());
            self.problems.add_with_help(entry.key_span, message, help);
        }
        duration(entry.value.as_str()?).ok()
    }

    /// How a request is given up.
    pub(super) fn cancel(&mut self, node: &Node, verb: &Verb) -> Option<Cancel> {
        let entry = node.entry("cancel")?;
        if !verb.is_request() {
            let message = format!("`cancel` does not go with `{}`", verb.name());
            self.problems.add(entry.key_span, message);
        }
        let of_answer = ["text", "json", "structured", "content", "is_error", "error", "result"];
        let of_answer = of_answer.iter().chain(&["within", "snapshot", "has", "lacks", "count"]);
        let expected = node.get("expect").map(Node::entries).unwrap_or_default();
        for other in expected.iter().filter(|it| of_answer.clone().any(|key| *key == it.key)) {
            let message = format!("what is cancelled has no answer for `{}`", other.key);
            self.problems.add(other.key_span, message);
        }
        if let Some(save) = node.entry("save") {
            self.problems.add(save.key_span, "what is cancelled has no answer to save from");
        }
        let after = entry.value.get("after").and_then(Node::as_str);
        let after = after.and_then(|text| duration(text).ok())?;
        Some(Cancel { after, reason: self.text(&entry.value, "reason") })
    }
}
