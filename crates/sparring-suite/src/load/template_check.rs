//! Checks that the templates of a test use values that exist.

use sparring_mock::llm::TURN_ROOTS;
use sparring_script::{Node, Span, TemplateTree, did_you_mean, template::Path};

use super::Loader;
use crate::model::Step;

/// The names with a fixed meaning in every template.
pub(super) const RESERVED: [&str; 5] = ["env", "spar", "tmp", "mocks", "input"];

/// Returns true if a name looks like that of an environment variable, such as `MY_TOKEN`.
fn is_variable_name(name: &str) -> bool {
    !name.contains(|c: char| c.is_lowercase()) && name.contains(|c: char| c.is_uppercase())
}

impl Loader {
    /// Checks that each name is reserved, known, or saved by an earlier step.
    pub(super) fn check_templates<'s>(
        &mut self,
        steps: impl Iterator<Item = &'s Step>,
        mut saved: Vec<&'s str>,
    ) {
        for step in steps {
            for tree in step.trees() {
                self.check_mock_names(tree);
                for (path, span, optional) in tree.placeholders() {
                    if path.root() == "input" && !step.verb.is_agent() {
                        self.problems.add(span, "only an agent step has `${input}`");
                    } else if path.root() == "input" && step.verb.is_input(tree) {
                        self.problems.add(span, "`input` cannot use `${input}`");
                    } else if !optional {
                        self.check_name(path, span, &saved);
                    }
                }
            }
            saved.extend(step.save.iter().map(|(name, _, _)| &**name));
        }
    }

    /// Checks the templates in the turns of a test.
    pub(super) fn check_turns(&mut self, turns: &Node, known: &[&str]) {
        // Reading the turns reported invalid templates already.
        let tree = TemplateTree::from_node(turns, &mut self.problems);
        self.check_mock_names(&tree);
        for (path, span, optional) in tree.placeholders() {
            if !optional && !TURN_ROOTS.contains(&path.root()) {
                self.check_name(path, span, known);
            }
        }
    }

    fn check_name(&mut self, path: &Path, span: Span, saved: &[&str]) {
        let root = path.root();
        let known = || saved.iter().copied().chain(RESERVED);
        if !known().any(|name| name == root) {
            let variable = format!("for an environment variable, write ${{env:{root}}}");
            let meant = did_you_mean(root, known()).filter(|_| !is_variable_name(root));
            let help = Some(meant.unwrap_or(variable));
            let message = format!("no earlier step saves `{root}`");
            self.problems.add_with_help(span, message, help);
        } else if root == "env" && path.segments.len() != 2 {
            self.problems.add(span, "write ${env:NAME}");
        }
    }
}
