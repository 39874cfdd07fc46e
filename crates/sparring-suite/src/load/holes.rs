//! Whether what the templates of a test ask for will be there.

use serde_json::{Map, Value};
use sparring_script::{Span, did_you_mean, template::Path};

use super::Loader;
use crate::model::{StandIn, Step};

/// The names that mean something everywhere.
pub(super) const RESERVED: [&str; 5] = ["env", "spar", "tmp", "mocks", "input"];

impl Loader<'_> {
    /// A name must be one of ours, a column of the table, or have been saved by
    /// an earlier step.
    pub(super) fn check_holes(
        &mut self,
        steps: &[Step],
        case: &Map<String, Value>,
        stand_ins: &[StandIn],
    ) {
        let mut saved: Vec<&str> = case.keys().map(String::as_str).collect();
        for step in steps {
            let patterns = step.expect.patterns().map(|pattern| pattern.holes());
            let answers = step.answers.0.iter().map(|(_, tree, _)| tree);
            for tree in step.verb.trees().into_iter().chain(patterns).chain(answers) {
                self.check_mocks_in(tree, stand_ins, &[]);
                for (path, span, optional) in tree.holes() {
                    if path.root() == "input" && !step.verb.is_agent() {
                        self.problems.add(span, "only an agent has an input");
                    } else if path.root() == "input" && step.verb.is_input(tree) {
                        self.problems.add(span, "the input cannot have itself in it");
                    } else if !optional {
                        self.check_hole(path, span, &saved);
                    }
                }
            }
            saved.extend(step.save.iter().map(|(name, _, _)| &**name));
        }
    }

    fn check_hole(&mut self, path: &Path, span: Span, saved: &[&str]) {
        let root = path.root();
        let known = || saved.iter().copied().chain(RESERVED);
        if !known().any(|name| name == root) {
            let help = did_you_mean(root, known()).or_else(|| {
                Some(format!("a variable of the environment is written ${{env:{root}}}"))
            });
            let message = format!("no earlier step saves `{root}`");
            self.problems.add_with_help(span, message, help);
        } else if root == "env" && path.segments.len() != 2 {
            self.problems.add(span, "write ${env:NAME}");
        }
    }
}
