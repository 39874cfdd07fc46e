//! Loads replies: conditions, questions, steps and bodies.

use std::sync::Arc;

use serde_json::{Value, json};
use sparring_peer::client::ServerRequest as QuestionKind;
use sparring_script::{MapEntry, Node, Span, TemplateTree, casing, parse_duration};
use sparring_wire::secret_names::is_secret_header;
use sparring_wire::{RawJson, Revision, code};

use super::contents::BLOCKS;
use super::{Loader, one_or_many, text};
use crate::model::{Body, Condition, Delay, EntryKind, Question, Reply, Round};

impl Loader<'_> {
    /// Loads the replies of an entry: those below `replies`, or the one in its own keys.
    pub(super) fn load_replies(&mut self, entry: &Node, kind: EntryKind) -> Vec<Arc<Reply>> {
        let Some(list) = entry.get("replies") else {
            return vec![Arc::new(self.load_reply(entry, entry, kind))];
        };
        let own = entry.entries().iter().find(|own| is_reply_key(&own.key, kind));
        if let Some(own) = own {
            let message =
                format!("`{}` cannot be used beside `replies`; move it into one of them", own.key);
            self.problems.add(own.key_span, message);
        }
        if list.items().is_empty() {
            self.problems.add(list.span, "`replies` is empty");
        }
        let load = |node| Arc::new(self.load_reply(node, entry, kind));
        let replies: Vec<Arc<Reply>> = list.items().iter().map(load).collect();
        self.check_reachable(entry, &replies, kind);
        replies
    }

    pub(super) fn load_reply(&mut self, node: &Node, entry: &Node, kind: EntryKind) -> Reply {
        #[cfg(not(feature = "http"))]
        self.reject_http_reply_keys(node);
        let (ask, answers) = self.load_questions(node);
        self.answers = answers;
        let requires = node.get("requires").map(one_or_many).unwrap_or_default();
        for name in requires {
            self.check_client_capability(name.as_str().unwrap_or_default(), name.span);
        }
        let reply = Reply {
            when: self.load_condition(node.get("when")),
            times: node.get("times").and_then(Node::as_u64),
            times_given: 0.into(),
            requires: requires.iter().filter_map(Node::as_str).map(str::to_owned).collect(),
            ask,
            during: self.load_steps(node.get("during")),
            delay: self.load_delay(node.get("delay")),
            body: self.load_body(node, entry, kind),
            after: self.load_steps(node.get("after")),
            fault: has_fault(node).then(|| self.load_fault(node)),
            hides_secret_headers: self.origin.is_client(),
            reserved: None,
        };
        self.answers.clear();
        reply
    }

    /// Refuses a capability that clients have in no revision of the script.
    fn check_client_capability(&mut self, name: &str, span: Span) {
        let has = |it: &Revision| it.definition().client_capabilities.contains(&name);
        // The grammar has reported an unknown name.
        if Revision::ALL.iter().any(has) && !self.revisions.iter().any(has) {
            let message = format!("clients have no `{name}` in the revisions of `protocol`");
            self.problems.add(span, message);
        }
    }

    fn load_condition(&mut self, node: Option<&Node>) -> Condition {
        let Some(node) = node else { return Condition::default() };
        let headers = node.get("headers").map(|headers| {
            self.check_condition_headers(headers);
            let mut headers = headers.clone();
            if let sparring_script::NodeKind::Map(entries) = &mut headers.kind {
                entries.iter_mut().for_each(|entry| entry.key = entry.key.to_lowercase());
            }
            headers
        });
        Condition {
            args: node.get("args").map(|node| self.load_matcher(node)),
            headers: headers.map(|node| self.load_matcher(&node)),
            revision: node.get("revision").map(|node| self.load_matcher(node)),
            calls: node.get("calls").map(|node| self.load_matcher(node)),
        }
    }

    /// Refuses conditions on credentials: which reply is given would tell them to another client.
    fn check_condition_headers(&mut self, headers: &Node) {
        if !self.origin.is_client() {
            return;
        }
        for entry in headers.entries().iter().filter(|entry| is_secret_header(&entry.key)) {
            let message = format!("`{}`: a change over HTTP cannot use this header", entry.key);
            self.problems.add(entry.key_span, message);
        }
    }

    fn load_delay(&mut self, node: Option<&Node>) -> Option<Delay> {
        let node = node?;
        let times = one_or_many(node).iter().map(|node| parse_duration(node.as_str()?).ok());
        match times.collect::<Option<Vec<_>>>()?[..] {
            [time] => Some(Delay { min: time, max: time }),
            [min, max] if min <= max => Some(Delay { min, max }),
            _ => {
                self.problems.add(node.span, "give one duration, or minimum and maximum");
                None
            }
        }
    }

    fn load_body(&mut self, node: &Node, entry: &Node, kind: EntryKind) -> Body {
        let is_body_key = |key: &str| is_body(key, kind);
        let bodies_given: Vec<_> =
            node.entries().iter().filter(|it| is_body_key(&it.key)).collect();
        let exclusive = bodies_given
            .iter()
            .find(|it| ["error", "result", "raw", "http", "exec"].contains(&&*it.key));
        if let Some(exclusive) = exclusive
            && bodies_given.len() > 1
        {
            self.problems.add(exclusive.key_span, excludes_others(exclusive));
        }
        self.check_result_keys(node, entry, exclusive.copied());
        if has_fault(node) && (bodies_given.is_empty() || node.get("raw").is_some()) {
            return Body::Fixed(empty_result(kind));
        }
        if bodies_given.is_empty() && node.get("is_error").is_none() {
            self.problems.add(
                node.span,
                format!("the reply has no answer: give one of {}", body_key_list(kind)),
            );
            return Body::Fixed(RawJson::empty_object());
        }
        #[cfg(feature = "http")]
        if let Some(http) = node.get("http") {
            return Body::Http(Box::new(self.load_http_call(http)));
        }
        if let Some(exec) = node.get("exec") {
            return Body::Exec(Box::new(self.load_program(exec)));
        }
        if let Some(error) = node.get("error") {
            return self.load_error(error);
        }
        let result = match (node.get("result"), kind) {
            (Some(result), _) => self.load_tree(result),
            (None, EntryKind::Tool) => self.load_tool_result(node),
            (None, EntryKind::Resource | EntryKind::Template) => {
                self.load_resource_result(node, entry)
            }
            (None, EntryKind::Prompt) => self.load_prompt_result(node, entry),
        };
        // In an entry with one reply, `_meta` belongs to the entry.
        let result = match node.get("_meta").filter(|_| !std::ptr::eq(node, entry)) {
            Some(meta) => result.with_entry("_meta", self.load_tree(meta)),
            None => result,
        };
        match result.as_literal() {
            Some(value) => Body::Fixed(value.into()),
            None if node.get("structured").is_some() => Body::StructuredTemplate(result),
            None => Body::Template(result),
        }
    }

    /// Refuses keys that add to a result, beside a body that they cannot add to.
    fn check_result_keys(&mut self, node: &Node, entry: &Node, body: Option<&MapEntry>) {
        let Some(body) = body else { return };
        let is_result = body.key == "result";
        for other in node.entries() {
            let refused = match &*other.key {
                "is_error" => true,
                // In an entry with one reply, `_meta` belongs to the entry.
                "_meta" => !is_result && !std::ptr::eq(node, entry),
                _ => false,
            };
            if refused {
                self.problems.add(other.key_span, excludes_others(body));
            }
        }
    }

    fn load_error(&mut self, node: &Node) -> Body {
        let code = node.get("code").and_then(|code| code.to_json().as_i64());
        Body::Error {
            code: code.unwrap_or(code::INTERNAL_ERROR),
            message: node
                .get("message")
                .map_or(TemplateTree::Literal(Value::Null), |it| self.load_text(it)),
            data: node.get("data").map(|data| self.load_tree(data)),
        }
    }

    fn load_tool_result(&mut self, node: &Node) -> TemplateTree {
        let mut content = self.load_blocks(node);
        for block in node.get("content").map(Node::items).unwrap_or_default() {
            content.push(self.load_single_block(block));
        }
        let structured = node.get("structured").map(|structured| self.load_tree(structured));
        if let Some(structured) = &structured {
            // With templates, the text is made from the rendered value later: random values and
            // counters must be the same in both.
            let text = match structured.as_literal() {
                Some(_) => TemplateTree::json_text(structured.clone()),
                None => TemplateTree::Literal(Value::Null),
            };
            content.push(TemplateTree::map([
                ("type", TemplateTree::Literal(json!("text"))),
                ("text", text),
            ]));
        }
        let mut result = TemplateTree::map([("content", TemplateTree::list(content))]);
        if let Some(structured) = structured {
            result = result.with_entry("structuredContent", structured);
        }
        if let Some(is_error) = node.get("is_error").and_then(Node::as_bool) {
            result = result.with_entry("isError", TemplateTree::Literal(is_error.into()));
        }
        result
    }

    fn load_resource_result(&mut self, node: &Node, entry: &Node) -> TemplateTree {
        // A resource has only one URI, so it needs no template.
        let uri = match text(entry, "uri") {
            Some(uri) => TemplateTree::Literal(uri.into()),
            None => self.built_in_template("${uri}"),
        };
        let contents = self.load_resource_contents(node, uri, text(entry, "mime_type"));
        TemplateTree::map([("contents", TemplateTree::list(vec![contents]))])
    }

    fn load_prompt_result(&mut self, node: &Node, entry: &Node) -> TemplateTree {
        let messages = match (node.get("messages"), node.get("text")) {
            (Some(messages), None) => {
                messages.items().iter().map(|message| self.load_message(message)).collect()
            }
            (None, Some(_)) => vec![self.load_message(&with_only(node, "text"))],
            _ => {
                self.problems.add(node.span, "give either `messages` or `text`");
                Vec::new()
            }
        };
        let result = TemplateTree::map([("messages", TemplateTree::list(messages))]);
        match text(entry, "description") {
            Some(description) => {
                result.with_entry("description", TemplateTree::Literal(description.into()))
            }
            None => result,
        }
    }

    /// Loads the rounds of questions, and the names of all answers.
    pub(super) fn load_questions(&mut self, reply: &Node) -> (Vec<Round>, Vec<String>) {
        let mut names: Vec<String> = Vec::new();
        let mut rounds = Vec::new();
        for round in reply.get("ask").map(one_or_many).unwrap_or_default() {
            let mut questions = Round::new();
            for entry in round.entries() {
                if names.contains(&entry.key) {
                    let message = format!("duplicate question `{}`", entry.key);
                    self.problems.add(entry.key_span, message);
                }
                // Questions can use the answers of earlier rounds.
                self.answers.clone_from(&names);
                questions
                    .extend(self.load_question(&entry.value).map(|it| (entry.key.clone(), it)));
            }
            names.extend(round.entries().iter().map(|entry| entry.key.clone()));
            rounds.push(questions);
        }
        (rounds, names)
    }

    fn load_question(&mut self, node: &Node) -> Option<Question> {
        let [entry] = node.entries() else {
            let message = "give exactly one of elicitation, sampling, roots";
            self.problems.add(node.span, message);
            return None;
        };
        let kind = match &*entry.key {
            "elicitation" => QuestionKind::Elicitation,
            "sampling" => QuestionKind::Sampling,
            "roots" => QuestionKind::Roots,
            // The grammar has reported it.
            _ => return None,
        };
        self.check_client_capability(kind.capability().unwrap_or_default(), entry.key_span);
        let mut params = entry.value.clone();
        casing::rename_keys_to_wire(&mut params);
        Some(Question { kind, params: self.load_tree(&params) })
    }
}

