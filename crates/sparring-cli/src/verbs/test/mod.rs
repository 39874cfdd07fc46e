//! `spar test`: runs suites, and tells of each test.

mod last_failed;
mod shard;
mod watch;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ColorChoice};
use regex::Regex;
use sparring_script::Problems;
use sparring_suite::{
    Choice, LoadError, Options, Plan, Planned, Stop, Suite, Transport, World, find, run,
};
use sparring_wire::Revision;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::args::Look;
use crate::exit::{Exit, Signal};
use crate::failure::Failure;
use crate::output::Printer;
use crate::report::Report;
use crate::signals::Signals;
use shard::Part;

pub(crate) use last_failed::LastFailed;

/// How often it is shown how far a run is.
const TICK: Duration = Duration::from_millis(100);

const EXAMPLES: &str = "\
Examples:
  spar test
  spar test examples/weather.spar.yaml --filter '^London$'
  spar test suites more/suites --tag fast --fail-fast
  spar test --protocol 2025-11-25 --protocol 2026-07-28
  spar test --check

Exit codes:
  0    every test that ran passed
  1    a test failed, also because its server could not start
  2    bad usage, or a suite that cannot be read or is wrong; then nothing ran
  4    no test ran: none was found or chosen, or all were skipped
  130  Ctrl+C (143 SIGTERM, 129 SIGHUP); what ran is reported";

/// Run suites of tests
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Test {
    /// Suites, or folders to look for *.spar.yaml in
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,

    /// Only check the suites, and the scripts of their mocks
    #[arg(long, conflicts_with = "list")]
    check: bool,

    /// Only list the tests that would run
    #[arg(long)]
    list: bool,

    /// Run the tests whose name this regular expression matches
    #[arg(long, value_name = "REGEX")]
    filter: Option<Regex>,

    /// Run the tests that have this tag; may be repeated, one of them is enough
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Run in this revision, whatever the suites say; may be repeated
    #[arg(long = "protocol", value_name = "REVISION", value_parser = revision())]
    protocols: Vec<Revision>,

    /// Serve mocks over this transport, whatever the suites say; may be repeated
    #[arg(long = "transport", value_name = "WAY", value_parser = transport())]
    transports: Vec<Transport>,

    /// Run the tests that failed when they last ran
    #[arg(long)]
    last_failed: bool,

    /// Run one part of the tests, as 2/5; auto takes it from the variables of the
    /// CI system (CI_NODE_INDEX, CIRCLE_NODE_INDEX, BUILDKITE_PARALLEL_JOB,
    /// JOB_COMPLETION_INDEX), auto/5 of how many where they do not say
    #[arg(long, value_name = "K/N")]
    shard: Option<Part>,

    /// Run suites and tests in an order that follows from this number, or from
    /// any: random
    #[arg(long, value_name = "SEED", value_parser = seed)]
    shuffle: Option<u64>,

    /// Try tests that fail so often again, where they do not say it themselves
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    retry: u64,

    /// Stop at the first test that fails
    #[arg(long)]
    fail_fast: bool,

    /// How many suites run at once; as many as there are cores where nothing is
    /// said
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Keep the answers of `snapshot: true` as they are now; refused where CI is
    /// set
    #[arg(long)]
    update: bool,

    /// Run again what a change touches, until Ctrl+C: of a suite, of the scripts
    /// of its mocks, of the files that its `watch` names
    #[arg(long, conflicts_with_all = ["check", "list"])]
    watch: bool,

    /// Tell only of tests that failed, and the last line
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    /// Tell how long answers took, for each tool: p50, p95, max
    #[arg(long, help_heading = "Output")]
    timings: bool,

    /// When to use colours; NO_COLOR is respected
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    color: ColorChoice,
}

impl Test {
    /// How to tell of it.
    pub(super) fn look(&self) -> Look {
        Look { json: false, quiet: self.quiet, color: self.color }
    }

