//! One run of `spar test`: runs the selected tests and reports them.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use sparring_suite::{Event, Options, Plan, RunContext, RunRecord, Stop, Suite, run};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::test_list::{list_as_json, render_list};
use super::test_path::SelectedLines;
use super::{LastFailed, Test, is_ci, refuse_only};
use crate::command_error::CommandError;
use crate::exit::{Exit, Signal};
use crate::output::Printer;
use crate::report::{Ci, Detail, Reports, RunReports, Terminal};
use crate::signals::Signals;

/// The update interval of the progress line.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The printer, the context and the list of failed tests of every run.
#[derive(Clone, Copy)]
pub(super) struct TestCommand<'a> {
    pub(super) printer: &'a Printer,
    pub(super) context: &'a RunContext,
    pub(super) last_failed: LastFailed<'a>,
}

impl TestCommand<'_> {
    /// Reports that nothing runs. Writes the reports too, so that those of an earlier run
    /// are not mistaken for this one's.
    pub(super) async fn report_nothing_found(
        self,
        message: &str,
        signals: &mut Signals,
        reports: &mut Reports,
    ) -> Result<Exit, CommandError> {
        self.report_empty_plan(&Plan::default(), None, message, signals, reports).await
    }

    /// Reports a plan without tests.
    async fn report_empty_plan(
        self,
        plan: &Plan,
        shard: Option<String>,
        message: &str,
        signals: &mut Signals,
        reports: &mut Reports,
    ) -> Result<Exit, CommandError> {
        self.printer.error(message).await;
        let build = Ci::build(&self.context.variables);
        let record = RunRecord::new(plan, shard, build, &self.context.secrets);
        let run_reports = reports.begin(record.run(), self.printer, signals).await?;
        let unwritten = run_reports.end(Arc::new(record.finish(false)), signals).await?;
        self.print_unwritten(&unwritten, Ok(Exit::NoTestRan)).await
    }

    /// Prints reports that could not be written, which fails a run that passed.
    async fn print_unwritten(
        self,
        failures: &[CommandError],
        exit: Result<Exit, CommandError>,
    ) -> Result<Exit, CommandError> {
        for failure in failures {
            self.printer.print_error(failure).await;
        }
        match exit {
            Ok(exit) if exit != Exit::Failed && !failures.is_empty() => Ok(Exit::Usage),
            exit => exit,
        }
    }
}

/// Everything that receives the events of a run.
struct Reporting<'r, 'a> {
    record: &'r mut RunRecord<'a>,
    terminal: &'r mut Terminal<'a>,
    reports: Option<&'r RunReports<'a>>,
}

impl Reporting<'_, '_> {
    /// Folds an event into the run, and reports it.
    async fn handle(&mut self, event: Event) {
        match event {
            Event::Started { test } => {
                if let Some(reports) = self.reports {
                    reports.test_started(self.record.run(), test).await;
                }
                self.terminal.test_started(test);
            }
            Event::Finished { test, end } => {
                self.record.finish_test(test, end);
                if let Some(reports) = self.reports {
                    reports.test_finished(self.record.run(), test).await;
                }
                self.terminal.test_finished(self.record.run(), test).await;
            }
            Event::SnapshotsWritten { file, changes } => {
                self.terminal.snapshots_written(&file, changes).await;
            }
            _ => {}
        }
    }
}

