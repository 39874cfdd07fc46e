//! Which tests of which suites are to run.

use regex::Regex;

use crate::model::{Suite, Test};

/// What is chosen; nothing said is everything.
#[derive(Debug, Default)]
pub struct Choice {
    /// Tests whose name this matches.
    pub filter: Option<Regex>,
    /// Tests that have one of these tags.
    pub tags: Vec<String>,
}

/// Suites, and which of their tests are to run.
#[derive(Debug)]
pub struct Plan {
    suites: Vec<Suite>,
    tests: Vec<Place>,
}

/// A test by its numbers.
#[derive(Debug, Clone, Copy)]
struct Place {
    suite: usize,
    test: usize,
}

/// A test that is to run.
#[derive(Debug, Clone, Copy)]
pub struct Planned<'a> {
    /// Its place in the plan.
    pub number: usize,
    /// Its file.
    pub suite: &'a Suite,
    /// The test.
    pub test: &'a Test,
}

impl Plan {
    /// Chooses from suites, in their order.
    pub fn new(suites: Vec<Suite>, choice: &Choice) -> Plan {
        let mut tests = Vec::new();
        for (suite, read) in suites.iter().enumerate() {
            let chosen = read.tests.iter().enumerate().filter(|(_, test)| choice.takes(test));
            tests.extend(chosen.map(|(test, _)| Place { suite, test }));
        }
        Plan { suites, tests }
    }

    /// The suites, chosen from or not.
    pub fn suites(&self) -> &[Suite] {
        &self.suites
    }

    /// The tests that are to run, in their order.
    pub fn tests(&self) -> impl Iterator<Item = Planned<'_>> {
        self.tests.iter().enumerate().map(|(number, place)| {
            let suite = &self.suites[place.suite];
            Planned { number, suite, test: &suite.tests[place.test] }
        })
    }

    /// One of them, by its place in the plan.
    pub fn test(&self, number: usize) -> Option<Planned<'_>> {
        self.tests().nth(number)
    }

    /// How many are to run.
    pub fn len(&self) -> usize {
        self.tests.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// The tests that are to run, by their suites.
    pub(crate) fn by_suite(&self) -> Vec<(&Suite, Vec<Planned<'_>>)> {
        let mut all: Vec<(&Suite, Vec<Planned<'_>>)> = Vec::new();
        for planned in self.tests() {
            match all.last_mut() {
                Some((suite, tests)) if std::ptr::eq(*suite, planned.suite) => tests.push(planned),
                _ => all.push((planned.suite, vec![planned])),
            }
        }
        all
    }
}

impl Choice {
    fn takes(&self, test: &Test) -> bool {
        let tagged = self.tags.is_empty() || self.tags.iter().any(|tag| test.tags.contains(tag));
        tagged && self.filter.as_ref().is_none_or(|filter| filter.is_match(&test.name))
    }
}
