//! Replies: conditions, how they are given, what they say.

use std::sync::Arc;

use serde_json::{Value, json};
use sparring_script::{Node, Tree, duration};
use sparring_wire::{RawJson, code};

use super::contents::BLOCKS;
use super::{Loader, one_or_many, text};
use crate::model::{Body, Delay, Kind, Reply, When};

impl Loader<'_> {
    /// The replies of an entry: those below `replies`, or its own.
    pub(super) fn replies(&mut self, entry: &Node, kind: Kind) -> Vec<Arc<Reply>> {
        let Some(list) = entry.get("replies") else {
            return vec![Arc::new(self.reply(entry, entry, kind))];
        };
        let own = entry.entries().iter().find(|own| is_of_a_reply(&own.key, kind));
        if let Some(own) = own {
            let message = format!("`{}` stands beside `replies`; put it into one of them", own.key);
            self.problems.add(own.key_span, message);
        }
        if list.items().is_empty() {
            self.problems.add(list.span, "there is no reply in this list");
        }
        let read = |node| Arc::new(self.reply(node, entry, kind));
        let replies: Vec<Arc<Reply>> = list.items().iter().map(read).collect();
        let last = replies.iter().position(|reply| reply.when.is_any() && reply.times.is_none());
        if let Some(node) = last.and_then(|last| list.items().get(last + 1)) {
            let message = "this reply can never be reached: the one before it takes everything";
            self.problems.add(node.span, message);
        }
        replies
    }

    pub(super) fn reply(&mut self, node: &Node, entry: &Node, kind: Kind) -> Reply {
        #[cfg(not(feature = "http"))]
        self.refuse_http_reply(node);
        let (ask, answers) = self.asks(node);
        self.answers = answers;
        let requires = node.get("requires").map(one_or_many).unwrap_or_default();
        let reply = Reply {
            when: self.when(node.get("when")),
            times: node.get("times").and_then(Node::as_u64),
            given: 0.into(),
            requires: requires.iter().filter_map(Node::as_str).map(str::to_owned).collect(),
            ask,
            during: self.steps(node.get("during")),
            delay: self.delay(node.get("delay")),
            body: self.body(node, entry, kind),
            after: self.steps(node.get("after")),
            fault: has_fault(node).then(|| self.fault(node)),
        };
        self.answers.clear();
        reply
    }

    fn when(&mut self, node: Option<&Node>) -> When {
        let Some(node) = node else { return When::default() };
        let headers = node.get("headers").map(|headers| {
            let mut headers = headers.clone();
            if let sparring_script::Kind::Map(entries) = &mut headers.kind {
                entries.iter_mut().for_each(|entry| entry.key = entry.key.to_lowercase());
            }
            headers
        });
        When {
            args: node.get("args").map(|node| self.matcher(node)),
            headers: headers.map(|node| self.matcher(&node)),
            revision: node.get("revision").map(|node| self.matcher(node)),
            calls: node.get("calls").map(|node| self.matcher(node)),
        }
    }

    fn delay(&mut self, node: Option<&Node>) -> Option<Delay> {
        let node = node?;
        let times = one_or_many(node).iter().map(|node| duration(node.as_str()?).ok());
        match times.collect::<Option<Vec<_>>>()?[..] {
            [time] => Some(Delay { least: time, most: time }),
            [least, most] if least <= most => Some(Delay { least, most }),
            _ => {
                self.problems.add(node.span, "give one time, or the least and the most");
                None
            }
        }
    }

    fn body(&mut self, node: &Node, entry: &Node, kind: Kind) -> Body {
        let bodies = |key: &str| is_body(key, kind);
        let given: Vec<_> = node.entries().iter().filter(|it| bodies(&it.key)).collect();
        let alone =
            given.iter().find(|it| ["error", "result", "raw", "http", "exec"].contains(&&*it.key));
        if let Some(alone) = alone
            && given.len() > 1
        {
            let message =
                format!("`{}` is the whole answer; nothing else can stand beside it", alone.key);
            self.problems.add(alone.key_span, message);
        }
        if has_fault(node) && (given.is_empty() || node.get("raw").is_some()) {
            return Body::Fixed(empty_result(kind));
        }
        if given.is_empty() && node.get("is_error").is_none() {
            self.problems
                .add(node.span, format!("there is no answer here: give one of {}", names(kind)));
            return Body::Fixed(RawJson::empty_object());
        }
        #[cfg(feature = "http")]
        if let Some(http) = node.get("http") {
            return Body::Http(Box::new(self.http_call(http)));
        }
        if let Some(exec) = node.get("exec") {
            return Body::Exec(Box::new(self.program(exec)));
        }
        if let Some(error) = node.get("error") {
            return self.error(error);
        }
        let result = match (node.get("result"), kind) {
            (Some(result), _) => self.tree(result),
            (None, Kind::Tool) => self.tool_result(node),
            (None, Kind::Resource | Kind::Template) => self.resource_result(node, entry),
            (None, Kind::Prompt) => self.prompt_result(node, entry),
        };
        // Beside an entry's own reply, `_meta` is the entry's.
        let result = match node.get("_meta").filter(|_| !std::ptr::eq(node, entry)) {
            Some(meta) => result.with("_meta", self.tree(meta)),
            None => result,
        };
        match result.plain() {
            Some(value) => Body::Fixed(value.into()),
            None if node.get("structured").is_some() => Body::Mirrored(result),
            None => Body::Filled(result),
        }
    }

    fn error(&mut self, node: &Node) -> Body {
        let code = node.get("code").and_then(|code| code.to_json().as_i64());
        Body::Error {
            code: code.unwrap_or(code::INTERNAL_ERROR),
            message: node.get("message").map_or(Tree::Plain(Value::Null), |it| self.text_tree(it)),
            data: node.get("data").map(|data| self.tree(data)),
        }
    }

    fn tool_result(&mut self, node: &Node) -> Tree {
        let mut content = self.blocks(node);
        for block in node.get("content").map(Node::items).unwrap_or_default() {
            content.push(self.single_block(block));
        }
        let structured = node.get("structured").map(|structured| self.tree(structured));
        if let Some(structured) = &structured {
            // With holes it is filled once, and said as text after that: what is
            // random or counts would otherwise not be the same in both.
            let text = match structured.plain() {
                Some(_) => Tree::json(structured.clone()),
                None => Tree::Plain(Value::Null),
            };
            content.push(Tree::map([("type", Tree::Plain(json!("text"))), ("text", text)]));
        }
        let mut result = Tree::map([("content", Tree::list(content))]);
        if let Some(structured) = structured {
            result = result.with("structuredContent", structured);
        }
        if let Some(is_error) = node.get("is_error").and_then(Node::as_bool) {
            result = result.with("isError", Tree::Plain(is_error.into()));
        }
        result
    }

    fn resource_result(&mut self, node: &Node, entry: &Node) -> Tree {
        // What has but one URI needs no hole for it.
        let uri = match text(entry, "uri") {
            Some(uri) => Tree::Plain(uri.into()),
            None => self.made("${uri}"),
        };
        let contents = self.resource_contents(node, uri, text(entry, "mime_type"));
        Tree::map([("contents", Tree::list(vec![contents]))])
    }

    fn prompt_result(&mut self, node: &Node, entry: &Node) -> Tree {
        let messages = match (node.get("messages"), node.get("text")) {
            (Some(messages), None) => {
                messages.items().iter().map(|message| self.message(message)).collect()
            }
            (None, Some(_)) => vec![self.message(&only(node, "text"))],
            _ => {
                self.problems.add(node.span, "give either `messages` or `text`");
                Vec::new()
            }
        };
        let result = Tree::map([("messages", Tree::list(messages))]);
        match text(entry, "description") {
            Some(description) => result.with("description", Tree::Plain(description.into())),
            None => result,
        }
    }
}

