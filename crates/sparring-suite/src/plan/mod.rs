//! Which tests of which suites are to run, in which revisions and over which
//! transports.

mod shard;

use sparring_script::{GaveUp, Pattern};
use sparring_wire::Revision;

use crate::model::{Server, Suite, Test, Transport, Variant, Way};

pub use shard::{NoShard, Shard};

/// What is chosen; nothing said is everything.
#[derive(Debug, Default)]
pub struct Choice {
    /// Tests whose name this matches.
    pub filter: Option<Pattern>,
    /// Tests that have one of these tags.
    pub tags: Vec<String>,
    /// Once in each of these revisions, whatever the suites say.
    pub protocols: Vec<Revision>,
    /// Mocks once over each of these transports, whatever the suites say.
    pub transports: Vec<Transport>,
}

/// Suites, and which of their tests are to run.
#[derive(Debug, Default)]
pub struct Plan {
    suites: Vec<Suite>,
    tests: Vec<Place>,
    /// Combinations that were wanted and do not exist.
    left_out: Vec<Variant>,
}

/// A test by its numbers.
#[derive(Debug, Clone, Copy)]
struct Place {
    suite: usize,
    test: usize,
    variant: Variant,
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
    /// How it is run.
    pub variant: Variant,
}

impl Planned<'_> {
    /// The server that it is about; none where it only runs agents.
    pub fn server(&self) -> Option<&str> {
        let server = &self.suite.servers[self.test.server];
        (!matches!(server.way, Way::Nobody)).then_some(&*server.name)
    }
}

impl Plan {
    /// Chooses from suites, in their order; where a test says `only`, from
    /// those that say so. A suite with several variants is
    /// run through once for each.
    ///
    /// # Errors
    /// When the filter takes too many steps on the name of a test.
    pub fn new(suites: Vec<Suite>, choice: &Choice) -> Result<Plan, GaveUp> {
        let only = suites.iter().flat_map(|suite| &suite.tests).any(|test| test.only);
        let mut plan = Plan::default();
        for (number, suite) in suites.iter().enumerate() {
            let of_servers: Vec<Vec<Variant>> =
                suite.servers.iter().map(|server| choice.variants(server, suite)).collect();
            let mut chosen: Vec<usize> = Vec::new();
            for (index, test) in suite.tests.iter().enumerate() {
                if (test.only || !only) && choice.takes(test)? {
                    chosen.push(index);
                }
            }
            let mut all: Vec<Variant> = Vec::new();
            for variant in chosen.iter().flat_map(|test| &of_servers[suite.tests[*test].server]) {
                match variant.exists() {
                    true if !all.contains(variant) => all.push(*variant),
                    false if !plan.left_out.contains(variant) => plan.left_out.push(*variant),
                    _ => {}
                }
            }
            for variant in all {
                let has = |test: &&usize| of_servers[suite.tests[**test].server].contains(&variant);
                let places = chosen.iter().filter(has);
                plan.tests.extend(places.map(|test| Place { suite: number, test: *test, variant }));
            }
        }
        Ok(Plan { suites, ..plan })
    }

    /// The combinations of revision and transport that were wanted and do not
    /// exist.
    pub fn left_out(&self) -> &[Variant] {
        &self.left_out
    }

    /// The tests that are to run, in their order.
    pub fn tests(&self) -> impl Iterator<Item = Planned<'_>> {
        (0..self.tests.len()).filter_map(|number| self.test(number))
    }

    /// One of them, by its place in the plan.
    pub fn test(&self, number: usize) -> Option<Planned<'_>> {
        let place = self.tests.get(number)?;
        let suite = &self.suites[place.suite];
        Some(Planned { number, suite, test: &suite.tests[place.test], variant: place.variant })
    }

    /// Leaves out all but those that `wanted` takes.
    pub fn retain(&mut self, wanted: impl Fn(Planned<'_>) -> bool) {
        let taken: Vec<bool> = self.tests().map(wanted).collect();
        let mut taken = taken.into_iter();
        self.tests.retain(|_| taken.next().unwrap_or_default());
    }

    /// Leaves out all but the tests of one shard: neighbours, so that as few
    /// servers as possible are started in several.
    pub fn take_shard(&mut self, shard: Shard) {
        self.tests = shard.part_of(&self.tests).to_vec();
    }

    /// Puts the suites, and the tests of each, into an order that follows from
    /// the seed.
    pub fn shuffle(&mut self, seed: u64) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut suites: Vec<Vec<Place>> = Vec::new();
        for place in self.tests.drain(..) {
            match suites.last_mut() {
                Some(tests) if tests[0].suite == place.suite => tests.push(place),
                _ => suites.push(vec![place]),
            }
        }
        random.shuffle(&mut suites);
        suites.iter_mut().for_each(|tests| random.shuffle(tests));
        self.tests = suites.concat();
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
    fn takes(&self, test: &Test) -> Result<bool, GaveUp> {
        let tagged = self.tags.is_empty() || self.tags.iter().any(|tag| test.tags.contains(tag));
        match &self.filter {
            Some(filter) if tagged => filter.is_match(&test.name),
            _ => Ok(tagged),
        }
    }

    /// Every way in which the tests of a server are run.
    fn variants(&self, server: &Server, suite: &Suite) -> Vec<Variant> {
        let protocols = match server.way {
            Way::Nobody => vec![None],
            _ => either(&self.protocols, &server.protocols),
        };
        let beside = suite.transports();
        let transports = match server.way {
            Way::Mock(_) if beside.is_empty() || !server.transports.is_empty() => {
                either(&self.transports, &server.transports)
            }
            _ if beside.is_empty() => vec![None],
            // What is started beside a server cannot be in memory.
            _ => {
                let mut wanted = self.transports.clone();
                wanted.retain(|it| *it != Transport::Memory);
                either(&wanted, &beside)
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

/// What is wanted, or else what is said, or else nothing.
fn either<T: Copy>(wanted: &[T], said: &[T]) -> Vec<Option<T>> {
    let all = if wanted.is_empty() { said } else { wanted };
    match all.is_empty() {
        true => vec![None],
        false => all.iter().copied().map(Some).collect(),
    }
}
