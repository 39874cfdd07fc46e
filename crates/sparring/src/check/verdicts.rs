//! The verdicts of a check, and the assertion that a server keeps the rules.

use std::fmt::Write as _;

use sparring_check::{CheckReport, Facts, Problem, Status, Verdict};
use sparring_wire::{Revision, Rule, Side};

/// The number of problems that a failure prints, and of frames of each.
const MAX_PROBLEMS: usize = 20;
const MAX_FRAMES: usize = 4;

/// A longer frame is truncated.
const MAX_FRAME_CHARS: usize = 400;

/// The verdicts about a server, one for each rule and revision.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::MockServer;
/// use sparring::check::{Status, Verdicts};
///
/// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
/// let verdicts: Verdicts = sparring::check(mock).only("wire/").wait()?;
/// assert!(verdicts.iter().any(|verdict| verdict.status() == Status::Passed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Verdicts {
    report: CheckReport,
    is_strict: bool,
}

impl Verdicts {
    pub(super) fn new(report: CheckReport, is_strict: bool) -> Self {
        Verdicts { report, is_strict }
    }

    /// Asserts that the server broke no requirement; after
    /// [`strict`](super::Check::strict), no recommendation either. The message has the broken
    /// rules, the frames that show them, and what to change.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// sparring::check(mock).only("wire/").wait()?.assert_clean();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the server broke a rule.
    #[track_caller]
    pub fn assert_clean(&self) {
        let mut bad = self.problems();
        bad.retain(|problem| self.is_strict || problem.status == Status::Failed);
        assert!(bad.is_empty(), "{}", render(&bad));
    }

    /// Returns the broken and undecided rules: broken requirements first, then warnings, then
    /// undecided rules. The same finding in several revisions is one.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// assert!(sparring::check(mock).only("wire/").wait()?.problems().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn problems(&self) -> Vec<Problem> {
        self.report.problems()
    }

    /// Returns the verdicts by revision, oldest first.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let verdicts = sparring::check(mock).only("wire/not-json").wait()?;
    /// assert_eq!(verdicts.iter().count(), verdicts.revisions().len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &Verdict> {
        self.report.verdicts()
    }

    /// Returns the verdict about a rule in a revision, if it was checked there.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// use sparring::check::Status;
    /// use sparring::{Revision, Rule};
    ///
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let verdicts = sparring::check(mock).only("wire/").wait()?;
    /// let verdict = verdicts.find(Rule::NotJson, Revision::V2025_11_25).unwrap();
    /// assert_eq!(verdict.status(), Status::Passed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find(&self, rule: Rule, revision: Revision) -> Option<&Verdict> {
        self.report.verdict(rule, revision)
    }

    /// Returns the revisions that the server speaks, oldest first.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// assert_eq!(sparring::check(mock).only("wire/").wait()?.revisions().len(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn revisions(&self) -> Vec<Revision> {
        self.report.revisions.iter().map(|it| it.revision).collect()
    }

    /// Returns what the server says about itself in a revision, if it speaks it.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{MockServer, Revision};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let verdicts = sparring::check(mock).only("wire/").wait()?;
    /// assert!(verdicts.facts(Revision::V2025_11_25).unwrap().tool("greet").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn facts(&self, revision: Revision) -> Option<&Facts> {
        let mut revisions = self.report.revisions.iter();
        revisions.find(|it| it.revision == revision).map(|it| &it.facts)
    }
}

/// Renders problems with their frames and advice.
fn render(problems: &[Problem]) -> String {
    let mut text = match problems.len() {
        1 => "the server broke a rule:".to_owned(),
        count => format!("the server broke {count} rules:"),
    };
    for problem in problems.iter().take(MAX_PROBLEMS) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n- {problem}");
        for frame in problem.frames.iter().take(MAX_FRAMES) {
            let direction = match frame.from {
                Side::Client => "->",
                Side::Server => "<-",
            };
            let shown: String = frame.text.chars().take(MAX_FRAME_CHARS).collect();
            let _ = write!(text, "\n    {direction} {shown}");
        }
        let _ = write!(text, "\n  change: {}", problem.rule.entry().advice);
    }
    if let Some(more @ 1..) = problems.len().checked_sub(MAX_PROBLEMS) {
        let _ = write!(text, "\nand {more} more");
    }
    text
}
