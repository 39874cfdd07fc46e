//! Selects the tests to run, with their revisions and transports.

mod shard;

use sparring_script::{BacktrackLimitExceeded, Pattern};
use sparring_wire::Revision;

use crate::model::{Server, ServerKind, Suite, Test, Transport, Variant};

pub use shard::{InvalidShard, Shard};

/// The options that select tests (default: all tests).
#[derive(Debug, Default)]
pub struct TestSelection {
    /// Selects tests whose name matches.
    pub filter: Option<Pattern>,
    /// Selects tests with one of these tags.
    pub tags: Vec<String>,
    /// Runs tests in these revisions instead of those of the suites.
    pub protocols: Vec<Revision>,
    /// Serves mocks over these transports instead of those of the suites.
    pub transports: Vec<Transport>,
}

/// Suites and the selected tests of a run, in order.
#[derive(Debug, Default)]
pub struct Plan {
    suites: Vec<Suite>,
    tests: Vec<TestIndex>,
    /// The requested combinations that do not exist.
    impossible: Vec<Variant>,
}

/// A test by its indices.
#[derive(Debug, Clone, Copy)]
struct TestIndex {
    suite: usize,
    test: usize,
    variant: Variant,
}

/// A test to run.
#[derive(Debug, Clone, Copy)]
pub struct PlannedTest<'a> {
    /// Its position in the plan.
    pub number: usize,
    /// Its suite.
    pub suite: &'a Suite,
    /// The test.
    pub test: &'a Test,
    /// Its revision and transport.
    pub variant: Variant,
}

impl PlannedTest<'_> {
    /// The name of its server; `None` if it only runs agents.
    pub fn server(&self) -> Option<&str> {
        let server = &self.suite.servers[self.test.server];
        (!matches!(server.kind, ServerKind::NoServer)).then_some(&*server.name)
    }
}

impl Plan {
    /// Selects tests from suites in order. If a test has `only`, selects only such tests.
    /// A suite with several variants runs once in each.
    ///
    /// # Errors
    /// When the filter takes too many steps on the name of a test.
    pub fn new(
        suites: Vec<Suite>,
        selection: &TestSelection,
    ) -> Result<Plan, BacktrackLimitExceeded> {
        let only = suites.iter().flat_map(|suite| &suite.tests).any(|test| test.only);
        let mut plan = Plan::default();
        for (number, suite) in suites.iter().enumerate() {
            let variants: Vec<Vec<Variant>> =
                suite.servers.iter().map(|server| selection.variants(server, suite)).collect();
            let mut selected: Vec<usize> = Vec::new();
            for (index, test) in suite.tests.iter().enumerate() {
                if (test.only || !only) && selection.matches(test)? {
                    selected.push(index);
                }
            }
            let mut all: Vec<Variant> = Vec::new();
            for variant in selected.iter().flat_map(|test| &variants[suite.tests[*test].server]) {
                match variant.exists() {
                    true if !all.contains(variant) => all.push(*variant),
                    false if !plan.impossible.contains(variant) => plan.impossible.push(*variant),
                    _ => {}
                }
            }
            for variant in all {
                let has = |test: &&usize| variants[suite.tests[**test].server].contains(&variant);
                let indices = selected.iter().filter(has);
                plan.tests.extend(indices.map(|test| TestIndex {
                    suite: number,
                    test: *test,
                    variant,
                }));
            }
        }
        Ok(Plan { suites, ..plan })
    }

    /// The requested combinations of revision and transport that do not exist.
    pub fn impossible(&self) -> &[Variant] {
        &self.impossible
    }

    /// The tests to run in order.
    pub fn tests(&self) -> impl Iterator<Item = PlannedTest<'_>> {
        (0..self.tests.len()).filter_map(|number| self.test(number))
    }

    /// A test by its position in the plan.
    pub fn test(&self, number: usize) -> Option<PlannedTest<'_>> {
        let index = self.tests.get(number)?;
        let suite = &self.suites[index.suite];
        Some(PlannedTest { number, suite, test: &suite.tests[index.test], variant: index.variant })
    }

    /// Keeps only the tests for which `wanted` returns true.
    pub fn retain(&mut self, wanted: impl Fn(PlannedTest<'_>) -> bool) {
        let kept: Vec<bool> = self.tests().map(wanted).collect();
        let mut kept = kept.into_iter();
        self.tests.retain(|_| kept.next().unwrap_or_default());
    }

    /// Keeps only the tests of one shard. They are adjacent, so that few servers start in
    /// several shards.
    pub fn take_shard(&mut self, shard: Shard) {
        self.tests = shard.part_of(&self.tests).to_vec();
    }

    /// Shuffles the suites, and the tests of each, by a seed.
    pub fn shuffle(&mut self, seed: u64) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut suites: Vec<Vec<TestIndex>> = Vec::new();
        for index in self.tests.drain(..) {
            match suites.last_mut() {
                Some(tests) if tests[0].suite == index.suite => tests.push(index),
                _ => suites.push(vec![index]),
            }
        }
        random.shuffle(&mut suites);
        suites.iter_mut().for_each(|tests| random.shuffle(tests));
        self.tests = suites.concat();
    }

    /// The number of tests.
    pub fn len(&self) -> usize {
        self.tests.len()
    }

    /// Returns true if the plan has no tests.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// The tests by suite.
    pub(crate) fn by_suite(&self) -> Vec<(&Suite, Vec<PlannedTest<'_>>)> {
        let mut all: Vec<(&Suite, Vec<PlannedTest<'_>>)> = Vec::new();
        for planned in self.tests() {
            match all.last_mut() {
                Some((suite, tests)) if std::ptr::eq(*suite, planned.suite) => tests.push(planned),
                _ => all.push((planned.suite, vec![planned])),
            }
        }
        all
    }
}

impl TestSelection {
    fn matches(&self, test: &Test) -> Result<bool, BacktrackLimitExceeded> {
        let tagged = self.tags.is_empty() || self.tags.iter().any(|tag| test.tags.contains(tag));
        match &self.filter {
            Some(filter) if tagged => filter.is_match(&test.name),
            _ => Ok(tagged),
        }
    }

    /// The variants in which the tests of a server run.
    fn variants(&self, server: &Server, suite: &Suite) -> Vec<Variant> {
        let protocols = match server.kind {
            ServerKind::NoServer => vec![None],
            _ => either(&self.protocols, &server.protocols),
        };
        let mock_transports = suite.transports();
        let transports = match server.kind {
            ServerKind::Mock(_) if mock_transports.is_empty() || !server.transports.is_empty() => {
                either(&self.transports, &server.transports)
            }
            _ if mock_transports.is_empty() => vec![None],
            // Mocks beside a server cannot be served in memory.
            _ => {
                let mut wanted = self.transports.clone();
                wanted.retain(|it| *it != Transport::Memory);
                either(&wanted, &mock_transports)
            }
        };
        let pairs = protocols.iter().flat_map(|protocol| {
            transports
                .iter()
                .map(|transport| Variant { protocol: *protocol, transport: *transport })
        });
        pairs.collect()
    }
}

/// The requested values, or else those of the suite, or else the default.
fn either<T: Copy>(wanted: &[T], own: &[T]) -> Vec<Option<T>> {
    let all = if wanted.is_empty() { own } else { wanted };
    match all.is_empty() {
        true => vec![None],
        false => all.iter().copied().map(Some).collect(),
    }
}
