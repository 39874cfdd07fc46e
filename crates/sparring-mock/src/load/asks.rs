//! Questions to the client.

use sparring_peer::client::Question as Asked;
use sparring_script::{Node, casing};

use super::{Loader, one_or_many};
use crate::model::{Question, Round};

impl Loader<'_> {
    /// The rounds of questions, and the names of all answers.
    pub(super) fn asks(&mut self, reply: &Node) -> (Vec<Round>, Vec<String>) {
        let mut names: Vec<String> = Vec::new();
        let mut rounds = Vec::new();
        for round in reply.get("ask").map(one_or_many).unwrap_or_default() {
            let mut questions = Round::new();
            for entry in round.entries() {
                if names.contains(&entry.key) {
                    let message = format!("a second question of the name `{}`", entry.key);
                    self.problems.add(entry.key_span, message);
                }
                // What was answered before can be asked about.
                self.answers.clone_from(&names);
                questions.extend(self.question(&entry.value).map(|it| (entry.key.clone(), it)));
            }
            names.extend(round.entries().iter().map(|entry| entry.key.clone()));
            rounds.push(questions);
        }
        (rounds, names)
    }

    fn question(&mut self, node: &Node) -> Option<Question> {
        let [entry] = node.entries() else {
            let message = "a question is exactly one of elicitation, sampling, roots";
            self.problems.add(node.span, message);
            return None;
        };
        let what = match &*entry.key {
            "elicitation" => Asked::Elicitation,
            "sampling" => Asked::Sampling,
            "roots" => Asked::Roots,
            // The grammar has told it.
            _ => return None,
        };
        let mut params = entry.value.clone();
        casing::to_wire(&mut params);
        Some(Question { what, params: self.tree(&params) })
    }
}
