//! The verdict about one rule in one revision, and the findings that show a violation.

use sparring_wire::violation::truncate_text;
use sparring_wire::{Entry, Revision, Rule, RuleLevel, Side, Violation};

/// The verdict about one rule in one revision.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verdict {
    /// The rule.
    pub rule: Rule,
    /// The revision of the connections.
    pub revision: Revision,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcome of checking one rule.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The server kept the rule.
    Kept,
    /// The server broke the rule.
    Broken(Vec<Finding>),
    /// The rule does not apply to the server, for this reason.
    NotApplicable(String),
    /// The check could not find out, for this reason.
    Undecided(String),
}

/// A verdict in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// The server broke a requirement.
    Failed,
    /// The server broke a recommendation.
    Warned,
    /// The check could not find out.
    Undecided,
    /// The server kept the rule.
    Passed,
    /// The rule does not apply.
    NotApplicable,
}

impl Verdict {
    /// Returns the verdict in one word.
    pub fn status(&self) -> Status {
        match &self.outcome {
            Outcome::Kept => Status::Passed,
            Outcome::Broken(_) if self.rule.level() == RuleLevel::Must => Status::Failed,
            Outcome::Broken(_) => Status::Warned,
            Outcome::NotApplicable(_) => Status::NotApplicable,
            Outcome::Undecided(_) => Status::Undecided,
        }
    }

    /// Returns the findings; none if the server kept the rule.
    pub fn findings(&self) -> &[Finding] {
        match &self.outcome {
            Outcome::Broken(findings) => findings,
            _ => &[],
        }
    }

    /// Returns the reason why the rule does not apply, or could not be decided.
    pub fn reason(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::NotApplicable(reason) | Outcome::Undecided(reason) => Some(reason),
            Outcome::Kept | Outcome::Broken(_) => None,
        }
    }

    /// Returns the page and section of the specification, with the revision; empty if only
    /// Sparring has the rule.
    pub fn section(&self) -> String {
        match self.rule.entry().section {
            "" => String::new(),
            section => format!("{}/{section}", self.revision),
        }
    }
}

/// One violation, with the frames that show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The expected and the found behaviour.
    pub message: String,
    /// The tool, resource or other item that it is about; empty for the server.
    pub subject: String,
    /// The frames that show it, oldest first.
    pub frames: Vec<ShownFrame>,
    /// A command that repeats it, instead of a check of this rule alone.
    pub command: Option<String>,
}

/// A frame that a finding shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownFrame {
    /// The sender.
    pub from: Side,
    /// The beginning of the frame's text.
    pub text: String,
    /// The number of bytes that are left out.
    pub omitted_bytes: usize,
}

impl ShownFrame {
    /// The number of bytes of a frame that are shown.
    const MAX_BYTES: usize = 2_000;

    /// Shows these bytes.
    pub fn new(from: Side, bytes: &[u8]) -> Self {
        let shown = &bytes[..bytes.len().min(Self::MAX_BYTES)];
        ShownFrame {
            from,
            text: String::from_utf8_lossy(shown).trim_end().to_owned(),
            omitted_bytes: bytes.len() - shown.len(),
        }
    }
}

/// Returns true if a rule is about the metadata of all messages, which reports leave out of the
/// frames of other rules.
pub fn is_about_metadata(rule: Rule) -> bool {
    rule.id().starts_with("meta/")
        || matches!(rule, Rule::UnsupportedVersion | Rule::UnspokenVersion)
}

impl From<&Entry> for ShownFrame {
    fn from(entry: &Entry) -> Self {
        ShownFrame::new(entry.from, entry.frame.bytes())
    }
}

impl Finding {
    /// The number of frames that a finding shows.
    const MAX_FRAMES: usize = 6;

    /// Creates a finding without frames. A long message is truncated.
    pub fn new(message: impl Into<String>) -> Self {
        Finding { message: truncate_text(message.into()), ..Finding::default() }
    }

    /// Names the tool, resource or other item that the finding is about.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// Adds frames that show the violation; the last ones if there are many.
    #[must_use]
    pub fn with_frames<F: Into<ShownFrame>>(mut self, frames: impl IntoIterator<Item = F>) -> Self {
        self.frames.extend(frames.into_iter().map(Into::into));
        let superfluous = self.frames.len().saturating_sub(Self::MAX_FRAMES);
        self.frames.drain(..superfluous);
        self
    }

    /// Sets the command that repeats the violation.
    #[must_use]
    pub fn with_command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    /// Describes a violation that traffic shows.
    pub(crate) fn from_violation(violation: &Violation) -> Self {
        let Violation { path, message, .. } = violation;
        match path.as_str() {
            "$" | "" => Finding::new(message),
            path => Finding::new(format!("{path}: {message}")),
        }
    }
}
