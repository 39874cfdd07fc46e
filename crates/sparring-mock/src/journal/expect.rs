//! Expectations of what came in: how often a tool was called, and with what. A
//! miss names the nearest call and shows what is different.

use std::fmt;
use std::ops::RangeInclusive;

use serde_json::Value;
use sparring_script::matcher::Held;
use sparring_script::{Matcher, Mismatch, did_you_mean};

use super::Received;

/// An expectation of calls of one tool; at least one where nothing else is said.
#[derive(Debug)]
#[must_use = "nothing is expected until it is checked"]
pub struct Expectation {
    tool: String,
    received: Vec<Received>,
    with: Option<Value>,
    times: RangeInclusive<usize>,
}

/// What was expected and did not come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss(String);

impl Expectation {
    pub(crate) fn new(tool: &str, received: Vec<Received>) -> Self {
        let received = received.into_iter().filter(|it| it.method() == "tools/call").collect();
        Expectation { tool: tool.to_owned(), received, with: None, times: 1..=usize::MAX }
    }

    /// Counts only calls whose arguments fit this, in the words of the language:
    /// a map is a subset, and matchers are known by their names.
    pub fn with(mut self, arguments: impl Into<Value>) -> Self {
        self.with = Some(arguments.into());
        self
    }

    /// Exactly so often.
    pub fn times(mut self, times: usize) -> Self {
        self.times = times..=times;
        self
    }

    /// So often or more.
    pub fn at_least(mut self, times: usize) -> Self {
        self.times = times..=usize::MAX;
        self
    }

    /// Never.
    pub fn never(self) -> Self {
        self.times(0)
    }

    /// Whether it came as expected.
    ///
    /// # Errors
    /// When it did not, with the nearest call; also when the matcher is wrong.
    pub fn check(&self) -> Result<(), Miss> {
        let matcher = match &self.with {
            Some(with) => Matcher::of(with).map_err(|problems| Miss(problems.to_string()))?,
            None => Matcher::default(),
        };
        let calls = self.received.iter().filter(|it| it.name().as_deref() == Some(&*self.tool));
        let calls: Vec<Value> = calls.map(Received::arguments).collect();
        let mut doubt = None;
        let held = Held::of(&calls, |arguments| {
            let unfit = matcher.check(Some(arguments));
            if doubt.is_none() && unfit.iter().all(|it| it.unsure) {
                doubt = unfit.first().map(Mismatch::to_string);
            }
            unfit
        });
        // How often it came is not known then.
        if let Some(doubt) = doubt {
            return Err(Miss(format!("a call of `{}`: {doubt}", self.tool)));
        }
        if self.times.contains(&held.fit) {
            return Ok(());
        }
        Err(Miss(self.told(&held, calls.is_empty())))
    }

    /// The same for a test, which fails by it.
    ///
    /// # Panics
    /// When it did not come as expected.
    #[track_caller]
    pub fn verify(&self) {
        if let Err(miss) = self.check() {
            panic!("{miss}");
        }
    }

    fn told(&self, held: &Held<'_, Mismatch>, never_called: bool) -> String {
        let fit = held.fit;
        let tool = &self.tool;
        let with = self.with.as_ref().map(|with| format!(" with {with}")).unwrap_or_default();
        let wanted = match (self.times.start(), self.times.end()) {
            (least, &usize::MAX) => format!("at least {least}"),
            (least, _) => least.to_string(),
        };
        let mut told = format!("'{tool}' was called {fit} times{with}, expected {wanted}");
        if fit >= *self.times.start() {
            return told;
        }
        if let Some((arguments, mismatches)) = &held.nearest {
            told += &format!("; the nearest call had {arguments}:");
            told.extend(mismatches.iter().map(|mismatch| format!("\n  {mismatch}")));
        } else if never_called {
            let mut others: Vec<String> = self.received.iter().filter_map(Received::name).collect();
            others.sort();
            others.dedup();
            let meant = did_you_mean(tool, others.iter().map(String::as_str));
            told += &match (meant, others.is_empty()) {
                (Some(meant), _) => format!("; {meant}"),
                (None, false) => format!("; called were {}", others.join(", ")),
                (None, true) => "; no tool was called at all".to_owned(),
            };
        }
        told
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Miss {}