    /// Loads everything, and runs what was chosen.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        mut signals: Signals,
        world: &World,
        last_failed: LastFailed<'_>,
    ) -> Result<Exit, Failure> {
        if is_ci(world) && self.update {
            let told = "--update is refused where CI is set: nobody would see what it keeps";
            return Err(Failure::Usage(told.to_owned()));
        }
        if self.watch {
            return self.watch(printer, &mut signals, world, last_failed).await;
        }
        let paths = self.paths.clone();
        let read = move || {
            let files = find(&paths).map_err(|error| Failure::File(error.to_string()))?;
            all_good(files.iter().map(|file| Suite::from_file(file)))
        };
        let suites = signals.beside(read).await??;
        if suites.is_empty() {
            let paths: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
            printer.error(&format!("there is no *.spar.yaml in {}", paths.join(", "))).await;
            return Ok(Exit::Nothing);
        }
        if self.check {
            return tell_good(&suites, printer).await;
        }
        self.run_suites(suites, printer, &mut signals, world, last_failed).await
    }

    /// Runs what was chosen of these.
    async fn run_suites(
        &self,
        suites: Vec<Suite>,
        printer: &Printer,
        signals: &mut Signals,
        world: &World,
        last_failed: LastFailed<'_>,
    ) -> Result<Exit, Failure> {
        if is_ci(world) {
            refuse_only(&suites)?;
        }
        let mut plan = Plan::new(suites, &self.choice());
        for variant in plan.left_out() {
            printer.note(&format!("there is no{variant}, and no test is run in it")).await;
        }
        if plan.is_empty() {
            printer.error("no test has such a name and such a tag").await;
            return Ok(Exit::Nothing);
        }
        if let Some(told) = self.narrow(&mut plan, world, last_failed)? {
            printer.error(&told).await;
            return Ok(Exit::Nothing);
        }
        if let Some(seed) = self.shuffle {
            plan.shuffle(seed);
            printer.note(&format!("the order is that of --shuffle {seed}")).await;
        }
        if self.list {
            let lines: String = plan.tests().map(listed).collect();
            return printer.print(&lines).await.map(|()| Exit::Good);
        }
        let mut report = Report::new(&plan, printer);
        let signal = self.follow(&plan, &mut report, signals, world).await?;
        if let Err(error) = last_failed.keep(report.ended()) {
            printer.note(&format!("which tests failed cannot be kept: {error}")).await;
        }
        let exit = report.end(self.timings).await;
        match signal {
            Some(signal) => Err(Failure::Stopped(signal)),
            None => exit,
        }
    }

    /// Leaves out what has passed before and what other machines run, and says
    /// why nothing is left.
    fn narrow(
        &self,
        plan: &mut Plan,
        world: &World,
        last_failed: LastFailed<'_>,
    ) -> Result<Option<String>, Failure> {
        if self.last_failed {
            plan.retain(last_failed.filter()?);
            if plan.is_empty() {
                return Ok(Some("no test failed when it last ran".to_owned()));
            }
        }
        if let Some(part) = self.shard {
            let shard = part.shard(&world.variables).map_err(Failure::Usage)?;
            let all = plan.len();
            plan.take_shard(shard);
            if plan.is_empty() {
                return Ok(Some(format!("there are not enough tests for shard {shard}: {all}")));
            }
        }
        Ok(None)
    }

    fn choice(&self) -> Choice {
        Choice {
            filter: self.filter.clone(),
            tags: self.tags.clone(),
            protocols: self.protocols.clone(),
            transports: self.transports.clone(),
        }
    }

    /// Runs, and reports meanwhile. The first signal ends the run in good order,
    /// a second one at once.
    async fn follow(
        &self,
        plan: &Plan,
        report: &mut Report<'_>,
        signals: &mut Signals,
        world: &World,
    ) -> Result<Option<Signal>, Failure> {
        let stop = Stop::default();
        let (tell, mut events) = mpsc::unbounded_channel();
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let options = Options {
            jobs: self.jobs.unwrap_or_else(cores),
            fail_fast: self.fail_fast,
            retry: self.retry,
            update: self.update,
        };
        let running = run(plan, options, world, &stop, tell);
        let reporting = async {
            let mut ticks = interval(TICK);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    biased;
                    event = events.recv() => match event {
                        Some(event) => report.take(event).await,
                        None => break,
                    },
                    _ = ticks.tick() => report.tick().await,
                }
            }
        };
        let both = async { tokio::join!(running, reporting) };
        tokio::pin!(both);
        let mut asked = None;
        loop {
            tokio::select! {
                biased;
                signal = signals.next() => match asked {
                    Some(_) => return Err(Failure::Stopped(signal)),
                    None => {
                        asked = Some(signal);
                        stop.ask();
                    }
                },
                _ = &mut both => return Ok(asked),
            }
        }
    }
}

