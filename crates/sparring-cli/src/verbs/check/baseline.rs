//! The baseline: the findings that a user accepts, in `spar-check.yaml`.
//!
//! An accepted finding names the rule, the item and the message. Digits of the message may
//! differ, because times, ports and ids change from run to run.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sparring_check::{Finding, Verdict, server_rules};
use sparring_script::grammar::{check_node, json_schema};
use sparring_script::{Key, Node, Object, Problems, Shape, Source, did_you_mean};
use sparring_suite::scaffold::quote_yaml;
use sparring_transport::{MAX_SCRIPT_BYTES, read_text_file};
use sparring_wire::Rule;

use super::rule_verdict::{RuleStatus, RuleVerdict};
use super::tool_uses::ToolUses;
use crate::command_error::CommandError;

/// The file that is read if it exists, in the current folder.
pub(super) const DEFAULT_FILE: &str = "spar-check.yaml";

/// The comment above the findings.
const HEADER: &str = "\
# Findings of `spar check` that are accepted: later runs fail only on others.
# `spar check --accept` writes this file and keeps the reasons. Digits of `finding` may differ.
";

static BASELINE: Object = Object {
    name: "a baseline",
    keys: &[&[
        Key::new("accepted", &Shape::List(&Shape::Object(&ACCEPTED)), "The findings.").required()
    ]],
};

static ACCEPTED: Object = Object {
    name: "an accepted finding",
    keys: &[&[
        Key::new("rule", &Shape::String, "The id of the rule.").required(),
        Key::new("about", &Shape::String, "The tool, resource or other item; not for the server."),
        Key::new("finding", &Shape::String, "The message. Its digits may differ.")
            .synonyms(&["message"])
            .required(),
        Key::new("reason", &Shape::String, "Why it is accepted.").synonyms(&["why", "because"]),
    ]],
};

/// Returns the JSON Schema of a baseline.
pub(crate) fn schema() -> Value {
    json_schema("Accepted findings of spar check", &BASELINE)
}

/// The accepted findings of a file.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    /// The path as the user typed it.
    pub(super) file: String,
    findings: Vec<AcceptedFinding>,
}

/// A finding that the user accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AcceptedFinding {
    pub(super) rule: Rule,
    /// The tool, resource or other item; empty for the server.
    pub(super) about: String,
    pub(super) finding: String,
    pub(super) reason: String,
    /// The line in the file.
    pub(super) line: usize,
}

impl Baseline {
    /// Reads a file. A missing file has no findings, unless it is required.
    ///
    /// # Errors
    /// When the file cannot be read, or has problems.
    pub(super) fn read(path: &Path, is_required: bool) -> Result<Baseline, CommandError> {
        let file = path.display().to_string();
        let text = match read_text_file(path, MAX_SCRIPT_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound && !is_required => {
                return Ok(Baseline { file, findings: Vec::new() });
            }
            Err(error) => {
                return Err(CommandError::File(format!("cannot read {file}: {error}")));
            }
        };
        let source = Source::new(file.as_str(), text);
        let findings = parse(&source).map_err(|problems| CommandError::Script(vec![problems]))?;
        Ok(Baseline { file, findings })
    }

    /// Returns the accepted finding that a finding of this rule is, if any.
    pub(super) fn find(&self, rule: Rule, finding: &Finding) -> Option<&AcceptedFinding> {
        self.find_text(rule, &finding.subject, &finding.message)
    }

    /// Returns the accepted reason why a rule is undecided, if any.
    pub(super) fn find_undecided(&self, verdict: &Verdict) -> Option<&AcceptedFinding> {
        self.find_text(verdict.rule, "", &undecided_text(verdict.reason()?))
    }

    fn find_text(&self, rule: Rule, about: &str, finding: &str) -> Option<&AcceptedFinding> {
        let is_same = |it: &&AcceptedFinding| {
            it.rule == rule && it.about == about && same(&it.finding, finding)
        };
        self.findings.iter().find(is_same)
    }

