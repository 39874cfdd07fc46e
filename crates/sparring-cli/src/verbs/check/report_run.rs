//! Converts a check into a [`Run`], the model of all report formats: a rule in a revision is a
//! test, and one that does not apply is skipped.

use std::path::Path;

use sparring_check::{Finding, ShownFrame};
use sparring_report::{
    Build, CheckedRule, FailedTry, Failure, Frame, Note, Outcome, Run, Sender, SourceLocation,
    Summary, Test, VERSION,
};
use sparring_transport::{Secrets, read_text_file};
use sparring_wire::{Rule, Side};

use super::Checked;
use super::repeat_command::RepeatCommand;
use super::rule_verdict::{RevisionVerdict, RuleStatus, RuleVerdict, section_url};

/// The largest file that counts as the source of the server.
const MAX_SOURCE_BYTES: u64 = 1024 * 1024;

/// Everything that a run is made of.
pub(super) struct RunSource<'a> {
    pub(super) checked: &'a Checked,
    pub(super) verdicts: &'a [RuleVerdict<'a>],
    pub(super) transport: &'a str,
    pub(super) repeat: &'a RepeatCommand,
    pub(super) build: Option<Build>,
    /// Warnings and undecided rules fail.
    pub(super) strict: bool,
    pub(super) secrets: &'a Secrets,
}

impl RunSource<'_> {
    /// Converts the check.
    pub(super) fn to_run(&self) -> Run {
        let name = self.checked.server_name();
        let server = self.mask(name.as_deref().unwrap_or("server"));
        let place = source_file(self.repeat).unwrap_or_else(SourceLocation::none);
        let verdicts = self.verdicts.iter().flat_map(RuleVerdict::by_revision);
        let tests: Vec<Test> = verdicts.map(|it| self.to_test(it, &server, &place)).collect();
        Run {
            version: VERSION,
            spar: env!("CARGO_PKG_VERSION").to_owned(),
            began: format!("{:.3}", self.checked.began),
            took_ms: self.checked.took.as_secs_f64() * 1e3,
            shard: None,
            build: self.build.clone(),
            stopped: false,
            summary: Summary::from_tests(&tests),
            tests,
        }
    }

    fn to_test(&self, it: &RevisionVerdict<'_>, server: &str, place: &SourceLocation) -> Test {
        let (rule, revision) = (it.verdict.rule, it.verdict.revision);
        let (area, _) = rule.id().split_once('/').unwrap_or_default();
        let (outcome, reason) = self.outcome(it);
        let mut failures = Vec::new();
        let mut notes = Vec::new();
        for (finding, accepted) in &it.findings {
            let message = self.message(finding);
            match (accepted, outcome) {
                (Some(accepted), _) => notes.push(Note {
                    accepted: Some(self.mask(&accepted.reason)),
                    ..Note::new(SourceLocation::none(), format!("accepted: {message}"))
                }),
                (None, Outcome::Failed) => failures.push(failure(message)),
                (None, _) => notes.push(Note::new(SourceLocation::none(), message)),
            }
        }
        if outcome == Outcome::Failed && failures.is_empty() {
            let why = it.verdict.reason().unwrap_or_default();
            failures.push(failure(self.mask(&format!("undecided: {why}"))));
        }
        let failed = FailedTry { failures, ..FailedTry::default() };
        Test {
            suite: server.to_owned(),
            name: rule.id().to_owned(),
            place: place.clone(),
            server: Some(server.to_owned()),
            protocol: Some(revision.name().to_owned()),
            transport: Some(self.transport.to_owned()),
            tags: vec![rule.level().name().to_owned(), area.to_owned()],
            rule: Some(checked_rule(rule)),
            outcome,
            reason,
            took_ms: 0.0,
            rerun_command: self.mask(&self.repeat.for_rule(rule, &[revision])),
            failed_tries: if outcome == Outcome::Failed { vec![failed] } else { Vec::new() },
            notes,
            timings: Vec::new(),
            frames: self.frames(it),
            frames_left_out: 0,
            frames_shared: false,
            transcript: Vec::new(),
            transcript_left_out: 0,
        }
    }

    /// Returns the outcome, and the reason of a test that is skipped. A rule that could not be
    /// decided does not count as passed.
    fn outcome(&self, it: &RevisionVerdict<'_>) -> (Outcome, Option<String>) {
        let reason = |prefix: &str| {
            let reason = it.verdict.reason().unwrap_or_default();
            Some(self.mask(&format!("{prefix}{reason}")))
        };
        match it.status {
            RuleStatus::Failed => (Outcome::Failed, None),
            RuleStatus::Warned | RuleStatus::Undecided if self.strict => (Outcome::Failed, None),
            RuleStatus::Undecided => (Outcome::Skipped, reason("undecided: ")),
            RuleStatus::Accepted if it.findings.is_empty() => {
                (Outcome::Skipped, reason("accepted: undecided: "))
            }
            RuleStatus::NotApplicable => (Outcome::Skipped, reason("not applicable: ")),
            RuleStatus::Warned | RuleStatus::Accepted | RuleStatus::Passed => {
                (Outcome::Passed, None)
            }
        }
    }

    fn message(&self, finding: &Finding) -> String {
        let about = match finding.subject.as_str() {
            "" => String::new(),
            subject => format!("{subject}: "),
        };
        let repeat = finding.command.as_ref().map(|it| format!(" (repeat: {it})"));
        self.mask(&format!("{about}{}{}", finding.message, repeat.unwrap_or_default()))
    }

    /// Returns the frames of all findings, each once.
    fn frames(&self, it: &RevisionVerdict<'_>) -> Vec<Frame> {
        let mut shown: Vec<&ShownFrame> = Vec::new();
        for frame in it.findings.iter().flat_map(|(finding, _)| &finding.frames) {
            if !shown.contains(&frame) {
                shown.push(frame);
            }
        }
        let frame = |frame: &ShownFrame| Frame {
            at_ms: 0.0,
            from: match frame.from {
                Side::Client => Sender::Client,
                Side::Server => Sender::Server,
            },
            text: self.mask(&frame.text),
            bytes: frame.text.len() + frame.omitted_bytes,
            status: None,
            violations: Vec::new(),
        };
        shown.into_iter().map(frame).collect()
    }

    fn mask(&self, text: &str) -> String {
        self.secrets.mask(text).into_owned()
    }
}

fn failure(message: String) -> Failure {
    let (place, source) = (SourceLocation::none(), String::new());
    Failure { place, span: 0..0, source, message, diff: None }
}

fn checked_rule(rule: Rule) -> CheckedRule {
    let entry = rule.entry();
    CheckedRule {
        id: entry.id.to_owned(),
        level: entry.level.name().to_owned(),
        summary: entry.summary.to_owned(),
        section: section_url(rule),
        advice: entry.advice.to_owned(),
    }
}

/// Returns the first file of text in the server's command, such as `server.py`. Readers of
/// reports show findings there.
fn source_file(repeat: &RepeatCommand) -> Option<SourceLocation> {
    let is_source = |word: &&str| {
        let path = Path::new(word);
        !path.is_absolute()
            && !word.starts_with("..")
            && read_text_file(path, MAX_SOURCE_BYTES).is_ok()
    };
    let file = repeat.command_words().find(is_source)?;
    Some(SourceLocation { file: file.to_owned(), line: 1, column: 1 })
}