/// Every suite; all that is wrong with any of them is told at once.
fn all_good(
    read: impl IntoIterator<Item = Result<Suite, LoadError>>,
) -> Result<Vec<Suite>, Failure> {
    let mut suites = Vec::new();
    let mut wrong: Vec<Problems> = Vec::new();
    for suite in read {
        match suite {
            Ok(suite) => suites.push(suite),
            Err(LoadError::Wrong(problems)) => {
                // Two suites may have the same mock.
                wrong.extend(
                    problems.into_iter().filter(|it| !wrong.contains(it)).collect::<Vec<_>>(),
                );
            }
            Err(error) => return Err(Failure::File(error.to_string())),
        }
    }
    if wrong.is_empty() { Ok(suites) } else { Err(Failure::Script(wrong)) }
}

fn is_ci(world: &World) -> bool {
    world.variables.get("CI").is_some_and(|ci| !ci.is_empty() && ci != "false")
}

/// A test that was singled out while somebody worked on it must not keep all
/// others from running where nobody looks.
fn refuse_only(suites: &[Suite]) -> Result<(), Failure> {
    let mut wrong = Vec::new();
    for suite in suites {
        let mut problems = Problems::new(&suite.source);
        for test in suite.tests.iter().filter(|test| test.only) {
            problems.add(test.span, "`only` is refused where CI is set");
        }
        wrong.extend(Some(problems).filter(|problems| !problems.is_empty()));
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failure::Script(wrong)) }
}

fn listed(planned: Planned<'_>) -> String {
    let tags: String = planned.test.tags.iter().map(|tag| format!(" [{tag}]")).collect();
    let Planned { suite, test, variant, .. } = planned;
    format!("{}: {}{variant}{tags}\n", suite.name(), test.name)
}

/// A number, or one that nobody has chosen.
fn seed(text: &str) -> Result<u64, String> {
    match text {
        // Small enough to be typed again.
        "random" => Ok(u64::from(fastrand::u32(..))),
        text => text.parse().map_err(|_| "a number, or random".to_owned()),
    }
}

fn revision() -> impl TypedValueParser<Value = Revision> {
    PossibleValuesParser::new(Revision::ALL.map(Revision::name))
        .try_map(|name| Revision::from_name(&name).ok_or("there is no such revision"))
}

fn transport() -> impl TypedValueParser<Value = Transport> {
    PossibleValuesParser::new(Transport::ALL.map(Transport::name))
        .try_map(|name| Transport::from_name(&name).ok_or("there is no such transport"))
}

async fn tell_good(suites: &[Suite], printer: &Printer) -> Result<Exit, Failure> {
    let tests: usize = suites.iter().map(|suite| suite.tests.len()).sum();
    let counted = |count, what| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (suites, tests) = (counted(suites.len(), "suite"), counted(tests, "test"));
    printer.print(&format!("{suites} with {tests}: all good\n")).await?;
    Ok(Exit::Good)
}
