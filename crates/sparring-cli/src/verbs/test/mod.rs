//! `spar test`: runs suites and reports each test.

mod last_failed;
mod shard;
mod test_list;
mod test_path;
mod test_run;
mod watch;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ColorChoice};
use sparring_script::Pattern;
use sparring_script::Problems;
use sparring_suite::{LoadError, RunContext, Suite, TestSelection, Transport, find};
use sparring_wire::Revision;

use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::output::Printer;
use crate::report::{Ci, ReportRequest, Reports};
use crate::signals::Signals;
use shard::ShardFlag;
use test_path::TestPath;
use test_run::TestCommand;

pub(crate) use last_failed::LastFailed;

const EXAMPLES: &str = "\
Examples:
  spar test
  spar test examples/weather.spar.yaml --filter '^London$'
  spar test examples/weather.spar.yaml:12
  spar test suites more/suites --tag fast --fail-fast
  spar test --protocol 2025-11-25 --protocol 2026-07-28
  spar test --report junit=out.xml --report html=out.html
  spar test --report html
  spar test --list --json
  spar test --check

With --list --json: {\"tests\":[{\"name\":…,\"file\":…,\"line\":…,\"tags\":[…],
\"variants\":[{\"protocol\":…,\"transport\":…}]}]}; a variant names only what its suite
or a flag selects.

Exit codes:
  0    all tests that ran passed
  1    a test failed, or its server could not start
  2    wrong arguments, or a suite with problems (nothing ran); also if all tests passed
       but a report could not be written
  4    no test ran: none was found or selected, or all were skipped
  130  Ctrl+C (143 SIGTERM, 129 SIGHUP); finished tests are reported";

/// Run suites of tests
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Test {
    /// Suites, folders to search for *.spar.yaml, or FILE:LINE for the test at that line
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<TestPath>,

    /// Check the suites and the scripts of their mocks, and exit
    #[arg(long, conflicts_with = "list")]
    check: bool,

    /// List the tests that would run, and exit
    #[arg(long)]
    list: bool,

    /// Print the list as JSON, with file, line, tags and variants of each test
    #[arg(long, requires = "list", help_heading = "Output")]
    json: bool,

    /// Run only tests whose name matches this regular expression
    #[arg(long, value_name = "REGEX")]
    filter: Option<Pattern>,

    /// Run only tests with this tag; may be repeated, one matching tag is enough
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Run with this revision instead of those in the suites; may be repeated
    #[arg(long = "protocol", value_name = "REVISION", value_parser = revision_parser())]
    protocols: Vec<Revision>,

    /// Serve mocks over this transport instead of those in the suites; may be repeated
    #[arg(long = "transport", value_name = "TRANSPORT", value_parser = transport_parser())]
    transports: Vec<Transport>,

    /// Run only tests that failed in their last run
    #[arg(long)]
    last_failed: bool,

    /// Run one shard of the tests, for example 2/5; auto reads the variables of the CI
    /// system (CI_NODE_INDEX, CIRCLE_NODE_INDEX, BUILDKITE_PARALLEL_JOB,
    /// JOB_COMPLETION_INDEX), auto/5 sets the number of shards if they do not
    #[arg(long, value_name = "K/N")]
    shard: Option<ShardFlag>,

    /// Run suites and tests in the order of this seed, or of a random one: random
    #[arg(long, value_name = "SEED", value_parser = parse_seed)]
    shuffle: Option<u64>,

    /// Retry failed tests up to N times, unless the test sets its own number
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    retry: u64,

    /// Stop after the first failed test
    #[arg(long)]
    fail_fast: bool,

    /// Fail a test also for a warning: a broken rule of the level `should`
    #[arg(long)]
    strict: bool,

    /// Number of suites that run at once [default: the number of cores]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Update the snapshots of `snapshot: true`; refused if CI is set
    #[arg(long)]
    update: bool,

    /// Rerun suites when their files change, until Ctrl+C: the suite, the scripts of its
    /// mocks, and the files in its `watch`
    #[arg(long, conflicts_with_all = ["check", "list"])]
    watch: bool,

    /// Write a report: junit, json, ndjson, tap, markdown, html, github, gitlab, sarif,
    /// agent; to a file, or to stdout instead of the terminal report; html without a file
    /// writes spar-report.html; may be repeated
    #[arg(
        long = "report",
        value_name = "NAME[=PATH]",
        conflicts_with_all = ["check", "list"],
        help_heading = "Output"
    )]
    reports: Vec<ReportRequest>,

    /// Print only failed tests and the summary
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    /// List every test, also those that pass or are skipped
    #[arg(long, short, conflicts_with = "quiet", help_heading = "Output")]
    verbose: bool,

    /// Print response times for each tool: p50, p95, max
    #[arg(long, help_heading = "Output")]
    timings: bool,

    /// When to use colours; NO_COLOR turns them off
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    color: ColorChoice,

    /// Print nothing to stdout; only other verbs set this.
    #[arg(skip)]
    silent: bool,
}

