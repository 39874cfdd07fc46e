//! Reads the answers of a step to requests of the server.

use serde_json::json;
use sparring_peer::client::ServerRequest;
use sparring_script::{Node, NodeKind, TemplateTree, casing};

use super::{Loader, one_or_many};
use crate::model::{AnswerOrder, Answers};

impl Loader {
    pub(super) fn read_answers(&mut self, node: &Node) -> Answers {
        let entries = node.get("answer").map(Node::entries).unwrap_or_default();
        let mut answers = Vec::new();
        for entry in entries {
            let turns = match entry.value.kind {
                NodeKind::List(_) if entry.key != "roots" => AnswerOrder::Each,
                _ => AnswerOrder::Always,
            };
            let (question, tree) = match &*entry.key {
                // The names in the content are those of the server's form.
                "elicitation" => (
                    ServerRequest::Elicitation,
                    TemplateTree::from_node(&entry.value, &mut self.problems),
                ),
                "sampling" => {
                    let mut value = entry.value.clone();
                    casing::rename_keys_to_wire(&mut value);
                    (ServerRequest::Sampling, TemplateTree::from_node(&value, &mut self.problems))
                }
                "roots" => (ServerRequest::Roots, self.read_roots(&entry.value)),
                _ => continue,
            };
            answers.push((question, tree, turns));
        }
        Answers(answers)
    }

    fn read_roots(&mut self, node: &Node) -> TemplateTree {
        let root = |node| {
            TemplateTree::map([(
                "uri",
                TemplateTree::from_node(node, &mut self.problems).into_text(),
            )])
        };
        let roots = TemplateTree::list(one_or_many(node).iter().map(root).collect());
        match roots.as_literal() {
            Some(roots) => TemplateTree::Literal(json!({"roots": roots})),
            None => TemplateTree::map([("roots", roots)]),
        }
    }
}
