//! Expectations of tool calls: their number and their arguments. A failure shows the nearest
//! call and its differences.

use std::fmt;
use std::ops::RangeInclusive;

use serde_json::Value;
use sparring_script::matcher::MatchSummary;
use sparring_script::{Matcher, Mismatch, did_you_mean};

use super::ReceivedRequest;

/// An expectation of calls of one tool (default: at least one).
#[derive(Debug)]
#[must_use = "an expectation does nothing until it is checked"]
pub struct Expectation {
    tool: String,
    received: Vec<ReceivedRequest>,
    with: Option<Value>,
    times: RangeInclusive<usize>,
}

/// An expectation that was not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmetExpectation(String);

impl Expectation {
    pub(crate) fn new(tool: &str, received: Vec<ReceivedRequest>) -> Self {
        let received = received.into_iter().filter(|it| it.method() == "tools/call").collect();
        Expectation { tool: tool.to_owned(), received, with: None, times: 1..=usize::MAX }
    }

    /// Counts only calls whose arguments match: a map is a subset, and matchers are written by
    /// name.
    pub fn with(mut self, arguments: impl Into<Value>) -> Self {
        self.with = Some(arguments.into());
        self
    }

    /// Expects exactly this many calls.
    pub fn times(mut self, times: usize) -> Self {
        self.times = times..=times;
        self
    }

    /// Expects at least this many calls.
    pub fn at_least(mut self, times: usize) -> Self {
        self.times = times..=usize::MAX;
        self
    }

    /// Expects no call.
    pub fn never(self) -> Self {
        self.times(0)
    }

    /// Checks the expectation.
    ///
    /// # Errors
    /// If it is not met, with the nearest call; or if the matcher is not valid.
    pub fn check(&self) -> Result<(), UnmetExpectation> {
        let matcher = match &self.with {
            Some(with) => Matcher::from_json(with)
                .map_err(|problems| UnmetExpectation(problems.to_string()))?,
            None => Matcher::default(),
        };
        let calls = self.received.iter().filter(|it| it.name().as_deref() == Some(&*self.tool));
        let calls: Vec<Value> = calls.map(ReceivedRequest::arguments).collect();
        let mut doubt = None;
        let matched = MatchSummary::from_values(&calls, |arguments| {
            let mismatches = matcher.check(Some(arguments));
            if doubt.is_none() && mismatches.iter().all(|it| it.undecided) {
                doubt = mismatches.first().map(Mismatch::to_string);
            }
            mismatches
        });
        // The number of matching calls is not known then.
        if let Some(doubt) = doubt {
            return Err(UnmetExpectation(format!(
                "cannot check a call of `{}`: {doubt}",
                self.tool
            )));
        }
        if self.times.contains(&matched.matched) {
            return Ok(());
        }
        Err(UnmetExpectation(self.describe_miss(&matched, calls.is_empty())))
    }

    /// Fails the test if the expectation is not met.
    ///
    /// # Panics
    /// If the expectation is not met.
    #[track_caller]
    pub fn verify(&self) {
        if let Err(miss) = self.check() {
            panic!("{miss}");
        }
    }

    fn describe_miss(&self, matched: &MatchSummary<'_, Mismatch>, never_called: bool) -> String {
        let fit = matched.matched;
        let tool = &self.tool;
        let with = self.with.as_ref().map(|with| format!(" with {with}")).unwrap_or_default();
        let wanted = match (self.times.start(), self.times.end()) {
            (min, &usize::MAX) => format!("at least {min}"),
            (min, _) => min.to_string(),
        };
        let mut text = format!("'{tool}' was called {fit} times{with}, expected {wanted}");
        if fit >= *self.times.start() {
            return text;
        }
        if let Some((arguments, mismatches)) = &matched.nearest {
            text += &format!("; nearest call: {arguments}");
            text.extend(mismatches.iter().map(|mismatch| format!("\n  {mismatch}")));
        } else if never_called {
            let mut called: Vec<String> =
                self.received.iter().filter_map(ReceivedRequest::name).collect();
            called.sort();
            called.dedup();
            let suggestion = did_you_mean(tool, called.iter().map(String::as_str));
            text += &match (suggestion, called.is_empty()) {
                (Some(suggestion), _) => format!("; {suggestion}"),
                (None, false) => format!("; called: {}", called.join(", ")),
                (None, true) => "; no tool was called".to_owned(),
            };
        }
        text
    }
}

impl fmt::Display for UnmetExpectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnmetExpectation {}
