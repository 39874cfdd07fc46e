//! The requested reports: checked before a run, started with it, and written at its end,
//! even if it ends early.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;

use sparring_report::{NdjsonLine, Outcome, Run};
use sparring_transport::Secrets;

use super::ci::Ci;
use super::destination::Destination;
use super::format::{ReportFormat, ReportRequest};
use crate::command_error::CommandError;
use crate::output::{Printer, ThreadedWriter, clean_json};
use crate::signals::Signals;

/// The requested reports and their destinations.
pub(crate) struct Reports {
    all: Vec<RequestedReport>,
    ci: Arc<Ci>,
    /// True if a run is in progress, so that NDJSON lines are written as they come.
    live: bool,
}

struct RequestedReport {
    format: ReportFormat,
    to: Destination,
    /// The destination as the user typed it.
    typed: String,
    /// True if the user did not name the file.
    is_default_path: bool,
    /// The writer of NDJSON lines, once it is open.
    stream: Option<ThreadedWriter>,
}

/// The reports of one run.
pub(crate) struct RunReports<'a> {
    reports: &'a Reports,
    printer: &'a Printer,
}

impl Reports {
    /// Checks that all reports can be written.
    ///
    /// # Errors
    /// When a destination is unusable, or two reports have the same.
    pub(crate) fn new(asked: &[ReportRequest], ci: Ci) -> Result<Reports, CommandError> {
        let mut all: Vec<RequestedReport> = Vec::new();
        for ReportRequest { format, path, is_default_path } in asked {
            let to = match path {
                None => Destination::Stdout,
                Some(path) => Destination::for_path(path)?,
            };
            let typed = path.as_ref().map_or("stdout".into(), |path| path.display().to_string());
            if let Some(other) = all.iter().find(|it| it.to.conflicts_with(&to)) {
                let (one, other) = (other.format.name(), format.name());
                let message = format!("two reports go to {typed}: {one} and {other}");
                return Err(CommandError::Usage(message));
            }
            let (format, is_default_path) = (*format, *is_default_path);
            all.push(RequestedReport { format, to, typed, is_default_path, stream: None });
        }
        Ok(Reports { all, ci: Arc::new(ci), live: false })
    }

    /// Returns true if a run has to record traffic for reports.
    pub(crate) fn are_wanted(&self) -> bool {
        !self.all.is_empty() || self.ci.is_github
    }

    /// Returns true if a report goes to stdout.
    pub(crate) fn have_stdout(&self) -> bool {
        self.all.iter().any(|it| it.to == Destination::Stdout)
    }

    /// Prints the files that the user did not name, once they are written.
    pub(crate) async fn announce(&self, printer: &Printer) {
        for wanted in self.all.iter().filter(|it| it.is_default_path) {
            printer.note(&format!("wrote {}", wanted.typed)).await;
        }
    }

