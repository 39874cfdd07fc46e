//! `spar report`: merges the reports of runs.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ColorChoice, Subcommand};
use sparring_report::{MergeResult, Outcome, Run, Test, merge, parse_report};
use sparring_transport::read_file;

use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::output::{Paint, Printer, line};
use crate::report::{Ci, ReportRequest, Reports, exit};
use crate::signals::Signals;

const EXAMPLES: &str = "\
Examples:
  spar report merge shard-1.json shard-2.json
  spar report merge shards/*.json --report junit=out.xml --report html=out.html
  spar report merge first.json again.json --report json=both.json

Exit codes:
  0    all tests that ran passed
  1    a test failed
  2    wrong arguments, a file that is not a report or cannot be written, or a missing
       shard
  4    no test ran";

/// Maximum length of a message.
const MAX_MESSAGE_COLUMNS: usize = 1_000;

/// The largest report that is read, in bytes.
const MAX_REPORT_BYTES: u64 = 256 * 1024 * 1024;

/// Work with reports of runs
#[derive(Args)]
pub(crate) struct Report {
    #[command(subcommand)]
    command: ReportCommand,
}

#[derive(Subcommand)]
enum ReportCommand {
    Merge(Merge),
}

/// Merge the JSON reports of shards or reruns
///
/// If several reports contain a test, the last run of the test counts.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
struct Merge {
    /// Reports of spar test --report json
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Write a report in a format of spar test, to a file or to stdout instead of the
    /// summary; may be repeated
    #[arg(long = "report", value_name = "NAME[=PATH]")]
    reports: Vec<ReportRequest>,

    /// When to use colours; NO_COLOR turns them off
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
}

impl Report {
    pub(crate) fn output_flags(&self) -> OutputFlags {
        let ReportCommand::Merge(merge) = &self.command;
        OutputFlags { json: false, quiet: false, color: merge.color }
    }

    /// Runs the subcommand.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        signals: Signals,
        ci: Ci,
    ) -> Result<Exit, CommandError> {
        let ReportCommand::Merge(merge) = &self.command;
        merge.run(printer, signals, ci).await
    }
}

impl Merge {
    async fn run(
        &self,
        printer: &Printer,
        mut signals: Signals,
        ci: Ci,
    ) -> Result<Exit, CommandError> {
        let reports = Reports::new(&self.reports, ci)?;
        let files = self.files.clone();
        let read = move || files.into_iter().map(read_report).collect::<Result<Vec<Run>, _>>();
        let runs = signals.interruptible_blocking(read).await??;
        let message = |error: sparring_report::MergeError| CommandError::File(error.to_string());
        let MergeResult { run, replaced, missing } = merge(runs).map_err(message)?;
        if replaced > 0 {
            let message = match replaced {
                1 => "1 result was replaced by a later run".to_owned(),
                _ => format!("{replaced} results were replaced by later runs"),
            };
            printer.note(&message).await;
        }
        let good = exit(run.summary);
        let message = render_run(&run, printer.paint());
        let mut failures = reports.write(Arc::new(run), printer, &mut signals).await?;
        if !reports.have_stdout() {
            failures.extend(printer.print(&message).await.err().filter(|it| !it.is_broken_pipe()));
        }
        if failures.is_empty() {
            reports.announce(printer).await;
        }
        for failure in &failures {
            printer.print_error(failure).await;
        }
        if !missing.is_empty() {
            // A missing shard may contain failures.
            printer.error(&format!("missing shards: {}", missing.join(", "))).await;
        }
        let bad = !(failures.is_empty() && missing.is_empty());
        Ok(if bad && good != Exit::Failed { Exit::Usage } else { good })
    }
}

/// Reads one report.
fn read_report(path: PathBuf) -> Result<Run, CommandError> {
    let shown = path.display();
    let message = |error| CommandError::File(format!("cannot read {shown}: {error}"));
    let bytes = read_file(&path, MAX_REPORT_BYTES).map_err(message)?;
    // A file that is not UTF-8 fails to parse like any other file that is not a report.
    let text = String::from_utf8_lossy(&bytes);
    parse_report(&text).map_err(|error| {
        let gap = if error.has_position() { "" } else { " " };
        CommandError::File(format!("{shown}:{gap}{error}"))
    })
}

/// Renders the failed tests and the summary.
fn render_run(run: &Run, paint: Paint) -> String {
    let failed = run.tests.iter().filter(|test| test.outcome == Outcome::Failed);
    let failed: String = failed.map(|test| render_failed_test(test, paint)).collect();
    let gap = if failed.is_empty() { "" } else { "\n" };
    format!("{failed}{gap}{}\n", run.summary)
}

fn render_failed_test(test: &Test, paint: Paint) -> String {
    let shown = |text: &str| line::truncate(&line::clean(text), MAX_MESSAGE_COLUMNS);
    let mut text =
        format!("{} {}: {}\n", paint.error("FAIL"), shown(&test.suite), shown(&test.title()));
    for failure in test.failure().into_iter().flat_map(|tried| &tried.failures) {
        let place = &failure.place;
        let place = format!("{}:{}:{}", shown(&place.file), place.line, place.column);
        text.push_str(&format!("  {place}: {}\n", shown(&failure.message)));
    }
    text.push_str(&format!("  {} {}\n", paint.dim("rerun:"), shown(&test.rerun_command)));
    text
}
