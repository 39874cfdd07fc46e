//! A violation: a rule of the protocol that a peer has broken.
//!
//! A violation is data, never an error of Sparring.

use std::borrow::Cow;

use crate::rule::{Rule, RuleLevel};

/// The maximum number of bytes of a path and of a message, which may contain texts of a peer.
const MAX_TEXT_BYTES: usize = 4096;

/// The maximum number of broken requirements of one frame, and of warnings.
const MAX_VIOLATIONS: usize = 64;

/// Returns true if a frame with these violations can have one more of this rule. Warnings have
/// a limit of their own, so that they never displace a broken requirement.
pub(crate) fn has_room(found: &[Violation], rule: Rule) -> bool {
    let level = |rule: Rule| rule.level() == RuleLevel::Must;
    found.iter().filter(|it| level(it.rule) == level(rule)).count() < MAX_VIOLATIONS
}

/// Drops the violations above the limits, the last ones first.
pub(crate) fn truncate(found: &mut Vec<Violation>) {
    let (mut requirements, mut warnings) = (0, 0);
    found.retain(|violation| {
        let count = if violation.is_warning() { &mut warnings } else { &mut requirements };
        *count += 1;
        *count <= MAX_VIOLATIONS
    });
}

/// One broken rule, found in a frame or in the frames of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The broken rule.
    pub rule: Rule,
    /// The path in the frame, such as `$.params.name`; `$` is the whole frame.
    pub path: String,
    /// The expected and the found value.
    pub message: String,
    /// The page and section of the specification, such as
    /// `2025-11-25/basic/lifecycle#initialization`; without the revision if it is
    /// not known yet.
    pub section: Cow<'static, str>,
}

impl Violation {
    /// Creates a violation of `rule` at `path`. Long texts are truncated.
    pub fn new(
        rule: Rule,
        path: impl Into<String>,
        message: impl Into<String>,
        section: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (path, message) = (truncate_text(path.into()), truncate_text(message.into()));
        Violation { rule, path, message, section: section.into() }
    }

    /// Returns true if the rule is not a requirement. A warning fails no test.
    pub fn is_warning(&self) -> bool {
        self.rule.level() != RuleLevel::Must
    }
}

/// Truncates a long text of a violation, and marks it with `…`.
pub fn truncate_text(mut text: String) -> String {
    if text.len() > MAX_TEXT_BYTES {
        let end = (0..=MAX_TEXT_BYTES).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or_default());
        text.push('…');
        text.shrink_to_fit();
    }
    text
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}: {}", self.rule, self.path, self.message)?;
        if !self.section.is_empty() {
            write!(f, " ({})", self.section)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncates_long_texts() {
        let long = "ä".repeat(5_000);
        let violation = Violation::new(Rule::IdNull, long.clone(), format!("x{long}"), "");
        for text in [&violation.path, &violation.message] {
            assert!(text.len() <= MAX_TEXT_BYTES + 3 && text.ends_with("ä…"), "{text}");
        }
    }

    #[test]
    fn shows_rule_path_message_and_section() {
        let mut violation = Violation::new(Rule::IdNull, "$.id", "found null", "basic#messages");
        assert_eq!(violation.to_string(), "wire/id-null at $.id: found null (basic#messages)");
        violation.section = "".into();
        assert_eq!(violation.to_string(), "wire/id-null at $.id: found null");
    }
}
