//! `spar test`: runs suites, and tells of each test.

mod last_failed;
mod round;
mod shard;
mod watch;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ColorChoice};
use sparring_script::Pattern;
use sparring_script::Problems;
use sparring_suite::{Choice, LoadError, Planned, Suite, Transport, World, find};
use sparring_wire::Revision;

use crate::args::Look;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;
use crate::report::{Asked, Ci, Reports};
use crate::signals::Signals;
use round::Around;
use shard::Part;

pub(crate) use last_failed::LastFailed;

const EXAMPLES: &str = "\
Examples:
  spar test
  spar test examples/weather.spar.yaml --filter '^London$'
  spar test suites more/suites --tag fast --fail-fast
  spar test --protocol 2025-11-25 --protocol 2026-07-28
  spar test --report junit=out.xml --report html=out.html
  spar test --check

Exit codes:
  0    every test that ran passed
  1    a test failed, also because its server could not start
  2    bad usage, or a suite that cannot be read or is wrong; then nothing ran;
       also when all is well but a report could not be written
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
    filter: Option<Pattern>,

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

    /// Write a report: junit, json, ndjson, tap, markdown, html, github, gitlab,
    /// agent; to a file, or to stdout instead of what is told there; may be repeated
    #[arg(
        long = "report",
        value_name = "NAME[=PATH]",
        conflicts_with_all = ["check", "list"],
        help_heading = "Output"
    )]
    reports: Vec<Asked>,

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
        let mut reports = Reports::new(&self.reports, Ci::of(&world.variables))?;
        let around = Around { printer, world, last_failed };
        if self.watch {
            return self.watch(around, &mut signals, &mut reports).await;
        }
        let paths = self.paths.clone();
        let read = move || {
            let files = find(&paths).map_err(|error| Failure::File(error.to_string()))?;
            all_good(files.iter().map(|file| Suite::from_file(file)))
        };
        let suites = signals.beside(read).await??;
        if suites.is_empty() {
            let paths: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
            let told = format!("there is no *.spar.yaml in {}", paths.join(", "));
            return around.nothing(&told, &mut signals, &mut reports).await;
        }
        if self.check {
            return tell_good(&suites, printer).await;
        }
        self.run_suites(suites, around, &mut signals, &mut reports).await
    }

    fn choice(&self) -> Choice {
        Choice {
            filter: self.filter.clone(),
            tags: self.tags.clone(),
            protocols: self.protocols.clone(),
            transports: self.transports.clone(),
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
