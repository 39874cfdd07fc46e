//! Collects findings about the definitions of a server, and turns them into outcomes.

use sparring_wire::Rule;

use crate::context::Context;
use crate::facts::Facts;
use crate::outcomes::beginning;
use crate::verdict::Finding;

/// The number of findings of one rule that are collected. Reports show fewer.
const MAX_FINDINGS: usize = 50;

/// The longest name in a message, in bytes.
const MAX_NAME: usize = 1_000;

/// Findings about the definitions of a server, each with its rule.
#[derive(Default)]
pub(super) struct DefinitionFindings(Vec<(Rule, Finding)>);

/// A kind of definition that a rule is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// The rule is about tools.
    Tools,
    /// The rule is about prompts.
    Prompts,
    /// The rule is about resources and their templates.
    Resources,
    /// The rule is about every definition, and about the server itself.
    Any,
}

impl DefinitionFindings {
    /// Adds a finding about an item.
    pub(super) fn add(&mut self, rule: Rule, subject: &str, message: impl Into<String>) {
        if self.0.iter().filter(|(known, _)| *known == rule).count() < MAX_FINDINGS {
            self.0.push((rule, Finding::new(message).about(subject)));
        }
    }

    /// Reports the findings of these rules. A rule without findings is kept, or does not apply
    /// if the server has nothing of its subject.
    pub(super) fn report(self, context: &Context, rules: &[(Rule, Subject)]) {
        for (rule, finding) in self.0 {
            context.fail(rule, finding);
        }
        for (rule, subject) in rules {
            match subject.reason_against(context.facts()) {
                Some(reason) => context.not_applicable(*rule, reason),
                None => context.pass(*rule),
            }
        }
    }

    /// Returns the rules and the subjects of the findings.
    #[cfg(test)]
    pub(super) fn found(&self) -> Vec<(Rule, &str)> {
        self.0.iter().map(|(rule, finding)| (*rule, &*finding.subject)).collect()
    }

    /// Returns the messages of the findings.
    #[cfg(test)]
    pub(super) fn messages(&self) -> Vec<&str> {
        self.0.iter().map(|(_, finding)| &*finding.message).collect()
    }
}

impl Subject {
    fn reason_against(self, facts: &Facts) -> Option<&'static str> {
        match self {
            Subject::Tools => facts.tools.is_empty().then_some("the server lists no tools"),
            Subject::Prompts => facts.prompts.is_empty().then_some("the server lists no prompts"),
            Subject::Resources => (facts.resources.is_empty() && facts.templates.is_empty())
                .then_some("the server lists no resources"),
            Subject::Any => None,
        }
    }
}

/// Returns the beginning of a name for messages and subjects.
pub(super) fn shown(name: &str) -> &str {
    beginning(name, MAX_NAME)
}

/// Returns the name of a definition.
pub(super) fn name_of(definition: &serde_json::Value) -> &str {
    definition["name"].as_str().unwrap_or_default()
}