impl Test {
    /// Runs the selected tests of these suites.
    pub(super) async fn run_suites(
        &self,
        suites: Vec<Suite>,
        command: TestCommand<'_>,
        signals: &mut Signals,
        reports: &mut Reports,
    ) -> Result<Exit, CommandError> {
        let TestCommand { printer, context, last_failed } = command;
        if is_ci(context) {
            refuse_only(&suites)?;
        }
        let lines = SelectedLines::new(&self.paths, &suites)?;
        let plan = Plan::new(suites, &self.selection());
        let mut plan = plan.map_err(|error| CommandError::Usage(format!("--filter: {error}")))?;
        for variant in plan.impossible() {
            printer.note(&format!("skipping{variant}: no such combination")).await;
        }
        let shard = self.shard.map(|shard_flag| shard_flag.shard(&context.variables)).transpose();
        let shard = shard.map_err(CommandError::Usage)?;
        let shard_name = shard.map(|shard| shard.to_string());
        if let Some(message) = self.narrow_plan(&mut plan, &lines, shard, last_failed)? {
            return command.report_empty_plan(&plan, shard_name, &message, signals, reports).await;
        }
        if let Some(seed) = self.shuffle {
            plan.shuffle(seed);
            printer.note(&format!("shuffled with --shuffle {seed}")).await;
        }
        if self.list {
            let printed = match printer.is_json() {
                true => printer.print_json(&list_as_json(&plan)).await,
                false => printer.print(&render_list(&plan)).await,
            };
            return printed.map(|()| Exit::Success);
        }
        let detail = match (self.silent || reports.have_stdout(), self.verbose) {
            (true, _) => Detail::Silent,
            (false, true) => Detail::Tests,
            (false, false) => Detail::Suites,
        };
        let build = Ci::build(&context.variables);
        let mut record = RunRecord::new(&plan, shard_name, build, &context.secrets);
        let run_reports = match reports.are_wanted() {
            true => Some(reports.begin(record.run(), printer, signals).await?),
            false => None,
        };
        let mut terminal = Terminal::new(&plan, printer, &context.secrets, detail);
        let reporting = Reporting {
            record: &mut record,
            terminal: &mut terminal,
            reports: run_reports.as_ref(),
        };
        let signal = self.run_and_report(&plan, reporting, signals, context).await?;
        let run = Arc::new(record.finish(signal.is_some()));
        if let Err(error) = last_failed.save(&plan, &run) {
            printer.note(&format!("cannot save the failed tests: {error}")).await;
        }
        let unwritten = match run_reports {
            Some(reports) => reports.end(Arc::clone(&run), signals).await?,
            None => Vec::new(),
        };
        let exit = signals.interruptible(terminal.end(&run, self.timings)).await?;
        if unwritten.is_empty() {
            reports.announce(printer).await;
        }
        let exit = command.print_unwritten(&unwritten, exit).await;
        match signal {
            Some(signal) => Err(CommandError::Stopped(signal)),
            None => exit,
        }
    }

    /// Leaves out tests that passed before and tests of other shards. Returns the reason if
    /// no test is left.
    fn narrow_plan(
        &self,
        plan: &mut Plan,
        lines: &SelectedLines,
        shard: Option<sparring_suite::Shard>,
        last_failed: LastFailed<'_>,
    ) -> Result<Option<String>, CommandError> {
        if plan.is_empty() {
            return Ok(Some("no test matches --filter and --tag".to_owned()));
        }
        if !lines.is_empty() {
            plan.retain(|planned| lines.contains(planned));
            if plan.is_empty() {
                return Ok(Some("the tests at these lines are not selected".to_owned()));
            }
        }
        if self.last_failed {
            plan.retain(last_failed.filter()?);
            if plan.is_empty() {
                return Ok(Some("no test failed in its last run".to_owned()));
            }
        }
        if let Some(shard) = shard {
            let all = plan.len();
            plan.take_shard(shard);
            if plan.is_empty() {
                return Ok(Some(format!("shard {shard} is empty: there are only {all} tests")));
            }
        }
        Ok(None)
    }

    /// Runs and reports. The first signal ends the run in order, a second one at once.
    async fn run_and_report(
        &self,
        plan: &Plan,
        mut reporting: Reporting<'_, '_>,
        signals: &mut Signals,
        context: &RunContext,
    ) -> Result<Option<Signal>, CommandError> {
        let stop = Stop::default();
        let (events_sender, mut events) = mpsc::unbounded_channel();
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let options = Options {
            jobs: self.jobs.unwrap_or_else(cores),
            fail_fast: self.fail_fast,
            retry: self.retry,
            update: self.update,
            traffic: reporting.reports.is_some(),
            strict: self.strict,
        };
        let running = run(plan, options, context, &stop, events_sender);
        let report_events = async {
            let mut ticks = interval(PROGRESS_INTERVAL);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    biased;
                    event = events.recv() => {
                        let Some(event) = event else { break };
                        reporting.handle(event).await;
                    }
                    _ = ticks.tick() => reporting.terminal.tick().await,
                }
            }
        };
        let both = async { tokio::join!(running, report_events) };
        tokio::pin!(both);
        let mut first_signal = None;
        loop {
            tokio::select! {
                biased;
                signal = signals.next() => match first_signal {
                    Some(_) => return Err(CommandError::Stopped(signal)),
                    None => {
                        first_signal = Some(signal);
                        stop.request();
                    }
                },
                _ = &mut both => return Ok(first_signal),
            }
        }
    }
}
