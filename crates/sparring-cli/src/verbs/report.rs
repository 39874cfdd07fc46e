//! `spar report`: works with the reports of runs that are over.

use std::fs;
use std::path::PathBuf;

use clap::{Args, ColorChoice, Subcommand};
use sparring_report::{Merged, Outcome, Run, Test, merge, read};

use crate::args::Look;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Paint, Printer, line};
use crate::report::{Asked, Ci, Reports, exit};
use crate::signals::Signals;

const EXAMPLES: &str = "\
Examples:
  spar report merge shard-1.json shard-2.json
  spar report merge shards/*.json --report junit=out.xml --report html=out.html
  spar report merge first.json again.json --report json=both.json

Exit codes:
  0    every test that ran passed
  1    a test failed
  2    bad usage, a file that is no report or cannot be written, or a shard that
       is missing
  4    no test ran";

/// How much of a message is told.
const LONGEST: usize = 1_000;

/// Work with the reports of runs
#[derive(Args)]
pub(crate) struct Report {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Merge(Merge),
}

/// Join the JSON reports of shards, or of tests that were run again
///
/// A test that is in several is taken from where it ran; where it ran in
/// several, from the last one.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
struct Merge {
    /// Reports of spar test --report json
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Write a report of all of it, named as in spar test; to a file, or to stdout
    /// instead of what is told there; may be repeated
    #[arg(long = "report", value_name = "NAME[=PATH]")]
    reports: Vec<Asked>,

    /// When to use colours; NO_COLOR is respected
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
}

impl Report {
    /// How to tell of it.
    pub(super) fn look(&self) -> Look {
        let What::Merge(merge) = &self.what;
        Look { json: false, quiet: false, color: merge.color }
    }

    /// Does what is asked.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        signals: Signals,
        ci: Ci,
    ) -> Result<Exit, Failure> {
        let What::Merge(merge) = &self.what;
        merge.run(printer, signals, ci).await
    }
}

impl Merge {
    async fn run(&self, printer: &Printer, mut signals: Signals, ci: Ci) -> Result<Exit, Failure> {
        let reports = Reports::new(&self.reports, ci)?;
        let files = self.files.clone();
        let read = move || files.into_iter().map(one).collect::<Result<Vec<Run>, _>>();
        let runs = signals.beside(read).await??;
        let told = |error: sparring_report::NotOne| Failure::File(error.to_string());
        let Merged { run, replaced, missing } = merge(runs).map_err(told)?;
        if replaced > 0 {
            let told = match replaced {
                1 => "1 result gave way to that of a later run".to_owned(),
                _ => format!("{replaced} results gave way to those of later runs"),
            };
            printer.note(&told).await;
        }
        let good = exit(run.summary);
        let told = told_of(&run, printer.paint());
        let mut failures = reports.write(run, printer, &mut signals).await?;
        if !reports.have_stdout() {
            failures.extend(printer.print(&told).await.err().filter(|it| !it.is_silent()));
        }
        for failure in &failures {
            printer.trouble(failure).await;
        }
        if !missing.is_empty() {
            // What is not there may have failed.
            printer.error(&format!("shards are missing: {}", missing.join(", "))).await;
        }
        let bad = !(failures.is_empty() && missing.is_empty());
        Ok(if bad && good != Exit::Failed { Exit::Usage } else { good })
    }
}

/// Reads one.
fn one(path: PathBuf) -> Result<Run, Failure> {
    let shown = path.display();
    let told = |error| Failure::File(format!("cannot read {shown}: {error}"));
    let bytes = fs::read(&path).map_err(told)?;
    // Whatever is no UTF-8 is told like anything else that is no report.
    let text = String::from_utf8_lossy(&bytes);
    read(&text).map_err(|error| {
        let gap = if error.has_place() { "" } else { " " };
        Failure::File(format!("{shown}:{gap}{error}"))
    })
}

/// What failed, and the last line.
fn told_of(run: &Run, paint: Paint) -> String {
    let failed = run.tests.iter().filter(|test| test.outcome == Outcome::Failed);
    let failed: String = failed.map(|test| failure(test, paint)).collect();
    let gap = if failed.is_empty() { "" } else { "\n" };
    format!("{failed}{gap}{}\n", run.summary)
}

fn failure(test: &Test, paint: Paint) -> String {
    let shown = |text: &str| line::cut(&line::clean(text), LONGEST);
    let mut text = format!("{} {}: {}\n", paint.bad("FAIL"), test.suite, shown(&test.title()));
    for failure in test.failure().into_iter().flat_map(|tried| &tried.failures) {
        let place = &failure.place;
        let place = format!("{}:{}:{}", place.file, place.line, place.column);
        text.push_str(&format!("  {place}: {}\n", shown(&failure.message)));
    }
    text.push_str(&format!("  {} {}\n", paint.aside("again:"), shown(&test.again)));
    text
}