    /// Returns the accepted findings that the server no longer has. A rule that was not
    /// checked, or not for the item, says nothing about them.
    pub(super) fn gone(&self, all: &[RuleVerdict<'_>], uses: &ToolUses) -> Vec<&AcceptedFinding> {
        let is_gone = |accepted: &&AcceptedFinding| {
            let Some(verdict) = all.iter().find(|it| it.rule == accepted.rule) else {
                return false;
            };
            let is_decided =
                !matches!(verdict.status, RuleStatus::Undecided | RuleStatus::NotApplicable);
            let is_called = !uses.not_called.iter().any(|(tool, _)| *tool == accepted.about);
            is_decided && is_called && !verdict.uses(accepted)
        };
        self.findings.iter().filter(is_gone).collect()
    }

    /// Returns the text of a file that accepts the present findings, and their number. Keeps
    /// the reasons, and the findings of rules that were not checked. With `strict`, also
    /// accepts rules that could not be decided.
    pub(super) fn render_accepting(
        &self,
        all: &[RuleVerdict<'_>],
        strict: bool,
    ) -> (String, usize) {
        let checked: BTreeSet<Rule> = all.iter().map(|it| it.rule).collect();
        let mut accepted: Vec<AcceptedFinding> =
            self.findings.iter().filter(|it| !checked.contains(&it.rule)).cloned().collect();
        let reason = |known: Option<&AcceptedFinding>| {
            known.map(|known| known.reason.clone()).unwrap_or_default()
        };
        for verdict in all {
            let rule = verdict.rule;
            for found in verdict.findings() {
                let Finding { subject, message, .. } = found.finding;
                accepted.push(AcceptedFinding {
                    rule,
                    about: subject.clone(),
                    finding: message.clone(),
                    reason: reason(found.accepted),
                    line: 0,
                });
            }
            let known = |text: &str| self.find_text(rule, "", text);
            for (why, _) in verdict.all_reasons_undecided() {
                let finding = undecided_text(why);
                if strict || known(&finding).is_some() {
                    let reason = reason(known(&finding));
                    let about = String::new();
                    accepted.push(AcceptedFinding { rule, about, finding, reason, line: 0 });
                }
            }
        }
        accepted
            .sort_by(|a, b| (a.rule, &a.about, &a.finding).cmp(&(b.rule, &b.about, &b.finding)));
        accepted.dedup_by(|a, b| {
            a.rule == b.rule && a.about == b.about && same(&a.finding, &b.finding)
        });
        (render(&accepted), accepted.len())
    }

    /// Returns the path.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(&self.file)
    }
}

/// Returns the text of an undecided rule in a file.
fn undecided_text(reason: &str) -> String {
    format!("undecided: {reason}")
}

/// Returns true if two messages differ at most in digits and spaces.
fn same(one: &str, other: &str) -> bool {
    one == other || normalize(one) == normalize(other)
}

fn normalize(text: &str) -> String {
    let mut normalized = String::with_capacity(text.len());
    for c in text.split_whitespace().flat_map(|word| [" ", word]).flat_map(str::chars) {
        match c.is_ascii_digit() {
            true if normalized.ends_with('0') => {}
            true => normalized.push('0'),
            false => normalized.push(c),
        }
    }
    normalized
}

fn parse(source: &Source) -> Result<Vec<AcceptedFinding>, Problems> {
    let mut node = Node::parse(source)?;
    let mut problems = Problems::new(source);
    check_node(&mut node, &Shape::Object(&BASELINE), &mut problems);
    let items = node.get("accepted").map(Node::items).unwrap_or_default();
    let findings = items.iter().filter_map(|item| {
        let text = |key: &str| item.get(key).and_then(Node::as_str).unwrap_or_default().to_owned();
        let id = item.get("rule")?;
        let Some(rule) = id.as_str().and_then(Rule::from_id) else {
            let name = id.as_str()?;
            let help = did_you_mean(name, server_rules().map(Rule::id));
            problems.add_with_help(id.span, format!("no rule is named `{name}`"), help);
            return None;
        };
        let line = source.position(id.span.start).line;
        let (about, finding, reason) = (text("about"), text("finding"), text("reason"));
        Some(AcceptedFinding { rule, about, finding, reason, line })
    });
    let findings = findings.collect();
    problems.into_result(findings)
}

fn render(accepted: &[AcceptedFinding]) -> String {
    if accepted.is_empty() {
        return format!("{HEADER}accepted: []\n");
    }
    let mut text = format!("{HEADER}accepted:\n");
    for AcceptedFinding { rule, about, finding, reason, .. } in accepted {
        text.push_str(&format!("  - rule: {rule}\n"));
        if !about.is_empty() {
            text.push_str(&format!("    about: {}\n", quote_yaml(about)));
        }
        text.push_str(&format!("    finding: {}\n", quote_yaml(finding)));
        text.push_str(&format!("    reason: {}\n", quote_yaml(reason)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(finding: &str) -> AcceptedFinding {
        AcceptedFinding {
            rule: Rule::NotJson,
            about: "it's \"a\"\n: \u{1b}\u{85}\u{2028}\u{202e}\u{e0041}#".to_owned(),
            finding: finding.to_owned(),
            reason: "ünï 👩 # - {".to_owned(),
            line: 0,
        }
    }

    #[test]
    fn a_written_file_is_read_back() {
        for finding in ["", " x ", "a: b", "- x", "\t", "null", "1", "${x}", "\\"] {
            let expected = accepted(finding);
            let text = render(std::slice::from_ref(&expected));
            assert!(!text.contains(['\u{202e}', '\u{e0041}']), "{text}");
            let source = Source::new("a.yaml", text);
            let found = parse(&source).unwrap_or_else(|problems| panic!("{problems}"));
            assert_eq!(found.len(), 1);
            assert_eq!(AcceptedFinding { line: 0, ..found[0].clone() }, expected);
        }
        assert!(parse(&Source::new("a.yaml", render(&[]))).unwrap().is_empty());
    }

    #[test]
    fn digits_may_differ() {
        assert!(same("took 12 ms on port 80", "took 7 ms on port 4711"));
        assert!(!same("took 12 ms", "took 12 s"));
    }
}