impl Test {
    /// Runs all tests of one file; prints nothing to stdout if `silent` is true.
    pub(crate) fn of_file(file: PathBuf, silent: bool) -> Test {
        Test {
            paths: vec![TestPath::whole(file)],
            check: false,
            list: false,
            json: false,
            filter: None,
            tags: Vec::new(),
            protocols: Vec::new(),
            transports: Vec::new(),
            last_failed: false,
            shard: None,
            shuffle: None,
            retry: 0,
            fail_fast: false,
            strict: false,
            jobs: None,
            update: false,
            watch: false,
            reports: Vec::new(),
            quiet: false,
            verbose: false,
            timings: false,
            color: ColorChoice::Auto,
            silent,
        }
    }

    pub(crate) fn output_flags(&self) -> OutputFlags {
        OutputFlags { json: self.json, quiet: self.quiet, color: self.color }
    }

    /// Loads the suites, and runs the selected tests.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        mut signals: Signals,
        context: &RunContext,
        last_failed: LastFailed<'_>,
    ) -> Result<Exit, CommandError> {
        if is_ci(context) && self.update {
            let message = "--update is refused if CI is set: the new snapshots would be lost";
            return Err(CommandError::Usage(message.to_owned()));
        }
        let mut reports = Reports::new(&self.reports, Ci::from_variables(&context.variables))?;
        let command = TestCommand { printer, context, last_failed };
        if self.watch {
            return self.watch(command, &mut signals, &mut reports).await;
        }
        let paths = self.search_paths();
        let read = move || {
            let files = find(&paths).map_err(|error| CommandError::File(error.to_string()))?;
            collect_suites(files.iter().map(|file| Suite::from_file(file)))
        };
        let suites = signals.interruptible_blocking(read).await??;
        if suites.is_empty() {
            let paths = self.search_paths();
            let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
            let message = format!("no *.spar.yaml found in {}", paths.join(", "));
            return command.report_nothing_found(&message, &mut signals, &mut reports).await;
        }
        if self.check {
            return print_valid(&suites, printer).await;
        }
        self.run_suites(suites, command, &mut signals, &mut reports).await
    }

    /// The paths without lines.
    fn search_paths(&self) -> Vec<PathBuf> {
        self.paths.iter().map(|path| path.path.clone()).collect()
    }

    fn selection(&self) -> TestSelection {
        TestSelection {
            filter: self.filter.clone(),
            tags: self.tags.clone(),
            protocols: self.protocols.clone(),
            transports: self.transports.clone(),
        }
    }
}

/// Returns all suites, or all problems of all of them.
fn collect_suites(
    read: impl IntoIterator<Item = Result<Suite, LoadError>>,
) -> Result<Vec<Suite>, CommandError> {
    let mut suites = Vec::new();
    let mut wrong: Vec<Problems> = Vec::new();
    for suite in read {
        match suite {
            Ok(suite) => suites.push(suite),
            Err(LoadError::Invalid(problems)) => {
                // Two suites may have the same mock.
                wrong.extend(
                    problems.into_iter().filter(|it| !wrong.contains(it)).collect::<Vec<_>>(),
                );
            }
            Err(error) => return Err(CommandError::File(error.to_string())),
        }
    }
    if wrong.is_empty() { Ok(suites) } else { Err(CommandError::Script(wrong)) }
}

fn is_ci(context: &RunContext) -> bool {
    context.variables.get("CI").is_some_and(|ci| !ci.is_empty() && ci != "false")
}

/// Refuses `only` in CI, where it would keep the other tests from running unnoticed.
fn refuse_only(suites: &[Suite]) -> Result<(), CommandError> {
    let mut wrong = Vec::new();
    for suite in suites {
        let mut problems = Problems::new(&suite.source);
        for test in suite.tests.iter().filter(|test| test.only) {
            problems.add(test.span, "`only` is refused if CI is set");
        }
        wrong.extend(Some(problems).filter(|problems| !problems.is_empty()));
    }
    if wrong.is_empty() { Ok(()) } else { Err(CommandError::Script(wrong)) }
}

/// Parses a seed, or chooses one.
fn parse_seed(text: &str) -> Result<u64, String> {
    match text {
        // Small enough to type again.
        "random" => Ok(u64::from(fastrand::u32(..))),
        text => text.parse().map_err(|_| "expected a number or `random`".to_owned()),
    }
}

fn revision_parser() -> impl TypedValueParser<Value = Revision> {
    PossibleValuesParser::new(Revision::ALL.map(Revision::name))
        .try_map(|name| Revision::from_name(&name).ok_or("unknown revision"))
}

fn transport_parser() -> impl TypedValueParser<Value = Transport> {
    PossibleValuesParser::new(Transport::ALL.map(Transport::name))
        .try_map(|name| Transport::from_name(&name).ok_or("unknown transport"))
}

async fn print_valid(suites: &[Suite], printer: &Printer) -> Result<Exit, CommandError> {
    let tests: usize = suites.iter().map(|suite| suite.tests.len()).sum();
    let counted = |count, what| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (suites, tests) = (counted(suites.len(), "suite"), counted(tests, "test"));
    printer.print(&format!("{suites} with {tests}: no problems\n")).await?;
    Ok(Exit::Success)
}