/// The message about content beside a body that is the complete answer.
fn excludes_others(body: &MapEntry) -> String {
    format!("`{}` is the complete answer and excludes other content", body.key)
}

fn has_fault(reply: &Node) -> bool {
    reply.get("fault").is_some() || reply.get("raw").is_some()
}

/// Returns the smallest valid result, for replies that have only a fault.
fn empty_result(kind: EntryKind) -> RawJson {
    let field = match kind {
        EntryKind::Tool => "content",
        EntryKind::Resource | EntryKind::Template => "contents",
        EntryKind::Prompt => "messages",
    };
    json!({field: []}).into()
}

/// Returns a map with only one of its entries.
fn with_only(node: &Node, key: &str) -> Node {
    let entries = node.entries().iter().filter(|entry| entry.key == key).cloned().collect();
    Node { span: node.span, kind: sparring_script::NodeKind::Map(entries) }
}

/// Returns the keys of bodies.
fn body_keys(kind: EntryKind) -> Vec<&'static str> {
    let own: &[&str] = match kind {
        EntryKind::Tool => &["structured", "content", "http", "exec"],
        EntryKind::Resource | EntryKind::Template => &["text", "json", "blob", "file"],
        EntryKind::Prompt => &["text", "messages"],
    };
    let blocks: &[&str] = if kind == EntryKind::Tool { &BLOCKS } else { &[] };
    [blocks, own, &["error", "result", "raw"]].concat()
}

fn is_body(key: &str, kind: EntryKind) -> bool {
    body_keys(kind).contains(&key)
}

fn body_key_list(kind: EntryKind) -> String {
    body_keys(kind).join(", ")
}

/// Returns true if a key of an entry belongs to its only reply.
fn is_reply_key(key: &str, kind: EntryKind) -> bool {
    let others = ["requires", "ask", "during", "delay", "after", "fault", "is_error"];
    is_body(key, kind) || others.contains(&key)
}
