//! Refuses replies that are never given, as far as the script shows it.

use std::sync::Arc;

use serde_json::Value;
use sparring_script::matcher::MATCHER_NAMES;
use sparring_script::schema::Verdict;
use sparring_script::{Node, NodeKind, Problems, Schema, build_input_schema};

use super::Loader;
use crate::model::{EntryKind, Reply};

impl Loader<'_> {
    /// Refuses replies of an entry that are never given.
    pub(super) fn check_reachable(
        &mut self,
        entry: &Node,
        replies: &[Arc<Reply>],
        kind: EntryKind,
    ) {
        let nodes = entry.get("replies").map(Node::items).unwrap_or_default();
        let input = validated_input(entry, kind, &self.problems);
        let mut earlier: Vec<Value> = Vec::new();
        for (reply, node) in replies.iter().zip(nodes) {
            let when = node.get("when");
            let condition = match reply.when.accepts_all() {
                true => None,
                false => when.map(Node::to_json),
            };
            if earlier.contains(&Value::Null) {
                let message = "this reply is never reached: the one before it matches everything";
                self.problems.add(node.span, message);
                return;
            }
            if condition.as_ref().is_some_and(|condition| earlier.contains(condition)) {
                let message = "this reply is never reached: an earlier one has the same `when`";
                self.problems.add(node.span, message);
            }
            if reply.times.is_none() {
                earlier.push(condition.unwrap_or_default());
            }
            if let Some(when) = when {
                self.check_condition(when, reply, kind);
                self.check_argument_types(when, &input);
            }
        }
    }

    /// Refuses conditions that no request to such an entry meets.
    fn check_condition(&mut self, when: &Node, reply: &Reply, kind: EntryKind) {
        if let Some(args) = when.entry("args").filter(|_| kind == EntryKind::Resource) {
            let message = "this reply is never reached: a resource has no arguments";
            self.problems.add(args.key_span, message);
        }
        if let (Some(matcher), Some(node)) = (&reply.when.revision, when.get("revision"))
            && !self.revisions.iter().any(|it| matcher.check(Some(&it.name().into())).is_empty())
        {
            let message = "this reply is never reached: `protocol` has no such revision";
            self.problems.add(node.span, message);
        }
        if let Some(calls) = when.get("calls")
            && let NodeKind::Number(number) = &calls.kind
            && number.as_f64().is_some_and(|number| number < 1.0)
        {
            let message = "this reply is never reached: requests are counted from 1";
            self.problems.add(calls.span, message);
        }
    }

    /// Refuses conditions on arguments whose value the input schema refuses.
    fn check_argument_types(&mut self, when: &Node, input: &Value) {
        let arguments = when.get("args").map(Node::entries).unwrap_or_default();
        if arguments.iter().all(|it| MATCHER_NAMES.contains(&&*it.key)) {
            return;
        }
        for argument in arguments {
            let is_plain = match &argument.value.kind {
                NodeKind::Number(_) | NodeKind::Bool(_) => true,
                NodeKind::String(text) => !text.contains("${"),
                _ => false,
            };
            let schema = &input["properties"][&argument.key];
            // A reference needs the definitions of the whole schema.
            if !is_plain || !schema.is_object() || schema.to_string().contains("$ref") {
                continue;
            }
            let Ok(schema) = Schema::new(schema) else { continue };
            if let Verdict::Invalid(found) = schema.check(&argument.value.to_json(), 1) {
                let why = found.first().map(|it| &*it.message).unwrap_or_default();
                let message =
                    format!("this reply is never reached: the input schema refuses this: {why}");
                self.problems.add(argument.value.span, message);
            }
        }
    }
}

/// Returns the schema of the arguments that an entry accepts, if it validates them.
fn validated_input(entry: &Node, kind: EntryKind, problems: &Problems) -> Value {
    let validates = entry.get("validate").and_then(Node::as_bool) != Some(false);
    match (entry.get("input"), entry.get("input_schema")) {
        _ if kind != EntryKind::Tool || !validates => Value::Null,
        // Its problems are reported where it is loaded.
        (Some(short), _) => build_input_schema(short, &mut Problems::new(problems.source())),
        (None, schema) => schema.map(Node::to_json).unwrap_or_default(),
    }
}