    /// Starts the reports of a run.
    ///
    /// # Errors
    /// When an NDJSON report cannot be opened, or a signal comes.
    pub(crate) async fn begin<'a>(
        &'a mut self,
        run: &Run,
        printer: &'a Printer,
        signals: &mut Signals,
    ) -> Result<RunReports<'a>, CommandError> {
        self.live = true;
        for wanted in &mut self.all {
            wanted.open(printer.secrets(), signals).await?;
        }
        let reports = RunReports { reports: self, printer };
        signals.interruptible(reports.stream(|| NdjsonLine::began(run).text())).await?;
        Ok(reports)
    }

    /// Writes all reports of a run, and returns those that could not be written. NDJSON
    /// reports were written during the run and are only flushed.
    ///
    /// # Errors
    /// When a signal comes first.
    pub(crate) async fn write(
        &self,
        run: Arc<Run>,
        printer: &Printer,
        signals: &mut Signals,
    ) -> Result<Vec<CommandError>, CommandError> {
        let mut failures = Vec::new();
        for wanted in &self.all {
            let written = match (&wanted.stream, &wanted.to) {
                (Some(stream), _) => signals.interruptible(stream.flush()).await?,
                (None, Destination::Stdout) => {
                    let is_written = self.live && wanted.format == ReportFormat::Ndjson;
                    // Printing nothing still returns an earlier error of stdout.
                    let text = (!is_written).then(|| wanted.format.render(&run, &self.ci));
                    let text = text.unwrap_or_default();
                    let printed =
                        signals.interruptible(printer.print_untrusted(text.as_bytes())).await?;
                    failures.extend(printed.err());
                    Ok(())
                }
                (None, _) => {
                    let (to, format, run) = (wanted.to.clone(), wanted.format, Arc::clone(&run));
                    let (ci, secrets) = (Arc::clone(&self.ci), printer.secrets().clone());
                    signals
                        .interruptible_blocking(move || {
                            to.write(&secrets.mask(&format.render(&run, &ci)))
                        })
                        .await?
                }
            };
            failures.extend(written.err().map(|error| wanted.unwritten(&error)));
        }
        failures.retain(|failure| !failure.is_broken_pipe());
        if self.live && self.ci.is_github {
            self.write_github(run, printer, signals).await?;
        }
        Ok(failures)
    }

    /// Writes all reports of a run that is over, and those that GitHub gets without a flag.
    /// Returns those that could not be written.
    ///
    /// # Errors
    /// When a signal comes first.
    pub(crate) async fn write_finished(
        &self,
        run: Arc<Run>,
        printer: &Printer,
        signals: &mut Signals,
    ) -> Result<Vec<CommandError>, CommandError> {
        let failures = self.write(Arc::clone(&run), printer, signals).await?;
        if self.ci.is_github {
            self.write_github(run, printer, signals).await?;
        }
        Ok(failures)
    }

    /// Writes annotations and the job summary for GitHub, which reads stderr as well as
    /// stdout.
    async fn write_github(
        &self,
        run: Arc<Run>,
        printer: &Printer,
        signals: &mut Signals,
    ) -> Result<(), CommandError> {
        let to_stdout = |it: &RequestedReport| {
            it.format == ReportFormat::Github && it.to == Destination::Stdout
        };
        if !self.all.iter().any(to_stdout) {
            let text = ReportFormat::Github.render(&run, &self.ci);
            signals.interruptible(printer.draw(&text)).await?;
        }
        let (ci, secrets) = (Arc::clone(&self.ci), printer.secrets().clone());
        let summarize = move || {
            let summary = ReportFormat::Markdown.render(&run, &ci);
            ci.append_summary(&secrets.mask(&summary))
        };
        if let Err(error) = signals.interruptible_blocking(summarize).await? {
            printer.note(&error).await;
        }
        Ok(())
    }
}

impl RequestedReport {
    /// Opens an NDJSON report when the first run starts.
    async fn open(&mut self, secrets: &Secrets, signals: &mut Signals) -> Result<(), CommandError> {
        if self.format != ReportFormat::Ndjson
            || self.to == Destination::Stdout
            || self.stream.is_some()
        {
            return Ok(());
        }
        let to = self.to.clone();
        let opened = signals.interruptible_blocking(move || to.open()).await?;
        self.stream =
            Some(ThreadedWriter::new(opened.map_err(|error| self.unwritten(&error))?, secrets));
        Ok(())
    }

    fn unwritten(&self, error: &io::Error) -> CommandError {
        let (name, typed) = (self.format.name(), &self.typed);
        CommandError::File(format!("cannot write the {name} report to {typed}: {error}"))
    }
}

impl RunReports<'_> {
    /// Reports that a test started.
    pub(crate) async fn test_started(&self, run: &Run, number: usize) {
        self.stream(|| NdjsonLine::started(number, &run.tests[number]).text()).await;
    }

    /// Reports that a test is over.
    pub(crate) async fn test_finished(&self, run: &Run, number: usize) {
        let test = &run.tests[number];
        self.stream(|| NdjsonLine::Finished { number, test }.text()).await;
    }

    /// Writes all reports, and returns those that could not be written.
    ///
    /// # Errors
    /// When a signal comes first.
    pub(crate) async fn end(
        self,
        run: Arc<Run>,
        signals: &mut Signals,
    ) -> Result<Vec<CommandError>, CommandError> {
        let last_lines = async {
            for (number, test) in run.tests.iter().enumerate() {
                if test.outcome == Outcome::NotRun {
                    self.test_finished(&run, number).await;
                }
            }
            self.stream(|| NdjsonLine::ended(&run).text()).await;
        };
        signals.interruptible(last_lines).await?;
        self.reports.write(run, self.printer, signals).await
    }

    /// Writes a line to all NDJSON reports. The tests run on even if that fails.
    async fn stream(&self, line: impl Fn() -> String) {
        for wanted in self.reports.all.iter().filter(|it| it.format == ReportFormat::Ndjson) {
            match &wanted.stream {
                Some(stream) => {
                    poll_fn(|cx| stream.poll_capacity(cx)).await;
                    stream.queue(clean_json(&line()).as_bytes());
                }
                None => drop(self.printer.print_untrusted(clean_json(&line()).as_bytes()).await),
            }
        }
    }
}
