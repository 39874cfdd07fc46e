//! Whether what the templates of a test ask for will be there.

use sparring_mock::llm::OWN_ROOTS;
use sparring_script::{Node, Span, Tree, did_you_mean, template::Path};

use super::Loader;
use crate::model::Step;

/// The names that mean something everywhere.
pub(super) const RESERVED: [&str; 5] = ["env", "spar", "tmp", "mocks", "input"];

impl Loader {
    /// A name must be one of ours, or known before, or have been saved by an
    /// earlier step.
    pub(super) fn check_holes<'s>(
        &mut self,
        steps: impl Iterator<Item = &'s Step>,
        mut saved: Vec<&'s str>,
    ) {
        for step in steps {
            for tree in step.trees() {
                self.check_mocks_in(tree);
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

    /// The same of the turns that a test brings, before its first step.
    pub(super) fn check_turns(&mut self, turns: &Node, known: &[&str]) {
        // What is wrong with it as a template has been told.
        let tree = Tree::read(turns, &mut self.problems);
        self.check_mocks_in(&tree);
        for (path, span, optional) in tree.holes() {
            if !optional && !OWN_ROOTS.contains(&path.root()) {
                self.check_hole(path, span, known);
            }
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
