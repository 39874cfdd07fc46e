//! Reads the answers of a step to requests of the server.

use serde_json::json;
use sparring_peer::client::Question;
use sparring_script::{Kind, Node, Tree, casing};

use super::{Loader, one_or_many};
use crate::model::{AnswerOrder, Answers};

impl Loader {
    pub(super) fn read_answers(&mut self, node: &Node) -> Answers {
        let entries = node.get("answer").map(Node::entries).unwrap_or_default();
        let mut answers = Vec::new();
        for entry in entries {
            let turns = match entry.value.kind {
                Kind::List(_) if entry.key != "roots" => AnswerOrder::Each,
                _ => AnswerOrder::Always,
            };
            let (question, tree) = match &*entry.key {
                // The names in the content are those of the server's form.
                "elicitation" => {
                    (Question::Elicitation, Tree::read(&entry.value, &mut self.problems))
                }
                "sampling" => {
                    let mut value = entry.value.clone();
                    casing::to_wire(&mut value);
                    (Question::Sampling, Tree::read(&value, &mut self.problems))
                }
                "roots" => (Question::Roots, self.read_roots(&entry.value)),
                _ => continue,
            };
            answers.push((question, tree, turns));
        }
        Answers(answers)
    }

    fn read_roots(&mut self, node: &Node) -> Tree {
        let root = |node| Tree::map([("uri", Tree::read(node, &mut self.problems).spelled())]);
        let roots = Tree::list(one_or_many(node).iter().map(root).collect());
        match roots.plain() {
            Some(roots) => Tree::Plain(json!({"roots": roots})),
            None => Tree::map([("roots", roots)]),
        }
    }
}