fn has_fault(reply: &Node) -> bool {
    reply.get("fault").is_some() || reply.get("raw").is_some()
}

/// The least that an answer can say, where a fault is all that matters.
fn empty_result(kind: Kind) -> RawJson {
    let field = match kind {
        Kind::Tool => "content",
        Kind::Resource | Kind::Template => "contents",
        Kind::Prompt => "messages",
    };
    json!({field: []}).into()
}

/// A map with one of its entries alone.
fn only(node: &Node, key: &str) -> Node {
    let entries = node.entries().iter().filter(|entry| entry.key == key).cloned().collect();
    Node { span: node.span, kind: sparring_script::Kind::Map(entries) }
}

/// The keys that say what is answered.
fn body_keys(kind: Kind) -> Vec<&'static str> {
    let own: &[&str] = match kind {
        Kind::Tool => &["structured", "content", "http", "exec"],
        Kind::Resource | Kind::Template => &["text", "json", "blob", "file"],
        Kind::Prompt => &["text", "messages"],
    };
    let blocks: &[&str] = if kind == Kind::Tool { &BLOCKS } else { &[] };
    [blocks, own, &["error", "result", "raw"]].concat()
}

fn is_body(key: &str, kind: Kind) -> bool {
    body_keys(kind).contains(&key)
}

fn names(kind: Kind) -> String {
    body_keys(kind).join(", ")
}

/// Whether a key of an entry belongs to its one reply.
fn is_of_a_reply(key: &str, kind: Kind) -> bool {
    let others = ["requires", "ask", "during", "delay", "after", "fault", "is_error"];
    is_body(key, kind) || others.contains(&key)
}
